# SPDX-License-Identifier: LGPL-2.1-or-later
# The clips of the suite gpu, made by encoders where it is packed, and beside each what libavcodec makes of it in
# software: the md5 of every picture, or the pictures themselves (.raw) of a codec that leaves its rounding open.
# gpu.sh includes this.

# encode NAME SOURCE ENCODER-OPTION…: SOURCE is lavfi's
encode() {
  local name=$1 source=$2
  shift 2
  [ -s "$clips/$name" ] || ffmpeg -nostdin -v error -y -f lavfi -i "$source" "$@" "$clips/$name" </dev/null
}

picture_source() { # SIZE FRAMES
  # Something moves everywhere, noise included: motion, residuals and intra blocks are all used.
  printf 'testsrc2=size=%s:rate=30,noise=alls=6:allf=t,trim=end_frame=%s' "$1" "$2"
}

pictures_of() { # CLIP FORMAT MUXER
  # As dxva-play --check asks for its reference (tools/play/reference_stream.cpp).
  local keep=scale=in_range=full:out_range=full
  [ "$2" != nv12 ] || keep="$keep,format=yuv420p,$keep"
  ffmpeg -nostdin -v error -flags unaligned -noautorotate -i "$1" -map 0:v:0 -fps_mode passthrough -noautoscale \
    -vf "$keep" -pix_fmt "$2" -f "$3" - </dev/null
}

md5_of() { # CLIP FORMAT
  pictures_of "$1" "$2" framemd5 | grep -v '^#' | awk '{print $NF}'
}

# Of P010 with an odd width libswscale leaves out the last chroma samples, so it is not asked for P010.
md5_of_odd_p010() { # CLIP
  pictures_of "$1" yuv420p10le rawvideo | python3 "$root/tests/gpu/p010_md5.py" \
    $(ffprobe -v error -select_streams v:0 -show_entries stream=width,height -of csv=p=0 "$1" | tr , ' ')
}

format_of() { # CLIP
  case ${1##*/} in
    *10-*) echo p010le ;;
    *-422.*) echo yuv422p ;;
    *-444.*) echo yuv444p ;;
    *) echo nv12 ;;
  esac
}

make_clips() {
  local size frames
  for size in 1080 2160; do
    local pixels=1920x1080
    frames=60
    [ $size = 1080 ] || { pixels=3840x2160 frames=30; }
    local source
    source=$(picture_source $pixels $frames)
    encode "h264-$size.mp4" "$source" -pix_fmt yuv420p -c:v libx264 -preset ultrafast -bf 2 -refs 3 -crf 36 -g 30
    encode "hevc-$size.mp4" "$source" -pix_fmt yuv420p -c:v libx265 -preset ultrafast -x265-params log-level=error:bframes=2 -crf 32 -g 30
    encode "hevc10-$size.mp4" "$source" -pix_fmt yuv420p10le -c:v libx265 -preset ultrafast -x265-params log-level=error -crf 32 -g 30
    encode "vp9-$size.webm" "$source" -pix_fmt yuv420p -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -row-mt 1 -tile-columns 2 -b:v 3M -g 30
    encode "vp9-10-$size.webm" "$source" -pix_fmt yuv420p10le -profile:v 2 -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -row-mt 1 -tile-columns 2 -b:v 3M -g 30
    encode "vp8-$size.webm" "$source" -pix_fmt yuv420p -c:v libvpx -deadline realtime -cpu-used 16 -b:v 3M -g 30
    encode "mpeg2-$size.mkv" "$source" -pix_fmt yuv420p -c:v mpeg2video -q:v 24 -bf 2 -g 15
    encode "jpeg-$size.mkv" "$source" -pix_fmt yuvj420p -c:v mjpeg -q:v 24
    encode "av1-$size.webm" "$source" -pix_fmt yuv420p -c:v libsvtav1 -preset 12 -crf 50 -g 30 -svtav1-params enable-overlays=0
    encode "av1-10-$size.webm" "$source" -pix_fmt yuv420p10le -c:v libsvtav1 -preset 12 -crf 50 -g 30
  done
  local odd
  # testsrc2 itself makes even sizes of odd ones.
  odd=$(picture_source 334x242 40),scale=333:241
  encode h264-odd.mp4 "$(picture_source 334x242 40),crop=334:242" -pix_fmt yuv420p -c:v libx264 -preset veryfast -bf 3 -crf 26
  encode hevc-odd.mp4 "$(picture_source 334x242 40)" -pix_fmt yuv420p -c:v libx265 -preset veryfast -x265-params log-level=error -crf 26
  encode vp9-333x241.webm "$odd" -pix_fmt yuv420p -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 1M
  encode vp9-10-333x241.webm "$odd" -pix_fmt yuv420p10le -profile:v 2 -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 1M
  encode vp8-333x241.webm "$odd" -pix_fmt yuv420p -c:v libvpx -deadline realtime -cpu-used 8 -b:v 1M
  encode h264-mbaff.mp4 "$(picture_source 720x576 60)" -pix_fmt yuv420p -c:v libx264 -preset veryfast -flags +ilme+ildct -crf 26
  encode mpeg2-small.mkv "$(picture_source 352x288 6)" -pix_fmt yuv420p -c:v mpeg2video -q:v 4 -bf 2
  # JPEG: in a container, an odd size, with restart markers as cameras have them, a file of pictures and nothing else,
  # one picture.
  encode jpeg-small.mkv "$(picture_source 352x288 6)" -pix_fmt yuvj420p -c:v mjpeg -q:v 3
  encode jpeg-333x241.mkv "$(picture_source 334x242 6),scale=333:241" -pix_fmt yuvj420p -c:v mjpeg -q:v 3
  encode jpeg-restart.mkv "$(picture_source 352x288 6)" -pix_fmt yuvj420p -c:v mjpeg -q:v 3 -threads 4 -thread_type slice
  encode jpeg-file.mjpeg "$(picture_source 354x290 6)" -pix_fmt yuvj420p -c:v mjpeg -q:v 5 -huffman optimal -f mjpeg
  encode jpeg-still.jpg "$(picture_source 854x480 1)" -pix_fmt yuvj420p -c:v mjpeg -q:v 2 -f mjpeg
  # And what no device is asked for.
  encode jpeg-422.mkv "$(picture_source 352x288 6)" -pix_fmt yuvj422p -c:v mjpeg -q:v 3
  encode jpeg-444.mkv "$(picture_source 352x288 6)" -pix_fmt yuvj444p -c:v mjpeg -q:v 3
  [ -s "$clips/jpeg-grey.jpg" ] || gst-launch-1.0 -q videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8,width=352,height=288 ! \
    jpegenc ! filesink location="$clips/jpeg-grey.jpg"
  # Another size in the middle of the stream.
  encode small.h264 "$(picture_source 640x360 30)" -pix_fmt yuv420p -c:v libx264 -preset veryfast -bf 2 -crf 26 -f h264
  encode large.h264 "$(picture_source 854x480 30)" -pix_fmt yuv420p -c:v libx264 -preset veryfast -bf 2 -crf 26 -f h264
  cat "$clips/small.h264" "$clips/large.h264" "$clips/small.h264" >"$clips/resized.h264"
  # A hundred times in a row they are 5000 pictures.
  encode fifty.h264 "$(picture_source 1920x1080 50)" -pix_fmt yuv420p -c:v libx264 -preset ultrafast -bf 2 -crf 44 -g 50
  local clip
  for clip in "$clips"/*.*; do
    case ${clip##*/} in
      *.md5 | *.raw | small.h264 | large.h264 | fifty.h264) ;;
      mpeg2-1080.* | mpeg2-2160.* | jpeg-1080.* | jpeg-2160.*) ;; # only for the time that they take
      mpeg2-* | jpeg-small.* | jpeg-333x241.* | jpeg-restart.* | jpeg-file.* | jpeg-still.*)
        [ -s "$clip.raw" ] || pictures_of "$clip" nv12 rawvideo >"$clip.raw"
        ;;
      vp9-10-333x241.*) [ -s "$clip.md5" ] || md5_of_odd_p010 "$clip" >"$clip.md5" ;;
      *) [ -s "$clip.md5" ] || md5_of "$clip" "$(format_of "$clip")" >"$clip.md5" ;;
    esac
  done
}
