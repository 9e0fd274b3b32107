#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# compile.sh [MESON OPTION...] : inside the root, configures and builds the tree in /build, again only what changed, makes
# the clips, and lets GStreamer look at all its plugins once, which takes minutes on an emulated processor.

set -euo pipefail
# Everything that would be left out for want of a library is an error here. No debug information: it would cross the 9p
# share with every program.
options=(-Dtests=enabled -Dgl=enabled -Dtools=enabled -Dsoftva=enabled -Doptimization=2 -Ddebug=false "$@")
if [ ! -e /build/build.ninja ]; then
  # A failed first attempt leaves a folder that meson would only reconfigure in.
  find /build -mindepth 1 -delete
  meson setup /build /project "${options[@]}"
fi
# All that is wrong at once.
ninja -C /build -k 0
source /project/tests/vm/guest/environment.sh
/project/tests/vm/guest/media.sh
gst-inspect-1.0 >/dev/null
