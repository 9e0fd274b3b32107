// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>

namespace dxva::play {

// Owners for the C objects of this program; each frees with the call that its type wants.
struct Free {
  void operator()(GstObject* o) const { gst_object_unref(o); }
  void operator()(GstElement* e) const { gst_object_unref(e); }
  void operator()(GstBus* b) const { gst_object_unref(b); }
  void operator()(GstPad* p) const { gst_object_unref(p); }
  void operator()(GstCaps* c) const { gst_caps_unref(c); }
  void operator()(GstSample* s) const { gst_sample_unref(s); }
  void operator()(GstMessage* m) const { gst_message_unref(m); }
  void operator()(GstStructure* s) const { gst_structure_free(s); }
  void operator()(GError* e) const { g_error_free(e); }
  void operator()(char* text) const { g_free(text); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

}  // namespace dxva::play
