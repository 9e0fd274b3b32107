#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Inside the root, at full speed: clips for the virtual machine and the MD5 of each of their frames as libavcodec
# decodes them. Small ones: a picture takes a processor that is emulated tens of milliseconds.

set -euo pipefail
mkdir -p /build/media
cd /build/media

# clip NAME SIZE FRAMES PIXELS X264-OPTION... ; a size that is no whole macroblocks shows the crop. PIXELS is a
# texture's format and the file's, "nv12:yuv420p".
clip() {
  local name=$1 size=$2 frames=$3 texture=${4%:*} coded=${4#*:}
  shift 4
  [ ! -s "$name.md5" ] || return 0
  ffmpeg -nostdin -v error -y -f lavfi -i "testsrc2=size=$size:rate=25" -frames:v "$frames" -pix_fmt "$coded" \
    -c:v libx264 -preset medium -crf 26 -g 12 -threads 1 "$@" -f h264 "$name.h264"
  ffmpeg -nostdin -v error -y -flags unaligned -i "$name.h264" -pix_fmt "$texture" -f framemd5 - |
    sed -n 's/^0,.* \([0-9a-f]\{32\}\)$/\1/p' >"$name.part"
  [ "$(wc -l <"$name.part")" -eq "$frames" ]
  mv "$name.part" "$name.md5"
}

clip plain 320x240 24 nv12:yuv420p -bf 3
clip cropped 182x150 16 nv12:yuv420p -bf 2
# More pictures than a decoder has surfaces: each is used again and again.
clip long 128x96 64 nv12:yuv420p -bf 2
clip deep 128x96 16 p010le:yuv420p10le -bf 2
