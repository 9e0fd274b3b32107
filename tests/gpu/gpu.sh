#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The suite gpu, for a machine that has a GPU, its driver and nothing else of what we need.
#
#   tests/gpu/gpu.sh pack           where this project builds: makes build/gpu-pack
#   tests/gpu/gpu.sh run [--any]    where the GPU is: runs what lies in build/gpu-pack
#   tests/gpu/gpu.sh media [check|rounded|tee|times|stages|flat|doctor…]   there too: NVDEC through both elements
#
# The checkout with build/gpu-pack is carried over in between (see what pack says of its size).
# Nothing is installed and no network is used by `run` and `media`. With --any a software renderer
# is good enough, which is for trying the suite here; without, it is a failure. `media` decodes with
# device=cuda; DXVA_GPU_DEVICE names another, for the same purpose. DXVA_GPU_CLIPS, a regular expression, names the
# clips that are taken; all others are left out.

set -euo pipefail
root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd -P)
pack=$root/build/gpu-pack
clips=$root/build/dev/gpu-clips

source "$root/tests/gpu/clips.sh"
source "$root/tests/gpu/media.sh"

say() { printf 'gpu: %s\n' "$*" >&2; }
die() {
  say "$*"
  exit 1
}

# What a driver package, or glibc, brings by itself must not come from us: two of them in one
# process are worse than none.
of_the_machine() { # SONAME
  case $1 in
    linux-vdso.so.* | ld-linux*.so.* | libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.*) ;;
    *) return 1 ;;
  esac
}

copy_libraries() { # FOLDER FILE…
  local name path folder=$1
  shift
  ldd "$@" 2>/dev/null | sed -n 's/^\s*\(\S*\) => \(\/\S*\) .*/\1 \2/p' | sort -u |
    while read -r name path; do
      of_the_machine "$name" || cp -Lu "$path" "$folder/$name"
    done
}

library() { # SONAME
  local path
  path=$(ldconfig -p | sed -n "s/^\s*$1 (.*x86-64.*) => //p" | head -1)
  [ -n "$path" ] || die "$1 is not installed here"
  printf '%s\n' "$path"
}

make_pack() {
  [ -e "$root/build/build.ninja" ] || die "there is no build: ./dev shell -c true makes one"
  ninja -C "$root/build" tests/gpu/gpu_suite tests/gpu/gpu_decode tests/gpu/gpu_reference product >&2
  rm -rf "$pack"
  mkdir -p "$pack/lib"
  cp "$root/build/tests/gpu/gpu_suite" "$pack/"
  # Loaders, which find the driver: glvnd's EGL, and Vulkan's, which nobody links.
  cp -L "$(library libvulkan.so.1)" "$pack/lib/libvulkan.so.1"
  # NVIDIA's Vulkan driver is its GLX driver, and that links Xlib.
  cp -L "$(library libX11.so.6)" "$(library libXext.so.6)" "$pack/lib/"
  copy_libraries "$pack/lib" "$pack/gpu_suite" "$pack"/lib/*.so*
  strip "$pack/gpu_suite"
  pack_media
  say "$(du -sm "$pack" | cut -f1) MiB in ${pack#"$root/"}; on the other machine: tests/gpu/gpu.sh run, and media"
}

# The folder of a driver's library; container runtimes put them where no loader looks.
driver_folder() { # SONAME
  local path folder
  path=$(ldconfig -p 2>/dev/null | sed -n "s/^\s*$1 (.*) => //p" | head -1)
  for folder in "${path%/*}" /usr/lib/x86_64-linux-gnu /usr/lib64 /usr/local/nvidia/lib64 /usr/lib/nvidia; do
    [ -z "$folder" ] || [ ! -e "$folder/$1" ] || { printf '%s\n' "$folder"; return 0; }
  done
  return 1
}

first_file() {
  local file
  for file in "$@"; do
    [ ! -r "$file" ] || { printf '%s\n' "$file"; return 0; }
  done
  return 1
}

# glvnd and the Vulkan loader find drivers by small files, which a bare machine may lack.
describe_driver() { # FILE LIBRARY
  printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' "$2" >"$1"
  printf '%s\n' "$1"
}

use_nvidia() { # FOLDER
  work=$(mktemp -d)
  export LD_LIBRARY_PATH=$1:$pack/lib
  __EGL_VENDOR_LIBRARY_FILENAMES=$(first_file {/usr/share,/etc}/glvnd/egl_vendor.d/*nvidia*.json ||
    describe_driver "$work/egl.json" libEGL_nvidia.so.0)
  VK_ICD_FILENAMES=$(first_file {/etc,/usr/share}/vulkan/icd.d/*nvidia*.json ||
    describe_driver "$work/vulkan.json" libGLX_nvidia.so.0)
  export __EGL_VENDOR_LIBRARY_FILENAMES VK_ICD_FILENAMES
  say "NVIDIA's driver in $1, $__EGL_VENDOR_LIBRARY_FILENAMES, $VK_ICD_FILENAMES"
}

find_driver() {
  [ -x "$pack/gpu_suite" ] || die "there is no ${pack#"$root/"}: gpu.sh pack makes it, where this project builds"
  if folder=$(driver_folder libEGL_nvidia.so.0); then
    use_nvidia "$folder"
  else
    # Another vendor's, or Mesa in software: installed as their packages do it.
    export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$pack/lib
    say "no driver of NVIDIA's; taking what EGL finds"
  fi
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | sed 's/^/# /' || true
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
  pack) make_pack ;;
  run)
    find_driver
    exec "$pack/gpu_suite" "$@"
    ;;
  media)
    find_driver
    run_media "$@"
    ;;
  *) die "pack, run or media? See the first lines of this file" ;;
esac
