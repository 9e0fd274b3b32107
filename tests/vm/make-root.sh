#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# make-root.sh FOLDER RELEASE MIRROR KEYRING boots|stays PACKAGE... : a Debian system in FOLDER; one that boots has an
# initrd that can mount it over 9p. Without packages it is what an installer leaves at the least, apt's lists included.
# Run by root.py as root in a mount and process namespace of its own, so that nothing stays mounted or running however
# this ends. Any change here makes new roots for everybody.

set -euo pipefail
folder=$1 release=$2 mirror=$3 keyring=$4 boots=$5
shift 5

# Only what the recipe itself needs comes by debootstrap; apt resolves the rest better.
needs=()
[ "$boots" != boots ] || needs=(--include=initramfs-tools,kmod)
debootstrap --variant=minbase --keyring="$keyring" "${needs[@]}" "$release" "$folder" "$mirror"

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

if [ "$boots" = boots ]; then
  # The initrd: what the emulated machine has and nothing else, since every module costs time there.
  printf 'MODULES=list\nCOMPRESS=gzip\nRESUME=none\n' >"$folder/etc/initramfs-tools/conf.d/dxva"
  printf 'virtio_pci\n9p\n9pnet_virtio\n' >>"$folder/etc/initramfs-tools/modules"
fi

mount -t proc proc "$folder/proc"
mount -t tmpfs tmpfs "$folder/tmp"
chroot "$folder" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
  ${http_proxy:+http_proxy="$http_proxy"} /bin/sh -ec '
    apt-get -q update
    [ $# -gt 0 ] || exit 0
    apt-get -q -y install "$@"
    apt-get clean
    rm -rf /var/lib/apt/lists/*' sh "$@"

# Where the tree under test and its build folder are mounted.
mkdir -p "$folder/project" "$folder/build"
if [ "$boots" = boots ]; then
  cp -- "$(dirname -- "$0")/guest/first" "$folder/sbin/dxva-first"
  chmod 755 "$folder/sbin/dxva-first"
fi
