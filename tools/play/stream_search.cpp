// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/play/stream_search.hpp"

namespace dxva::play {
namespace {

// A busy machine may let a thread wait for seconds; a file on a network may take longer.
constexpr std::chrono::seconds kAfterAnEnd{5};
constexpr std::chrono::seconds kPatience{30};

}  // namespace

void StreamSearch::watch(GstElement* source, GstElement* bin) {
  watch_element(source);
  g_signal_connect(bin, "deep-element-added",
                   G_CALLBACK(+[](GstBin*, GstBin*, GstElement* added, gpointer self) {
                     static_cast<StreamSearch*>(self)->watch_element(added);
                   }),
                   this);
}

void StreamSearch::watch_element(GstElement* element) {
  g_signal_connect(element, "pad-added",
                   G_CALLBACK(+[](GstElement*, GstPad* pad, gpointer self) {
                     static_cast<StreamSearch*>(self)->watch_pad(pad);
                   }),
                   this);
  gst_element_foreach_src_pad(
      element,
      [](GstElement*, GstPad* pad, gpointer self) -> gboolean {
        static_cast<StreamSearch*>(self)->watch_pad(pad);
        return TRUE;
      },
      this);
}

// Pushed or pulled.
void StreamSearch::watch_pad(GstPad* pad) {
  if (GST_PAD_IS_SINK(pad)) return;
  gst_pad_add_probe(
      pad,
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER |
                                   GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
      [](GstPad*, GstPadProbeInfo* info, gpointer self) {
        const GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
        static_cast<StreamSearch*>(self)->moved(event &&
                                                GST_EVENT_TYPE(event) == GST_EVENT_EOS);
        return GST_PAD_PROBE_OK;
      },
      this, nullptr);
}

void StreamSearch::moved(bool to_its_end) {
  const std::lock_guard guard(lock_);
  last_move_ = Clock::now();
  ended_ |= to_its_end;
}

bool StreamSearch::is_over() const {
  const std::lock_guard guard(lock_);
  return Clock::now() - last_move_ > (ended_ ? kAfterAnEnd : kPatience);
}

}  // namespace dxva::play
