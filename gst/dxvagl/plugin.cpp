// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/gst.h>

#include "gst/common/allocation_words.hpp"
#include "gst/common/log_bridge.hpp"
#include "gst/common/trace_board.hpp"
#include "gst/common/variable_warning.hpp"
#include "gst/dxvagl/gstdxvaglsink.hpp"
#include "gst/dxvagl/gstdxvaglupload.hpp"
#include "lib/base/translation.hpp"

static gboolean plugin_init(GstPlugin* plugin) {
  dxva::bind_translations();
  dxva::gst::install_log_bridge();
  dxva::gst::install_trace_board();
  dxva::gst::warn_of_variables();
  dxva::gst::register_allocation_words();
  // Both are put into a pipeline by name; autovideosink goes on choosing among GStreamer's own.
  return gst_element_register(plugin, "dxvaglupload", GST_RANK_NONE, GST_TYPE_DXVA_GL_UPLOAD) &&
         gst_element_register(plugin, "dxvaglsink", GST_RANK_NONE, GST_TYPE_DXVA_GL_SINK);
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, dxvagl,
                  "Decoded video into OpenGL textures without a copy", plugin_init, VERSION,
                  "LGPL", PACKAGE, "gst-dxva")
