// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/common/spare_memory.hpp"

#include "gst/common/attached.hpp"

namespace dxva::gst {
namespace {

constexpr const char* kWanted = "dxva-spares-wanted";
const MemoryMark kSpare("dxva-spare-memory");

}  // namespace

void mark_spare(GstMemory* memory) {
  kSpare.set(memory, true);
}

bool is_spare(GstBuffer* buffer) {
  const guint count = gst_buffer_n_memory(buffer);
  for (guint i = 0; i < count; ++i)
    if (!kSpare.is_set(gst_buffer_peek_memory(buffer, i))) return false;
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
