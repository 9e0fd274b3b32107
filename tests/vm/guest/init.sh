#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What process 1 of the virtual machine becomes once it has found the tree. The first serial port is the kernel's
# console; what is said for the host goes to the second one: lines of the suite's programs between
# "=== begin NAME" and "=== end NAME STATUS", and "=== done" at the end.

exec </dev/null >/dev/ttyS1 2>&1
stty -F /dev/ttyS1 raw -echo
for folder in /tmp /run /var/tmp /root /dev/shm; do
  mkdir -p "$folder"
  mount -t tmpfs tmpfs "$folder"
done
# The collection of streams, where the host has one.
mount -t 9p -o trans=virtio,version=9p2000.L,msize=1048576,cache=loose,ro media /media 2>/dev/null &&
  export DXVA_MEDIA=/media
mkdir -p /dev/pts
mount -t devpts devpts /dev/pts
ip link set lo up 2>/dev/null
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
echo "=== up"
cd /tmp
source /project/tests/vm/guest/suite.sh
echo "=== done"
