# SPDX-License-Identifier: LGPL-2.1-or-later
# What a program needs in order to find the build, and to run without a GPU and a display. Whatever
# the user has set wins.

prepend() { # NAME VALUE
  export "$1=$2${!1:+:${!1}}"
}
default() { # NAME VALUE
  export "$1=${!1-$2}"
}

file_uri() { # PATH
  python3 -c 'import pathlib, sys; print(pathlib.Path(sys.argv[1]).absolute().as_uri())' "$1"
}

enter_environment() {
  prepend GST_PLUGIN_PATH "$build/gst/dxva:$build/gst/dxvagl"
  default GST_REGISTRY "$build/gst-registry.bin"
  prepend PATH "$build/tools/play:$build/tools/doctor"
  # The variable replaces libva's own folder, so that one is named too.
  [ -n "${LIBVA_DRIVERS_PATH:-}" ] ||
    LIBVA_DRIVERS_PATH=$(pkg-config --variable=driverdir libva 2>/dev/null || true)
  prepend LIBVA_DRIVERS_PATH "$build/lib/softva"

  default DXVA_CLIP "$keep/clip.mp4"
  # A path is no URI: it may hold spaces, # and %.
  [ -n "${DXVA_CLIP_URI:-}" ] || DXVA_CLIP_URI=$(file_uri "$DXVA_CLIP")
  export DXVA_CLIP_URI

  # What a test may expect of this machine: gpu, memfd (import in software) or stock (no import).
  DXVA_RIG=gpu
  if ! have_gpu; then
    DXVA_RIG=memfd
    # A Debian 12 without the private Mesa: because it could not be had, or by the user's wish.
    if on_debian_12 && ! have_private_mesa && ! have_new_system_mesa; then DXVA_RIG=stock; fi
  fi
  export DXVA_RIG
  if [ "$DXVA_RIG" != gpu ]; then
    default GST_DXVA_DEVICE software
    # libva has no way to find a driver for an X server without a GPU.
    default LIBVA_DRIVER_NAME dxvasoft
    default GST_DXVA_TEST memfd,software-import
    # The bundled driver then has memory that can come in that way.
    [ "${want_opaque:-}" != yes ] || default DXVASOFT_MEMORY vulkan
  fi
  # GstGL finds no display by itself on a machine without one.
  if [ "${want_window:-}" != yes ] && [ -z "${GST_GL_WINDOW:-}${GST_GL_PLATFORM:-}" ]; then
    if ! have_gpu || [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
      export GST_GL_WINDOW=egl-device GST_GL_PLATFORM=egl
      # GStreamer 1.26 would choose GLES, which cannot read 16-bit textures back.
      default GST_GL_API opengl3
    fi
  fi
  if have_private_mesa; then
    local libraries
    libraries=$(echo "$mesa_root"/usr/lib/*-linux-gnu)
    prepend LD_LIBRARY_PATH "$libraries"
    export LIBGL_DRIVERS_PATH=$libraries/dri GBM_BACKENDS_PATH=$libraries/gbm
    export __EGL_VENDOR_LIBRARY_FILENAMES=$mesa_root/usr/share/glvnd/egl_vendor.d/50_mesa.json
    VK_ICD_FILENAMES=$(echo "$mesa_root"/usr/share/vulkan/icd.d/lvp_icd*.json)
    export VK_ICD_FILENAMES
  fi
}
