# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the scripts that enter a root, in the private mount namespace that root.py starts them in.

# prepare ROOT TMPFS-FOLDER... : what programs expect of a running system.
prepare() {
  local root=$1 folder node
  shift
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  for folder in dev "$@"; do
    mount -t tmpfs tmpfs "$root/$folder"
  done
  # No DRM node, whatever this machine has: the software rig is the same everywhere.
  for node in null:3 zero:5 full:7 random:8 urandom:9; do
    mknod -m 666 "$root/dev/${node%:*}" c 1 "${node#*:}"
  done
  ln -s /proc/self/fd "$root/dev/fd"
  mkdir -m 1777 "$root/dev/shm"
}
