// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/common/finished_memory.hpp"

namespace dxva::gst {
namespace {

GQuark finished_quark() {
  static const GQuark quark = g_quark_from_static_string("dxva-finished-memory");
  return quark;
}

}  // namespace

void set_finished(GstMemory* memory, bool finished) {
  gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(memory), finished_quark(),
                            GINT_TO_POINTER(finished), nullptr);
}

bool is_finished(GstMemory* memory) {
  while (memory->parent) memory = memory->parent;
  return gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(memory), finished_quark()) != nullptr;
}

}  // namespace dxva::gst
