#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# enter.sh [--media FOLDER] ROOT PROJECT BUILD CCACHE COMMAND... : runs COMMAND in the Debian 13 root, at the speed of
# this machine, with the tree at /project, its build folder at /build and a collection of streams at /media. Nothing of
# the root, the tree and the collection can be written to: other checkouts use them.
# Every checkout is at /project there, so what one compiled the compiler cache has for all.
# Needs the private mount namespace that root.py starts it in.

set -euo pipefail
media=
if [ "$1" = --media ]; then
  media=$2
  shift 2
fi
root=$1 project=$2 build=$3 ccache=$4
shift 4
source "$(dirname -- "$0")/mounts.sh"

mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
prepare "$root" tmp run var/tmp root
mount --bind "$project" "$root/project"
mount -o remount,bind,ro "$root/project"
mount --bind "$build" "$root/build"
mount --bind "$ccache" "$root/mnt"
if [ -n "$media" ]; then
  mount --bind "$media" "$root/media"
  mount -o remount,bind,ro "$root/media"
fi

exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
  PYTHONDONTWRITEBYTECODE=1 ${media:+DXVA_MEDIA=/media} CCACHE_DIR=/mnt CCACHE_MAXSIZE=400M "$@"
