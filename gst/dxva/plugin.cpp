// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/gst.h>

#include "gst/common/allocation_words.hpp"
#include "gst/common/log_bridge.hpp"
#include "gst/common/trace_board.hpp"
#include "gst/common/variable_warning.hpp"
#include "gst/dxva/gstdxvadec.hpp"
#include "gst/tracer/gstdxvatracer.hpp"
#include "lib/base/translation.hpp"

static gboolean plugin_init(GstPlugin* plugin) {
  dxva::bind_translations();
  dxva::gst::install_log_bridge();
  dxva::gst::install_trace_board();
  dxva::gst::warn_of_variables();
  dxva::gst::register_allocation_words();
  gst_plugin_add_dependency_simple(plugin, "GST_DXVA_DEVICE", "/dev/dri", "renderD",
                                   GST_PLUGIN_DEPENDENCY_FLAG_FILE_NAME_IS_PREFIX);
  gst_plugin_add_dependency_simple(plugin, nullptr, "/dev", "nvidiactl",
                                   GST_PLUGIN_DEPENDENCY_FLAG_NONE);
  return gst_dxva_dec_register(plugin) && gst_dxva_tracer_register(plugin);
}

#define PACKAGE "gst-dxva"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, dxva, "VA-API decoding for GStreamer",
                  plugin_init, DXVA_VERSION, "LGPL", "gst-dxva", "gst-dxva")
