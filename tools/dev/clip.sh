# SPDX-License-Identifier: LGPL-2.1-or-later
# The clip that ./dev play plays when it is given none: ten seconds of H.264 made by x264, with
# B-frames and the number of each frame burnt in, so that the contact sheet shows which frame is which.

make_clip_if_needed() {
  local clip=$keep/clip.mp4
  [ ! -s "$clip" ] || return 0
  say "making $clip with x264"
  ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=size=1280x720:rate=30:duration=10 \
    -vf "drawtext=fontfile=/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf:text='%{frame_num}':fontsize=160:x=(w-tw)/2:y=(h-th)/2:fontcolor=white:box=1:boxcolor=black,format=yuv420p" \
    -c:v libx264 -preset medium -crf 23 -bf 3 -g 60 -f mp4 "$clip.part" </dev/null >&2 ||
    die "the clip could not be made; ./dev play MEDIA plays a file of yours"
  mv "$clip.part" "$clip"
}
