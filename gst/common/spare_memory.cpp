// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/common/spare_memory.hpp"

namespace dxva::gst {
namespace {

constexpr const char* kWanted = "dxva-spares-wanted";

GQuark spare_quark() {
  static const GQuark quark = g_quark_from_static_string("dxva-spare-memory");
  return quark;
}

}  // namespace

void mark_spare(GstMemory* memory) {
  gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(memory), spare_quark(), GINT_TO_POINTER(1),
                            nullptr);
}

bool is_spare(GstBuffer* buffer) {
  const guint count = gst_buffer_n_memory(buffer);
  for (guint i = 0; i < count; ++i) {
    GstMemory* memory = gst_buffer_peek_memory(buffer, i);
    while (memory->parent) memory = memory->parent;
    if (!gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(memory), spare_quark())) return false;
  }
  return count > 0;
}

GstEvent* make_spares_wanted_event() {
  return gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_OOB,
                              gst_structure_new_empty(kWanted));
}

bool is_spares_wanted(GstEvent* event) {
  return GST_EVENT_TYPE(event) == GST_EVENT_CUSTOM_DOWNSTREAM_OOB &&
         gst_event_has_name(event, kWanted);
}

}  // namespace dxva::gst
