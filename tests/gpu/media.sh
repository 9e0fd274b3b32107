# SPDX-License-Identifier: LGPL-2.1-or-later
# The part of the suite gpu that plays video: both elements with GStreamer and libavcodec packed
# beside them. gpu.sh includes this.

media_plugins=(coreelements typefindfunctions playback videoparsersbad jpegformat isomp4 matroska opengl app)

# Everything in one archive, because it is three times as large unpacked; and what unpacks it.
pack_media() {
  local stage plugin folder
  stage=$(mktemp -d)
  mkdir -p "$stage/bin" "$stage/lib" "$stage/plugins" "$clips"
  folder=$(pkg-config --variable=pluginsdir gstreamer-1.0)
  for plugin in "${media_plugins[@]}"; do cp -L "$folder/libgst$plugin.so" "$stage/plugins/"; done
  cp "$root/build/gst/dxva/libgstdxva.so" "$root/build/gst/dxvagl/libgstdxvagl.so" "$stage/plugins/"
  cp "$root"/build/tests/gpu/gpu_{decode,reference} "$root/build/tools/play/dxva-play" \
    "$root/build/tools/doctor/dxva-doctor" "$stage/bin/"
  cp -L "$(library libvulkan.so.1)" "$(library libX11.so.6)" "$(library libXext.so.6)" "$stage/lib/"
  copy_libraries "$stage/lib" "$stage"/bin/* "$stage"/plugins/*.so "$stage"/lib/*.so*
  strip "$stage"/bin/* "$stage"/plugins/libgstdxva*.so
  make_clips
  cp -L "$(command -v xz)" "$(library liblzma.so.5)" "$pack/"
  tar -C "$stage" -c . | xz -T0 >"$pack/media.tar.xz"
  mkdir -p "$pack/clips"
  local clip
  for clip in "$clips"/*.{md5,raw}; do cp "$clip" "${clip%.*}" "$pack/clips/"; done
  cp "$clips/fifty.h264" "$clips"/{mpeg2,jpeg}-{1080,2160}.mkv "$pack/clips/"
  rm -rf "$stage"
}

unpack_media() {
  media=$(mktemp -d)
  LD_LIBRARY_PATH=$pack "$pack/xz" -dc "$pack/media.tar.xz" | tar -C "$media" -x
  # Ours first: a library of this machine's would be another version than what was linked.
  export LD_LIBRARY_PATH=$media/lib${folder:+:$folder}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export GST_PLUGIN_SYSTEM_PATH_1_0= GST_PLUGIN_PATH=$media/plugins GST_REGISTRY=$media/registry.bin
  export GST_REGISTRY_FORK=no GST_GL_WINDOW=egl-device GST_GL_PLATFORM=egl GST_GL_API=opengl3
  export PATH=$media/bin:$PATH
  device=${DXVA_GPU_DEVICE:-cuda}
  # Without a decoder in the registry parsebin calls a parsed stream one without a plug-in.
  export GST_DXVA_DEVICE=$device
}

number=0
failed=0
tap() { # STATUS TEXT
  number=$((number + 1))
  if [ "$1" = 0 ]; then printf 'ok %d - %s\n' $number "$2"; else
    failed=$((failed + 1))
    printf 'not ok %d - %s\n' $number "$2"
  fi
}

media_doctor() {
  dxva-doctor --device "$device" 2>&1 | sed 's/^/# /' || true
}

count_wrong() { # EXPECTED GOT
  diff "$1" "$2" | grep -c '^<' || true
}

# The codecs of NVDEC as dxva-doctor lists them, one word each: " h264 h265 vp8 ". Of other devices nothing.
decodable() {
  dxva-doctor --device "$device" 2>/dev/null | sed -n '/^NVDEC/,/^$/s/^ *decodes *//p' |
    sed 's/([^)]*)//g; s/,/ /g; s/^/ /; s/$/ /' || true
}

chosen() { # CLIP
  case $1 in *.md5 | *.raw) return 1 ;; esac
  [[ ${1##*/} =~ ${DXVA_GPU_CLIPS:-.} ]]
}

codec_of() { # CLIP
  local name=${1##*/}
  case $name in
    hevc*) echo h265 ;;
    resized*) echo h264 ;;
    *) echo "${name%%[-.]*}" ;;
  esac
}

# Why a clip is not for the device; nothing: it is.
software_because() { # CLIP CODECS
  case ${1##*/} in
    jpeg-422* | jpeg-444* | jpeg-grey*) echo "because no device is asked for it" ;;
    *) [ -z "$2" ] || [[ $2 == *" $(codec_of "$1") "* ]] || echo "because this GPU does not" ;;
  esac
}

# Every picture of every clip, read back from its texture. What goes to software must come out right too.
media_check() {
  local clip name md5 reason listed way wanted software
  listed=$(decodable)
  for md5 in "$pack"/clips/*.md5; do
    clip=${md5%.md5} name=${md5##*/} reason=
    chosen "$clip" || continue
    name=${name%.md5}
    way="none copied" wanted="^steps .*, 0 copied$"
    software=$(software_because "$clip" "$listed")
    if [ -n "$software" ]; then
      way="decoded in software, $software"
      wanted="^steps *software $(wc -l <"$md5"), "
    fi
    dxva-play --device "$device" --framemd5 "$media/$name.md5" "$clip" >"$media/said" 2>"$media/errors" ||
      reason="dxva-play: $(tail -n 2 "$media/errors" | tr '\n' ' ')"
    grep -q "$wanted" "$media/said" || reason="$reason $(grep -E '^(steps|reasons|device)' "$media/said" | tr -s ' \n' ' ' || true)"
    cmp -s "$md5" "$media/$name.md5" ||
      reason="$reason pictures: $(count_wrong "$md5" "$media/$name.md5") of $(wc -l <"$md5") differ"
    tap "$([ -z "$reason" ] && echo 0 || echo 1)" "$name: $(wc -l <"$md5") pictures equal libavcodec's, $way"
    [ -z "$reason" ] || sed 's/^/# /' <<<"$reason"
  done
}

# MPEG-2 leaves the rounding of the inverse transform open (ISO/IEC 13818-2 annex A), and errors add up until the next
# intra picture: the clip has six pictures, and a sample may be off by 3. JPEG leaves it open as well (ITU-T T.81 A.3.3),
# and each picture stands for itself: 1. Of NVDEC's pictures another client of it must have the same bytes, but for odd
# heights, which that client asks NVDEC for (docs/design/nvidia.md, "JPEG").
media_rounded() {
  local raw clip name reason listed most way
  listed=$(decodable)
  for raw in "$pack"/clips/*.raw; do
    clip=${raw%.raw} reason=
    name=${clip##*/}
    chosen "$clip" || continue
    if [ -n "$(software_because "$clip" "$listed")" ]; then
      tap 0 "$name # SKIP this GPU does not decode it"
      continue
    fi
    gpu_decode --device "$device" --raw "$media/raw" "$clip" >"$media/said" 2>&1 ||
      reason="gpu_decode: $(tail -n 2 "$media/said" | tr '\n' ' ')"
    grep -q "memory-object [0-9]*; -$" "$media/said" || reason="$reason $(tail -n 1 "$media/said")"
    [ "$(wc -c <"$media/raw")" = "$(wc -c <"$raw")" ] || reason="$reason other sizes"
    { cmp -l "$raw" "$media/raw" || true; } | awk -v samples="$(wc -c <"$raw")" '
      function value(octal) { octal = "00" octal; return substr(octal, length(octal), 1) + 8 * substr(octal, length(octal) - 1, 1) + 64 * substr(octal, length(octal) - 2, 1) }
      { d = value($2) - value($3); if (d < 0) d = -d; if (d > most) most = d; squares += d * d }
      END {
        psnr = squares ? sprintf("PSNR %.1f dB", 10 * log(255 * 255 * samples / squares) / log(10)) : "equal"
        printf "%d %d of %d samples differ, by %d at most, %s\n", most, NR, samples, most, psnr
      }' >"$media/difference"
    most=3
    [[ $name != jpeg-* ]] || most=1
    [ "$(cut -d ' ' -f 1 "$media/difference")" -le $most ] || reason="$reason a sample is off by more than $most"
    way="libavcodec's within rounding"
    if [ "$device" = cuda ] && [[ $name != *x241.* ]]; then
      way="another client's of NVDEC to the byte, and $way"
      if gpu_reference "$clip" "$media/other" 2>"$media/said"; then
        cmp -s "$media/other" "$media/raw" || reason="$reason another client of NVDEC has other bytes"
      else
        reason="$reason $(tail -n 1 "$media/said")"
      fi
    fi
    tap "$([ -z "$reason" ] && echo 0 || echo 1)" "$name: pictures are $way, none copied"
    cut -d ' ' -f 2- "$media/difference" | sed 's/^/# /'
    [ -z "$reason" ] || sed 's/^/# /' <<<"$reason"
  done
}

# Two uploaders behind a tee: the pictures of both are those of one alone, which `check` looks at, and none is copied.
media_tee() {
  local md5 clip name pictures reason listed
  listed=$(decodable)
  for md5 in "$pack"/clips/*-1080.*.md5; do
    clip=${md5%.md5} reason=
    name=${clip##*/}
    chosen "$clip" || continue
    [ -z "$(software_because "$clip" "$listed")" ] || continue
    pictures=$(wc -l <"$md5")
    gpu_decode --device "$device" --raw "$media/alone" "$clip" >"$media/said" 2>&1 &&
      gpu_decode --device "$device" --branches 2 --raw "$media/tee" "$clip" >"$media/said" 2>&1 ||
      reason="gpu_decode: $(tail -n 2 "$media/said" | tr '\n' ' ')"
    grep -q "| exported $pictures; memory-object $((2 * pictures)); -$" "$media/said" || reason="$reason $(tail -n 1 "$media/said")"
    cmp "$media/alone" "$media/tee" && cmp "$media/alone" "$media/tee.1" || reason="$reason other pictures"
    tap "$([ -z "$reason" ] && echo 0 || echo 1)" "$name: $pictures pictures in two branches of a tee, none copied"
    [ -z "$reason" ] || sed 's/^/# /' <<<"$reason"
  done
}

# --- times

# The median of five, by the rate.
row() { # ARGUMENT…
  local run
  for run in 1 2 3 4 5; do gpu_decode "$@" 2>&1 | tail -n 1; done | sort -t '|' -k 5 -n | sed -n '3{s/^/# | /;s/$/ |/;p}'
}

media_times() {
  local clip name streams
  printf '# | clip | streams | device, zero-copy, import | pictures | per second | ms of CPU each | ways |\n'
  printf '# |---|---|---|---|---|---|---|\n'
  for clip in "$pack"/clips/*-{1080,2160}.*; do
    chosen "$clip" || continue
    row --device "$device" "$clip"
    row --device "$device" --import copy "$clip"
    row --device "$device" --zero-copy off "$clip"
    row --device none "$clip"
  done
  for name in h264-1080.mp4 hevc-1080.mp4 h264-2160.mp4; do
    chosen "$name" || continue
    for streams in 1 4 16; do row --device "$device" --streams $streams "$pack/clips/$name"; done
  done
}

# The median of what each stage takes of a picture, in microseconds, where a stage takes any time: of the pictures after
# the first eight. docs/plugins/timeline.md says what the stages are.
stages_of() { # DXVA-PLAY'S OPTION…
  dxva-play --sheet none --timeline "$media/timeline.svg" "$@" >"$media/said" 2>&1 || tail -n 1 "$media/said" >&2
  local stage
  for stage in decode wait export copy import upload fence; do
    grep -o "<g class=\"frame\"[^>]*" "$media/timeline.svg" | tail -n +9 |
      sed -n "s/.* data-$stage=\"\([0-9.]*\)\".*/\1/p" | sort -n |
      awk -v stage=$stage '{ all[NR] = $1 } END { if (NR) printf "%s %.0f, ", stage, all[int((NR + 1) / 2)] * 1000 }'
  done | sed 's/, $//'
}

media_stages() {
  local clip import
  printf '# | clip | import | microseconds of a picture, by stages |\n# |---|---|---|\n'
  for clip in "$pack"/clips/*-{1080,2160}.*; do
    chosen "$clip" || continue
    for import in auto copy; do
      printf '# | %s | %s | %s |\n' "${clip##*/}" $import "$(stages_of --device "$device" --import $import "$clip")"
    done
  done
}

media_flat() {
  local status=0 again
  for again in {1..100}; do cat "$pack/clips/fifty.h264"; done >"$media/long.h264"
  gpu_decode --device "$device" --flat "$media/long.h264" >"$media/said" 2>&1 || status=$?
  tap $status "5000 pictures: descriptors and device memory stay the same"
  sed 's/^/# /' "$media/said"
}

run_media() { # PART…
  [ $# -gt 0 ] || set -- doctor check rounded tee flat times stages
  unpack_media
  local part
  for part in "$@"; do "media_$part"; done
  [ $number -eq 0 ] || printf '1..%d\n' $number
  rm -rf "$media"
  [ $failed -eq 0 ]
}
