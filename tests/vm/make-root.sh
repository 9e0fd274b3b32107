#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# make-root.sh FOLDER MIRROR KEYRING PACKAGE... : a Debian 13 system in FOLDER, with a kernel whose initrd can
# mount it over 9p. Run by root.py as root in a mount and process namespace of its own, so that nothing
# stays mounted or running however this ends. Any change here makes a new root for everybody.

set -euo pipefail
folder=$1 mirror=$2 keyring=$3
shift 3

# Only what the recipe itself needs comes by debootstrap; apt resolves the rest better.
debootstrap --variant=minbase --keyring="$keyring" --include=initramfs-tools,kmod trixie "$folder" "$mirror"

# How this machine reaches its mirror (proxy, dates it accepts) holds in there too.
apt-config dump | grep -E '^Acquire::(http|https|ftp|Check-|Retries|Max-)' \
  >"$folder/etc/apt/apt.conf.d/00host" || true
cat >"$folder/etc/apt/apt.conf.d/10lean" <<'CONF'
APT::Install-Recommends "false";
Acquire::Languages "none";
Dpkg::Use-Pty "false";
CONF
echo force-unsafe-io >"$folder/etc/dpkg/dpkg.cfg.d/unsafe-io"
printf '#!/bin/sh\nexit 101\n' >"$folder/usr/sbin/policy-rc.d"
chmod +x "$folder/usr/sbin/policy-rc.d"

# The initrd: what the emulated machine has and nothing else, since every module costs time there.
printf 'MODULES=list\nCOMPRESS=gzip\nRESUME=none\n' >"$folder/etc/initramfs-tools/conf.d/dxva"
printf 'virtio_pci\n9p\n9pnet_virtio\n' >>"$folder/etc/initramfs-tools/modules"

mount -t proc proc "$folder/proc"
mount -t tmpfs tmpfs "$folder/tmp"
chroot "$folder" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
  ${http_proxy:+http_proxy="$http_proxy"} /bin/sh -ec '
    apt-get -q update
    apt-get -q -y install "$@"
    apt-get clean
    rm -rf /var/lib/apt/lists/*' sh "$@"

# Where the tree under test and its build folder are mounted.
mkdir -p "$folder/project" "$folder/build"
cp -- "$(dirname -- "$0")/guest/first" "$folder/sbin/dxva-first"
chmod 755 "$folder/sbin/dxva-first"
