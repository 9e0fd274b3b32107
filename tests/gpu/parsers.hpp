// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/common/gst_ptr.hpp"

namespace dxva::gpu {

// GStreamer's JPEG parser has no rank before 1.24, so parsebin leaves it out.
inline void use_all_parsers() {
  if (auto parser =
          gst::GstPtr<GstElementFactory>::adopt(gst_element_factory_find("jpegparse")))
    gst_plugin_feature_set_rank(GST_PLUGIN_FEATURE(parser.get()), GST_RANK_PRIMARY);
}

}  // namespace dxva::gpu
