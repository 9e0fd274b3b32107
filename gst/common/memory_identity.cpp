// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/common/memory_identity.hpp"

namespace dxva::gst {
namespace {

GQuark identity_quark() {
  static const GQuark quark = g_quark_from_static_string("dxva-memory-identity");
  return quark;
}

}  // namespace

void set_memory_identity(GstMemory* memory, const BufferIdentity& identity) {
  gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(memory), identity_quark(),
                            new BufferIdentity(identity),
                            [](gpointer held) { delete static_cast<BufferIdentity*>(held); });
}

std::optional<BufferIdentity> memory_identity(GstMemory* memory) {
  while (memory->parent) memory = memory->parent;
  const auto* held = static_cast<const BufferIdentity*>(
      gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(memory), identity_quark()));
  return held ? std::optional(*held) : std::nullopt;
}

}  // namespace dxva::gst
