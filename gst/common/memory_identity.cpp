// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/common/memory_identity.hpp"

#include "gst/common/attached.hpp"

namespace dxva::gst {
namespace {

const Attached<BufferIdentity> kIdentity("dxva-memory-identity");

}  // namespace

void set_memory_identity(GstMemory* memory, const BufferIdentity& identity) {
  kIdentity.keep(memory, std::make_unique<BufferIdentity>(identity));
}

std::optional<BufferIdentity> memory_identity(GstMemory* memory) {
  const auto* held = kIdentity.of(memory);
  return held ? std::optional(*held) : std::nullopt;
}

}  // namespace dxva::gst
