# SPDX-License-Identifier: LGPL-2.1-or-later
# What runs in the virtual machine, rig by rig. A rig is which DRM nodes exist and who finds them.

wanted=$(sed -n 's/.*dxva\.only=\([^ ]*\).*/\1/p' /proc/cmdline)

# run NAME COMMAND... : one program with a time limit of its own, for a crash or a hang must not take the others along.
run() {
  local name=$1
  shift
  [[ -z $wanted || $name =~ $wanted ]] || return 0
  echo "=== begin $name"
  timeout --kill-after=5 300 "$@"
  echo "=== end $name $?"
}

# The registry that was made at full speed; this machine's own, so that two may run at once.
cp /build/gst-registry.bin /tmp/gst-registry.bin
export GST_REGISTRY=/tmp/gst-registry.bin

# --- no DRM node: GL is plain llvmpipe and maps any dma-buf
source /project/tests/vm/guest/environment.sh

# --- vgem
modprobe vgem
run vgem/dmabuf-facts /build/tests/vm/vm_dmabuf_facts
