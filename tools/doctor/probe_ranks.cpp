// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/gst.h>

#include <array>

#include "tools/doctor/probes.hpp"

namespace dxva::doctor {
namespace {

struct Sample {
  const char* codec;
  const char* caps;
};
// Complete enough that a decoder which names profiles or alignments takes them.
constexpr std::array<Sample, 7> kStreams = {{
    {"h264", "video/x-h264, stream-format=avc, alignment=au, profile=high"},
    {"h265", "video/x-h265, stream-format=hvc1, alignment=au, profile=main"},
    {"vp8", "video/x-vp8, codec-alpha=false"},
    {"vp9", "video/x-vp9, alignment=super-frame, profile=(string)0, codec-alpha=false"},
    {"av1", "video/x-av1, stream-format=obu-stream, alignment=tu, profile=main"},
    {"mpeg2", "video/mpeg, mpegversion=2, systemstream=false, parsed=true, profile=main"},
    {"jpeg", "image/jpeg, parsed=true"},
}};

}  // namespace

Json probe_ranks() {
  Json out = Json::object();
  // What decodebin looks at: decoders of rank marginal and above, best first.
  GList* decoders = gst_element_factory_list_get_elements(GST_ELEMENT_FACTORY_TYPE_DECODER,
                                                          GST_RANK_MARGINAL);
  for (const Sample& sample : kStreams) {
    GstCaps* caps = gst_caps_from_string(sample.caps);
    GList* fitting = gst_element_factory_list_filter(decoders, caps, GST_PAD_SINK, FALSE);
    fitting = g_list_sort(fitting, gst_plugin_feature_rank_compare_func);
    Json list = Json::array();
    for (GList* each = fitting; each; each = each->next) {
      Json one = Json::object();
      one.set("element", GST_OBJECT_NAME(each->data));
      one.set("rank", int64_t{gst_plugin_feature_get_rank(GST_PLUGIN_FEATURE(each->data))});
      list.add(one);
    }
    out.set(sample.codec, list);
    gst_plugin_feature_list_free(fitting);
    gst_caps_unref(caps);
  }
  gst_plugin_feature_list_free(decoders);
  return out;
}

}  // namespace dxva::doctor
