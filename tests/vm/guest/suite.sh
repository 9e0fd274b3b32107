# SPDX-License-Identifier: LGPL-2.1-or-later
# What runs in the virtual machine, rig by rig. A rig is which DRM nodes exist and who finds them.

wanted=$(sed -n 's/.*dxva\.only=\([^ ]*\).*/\1/p' /proc/cmdline)
script=$(sed -n 's/.*dxva\.script=\([^ ]*\).*/\1/p' /proc/cmdline)

# run NAME COMMAND... : one program with a time limit of its own, for a crash or a hang must not take the others along.
run() {
  local name=$1
  shift
  [[ -z $wanted || $name =~ $wanted ]] || return 0
  echo "=== begin $name"
  timeout --kill-after=5 2700 "$@"
  echo "=== end $name $?"
}
suite=/project/tests/vm/suite

if [ -n "$script" ]; then
  run script bash "/build/$script"
  return
fi

# The registry that was made at full speed; a copy, because this machine's nodes will change it.
cp /build/gst-registry.bin /tmp/gst-registry.bin
export GST_REGISTRY=/tmp/gst-registry.bin
source /project/tests/vm/guest/environment.sh
# What ./dev sets where there is no GPU; here each case says what it wants.
unset GST_DXVA_TEST
export GST_DXVA_DEVICE=software GST_GL_WINDOW=egl-device GST_GL_PLATFORM=egl GST_GL_API=opengl3

run no-node python3 $suite/no_node.py

modprobe vgem
run dmabuf-facts /build/tests/vm/vm_dmabuf_facts
run vgem python3 $suite/visible.py vgem

# A folder that may be walked through but not listed, for somebody who is not root.
mkdir /tmp/nodes
cp -a /dev/dri/. /tmp/nodes/
chmod 666 /dev/dri/* /tmp/nodes/* /dev/dma_heap/system /dev/udmabuf
mount -t tmpfs -o mode=0711 tmpfs /dev/dri
cp -a /tmp/nodes/* /dev/dri/
mkdir -m 777 /tmp/nobody
cp /tmp/gst-registry.bin /tmp/nobody/
chmod 666 /tmp/nobody/*
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups
  env HOME=/tmp/nobody GST_REGISTRY=/tmp/nobody/gst-registry.bin)
run vgem-unlisted "${nobody[@]}" python3 $suite/unlisted.py
run strangers "${nobody[@]}" python3 $suite/strangers.py
run fences "${nobody[@]}" python3 $suite/fences.py
umount /dev/dri

modprobe virtio_gpu
run vgem+virtio-gpu python3 $suite/visible.py vgem+virtio-gpu
run devices env LIBVA_DRIVER_NAME=dxvasoft DXVASOFT_MEMORY=dma-heap GST_DXVA_DEVICE=auto \
  /build/tests/vm/vm_devices /build/media/plain.h264
run renderer python3 $suite/renderer.py
run doctor python3 $suite/doctor.py
