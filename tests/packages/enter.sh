#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# enter.sh ROOT PACKAGES OUT ARCHIVES COMMAND... : runs COMMAND in a root that is the test's own, as somebody who has just
# installed Debian: the packages at /packages, files to and from the test at /out, what apt has downloaded before in
# ARCHIVES. Nothing of the tree is there. Needs the private mount namespace that root.py starts it in.

set -euo pipefail
root=$1 packages=$2 out=$3 archives=$4
shift 4
source "$(dirname -- "$0")/../vm/mounts.sh"

mount --bind "$root" "$root"
prepare "$root" tmp run
mkdir -p "$root/packages" "$root/out"
mount --bind "$packages" "$root/packages"
mount -o remount,bind,ro "$root/packages"
mount --bind "$out" "$root/out"
mount --bind "$archives" "$root/var/cache/apt/archives"
# The network may be another one than when the root was made.
cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true

# Not exec: an X server tells no parent that is process 1 that it is up, and xvfb-run would wait for ever.
chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
  DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} "$@"
