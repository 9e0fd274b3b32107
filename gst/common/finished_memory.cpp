// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/common/finished_memory.hpp"

#include "gst/common/attached.hpp"

namespace dxva::gst {
namespace {

const MemoryMark kFinished("dxva-finished-memory");

}  // namespace

void set_finished(GstMemory* memory, bool finished) {
  kFinished.set(memory, finished);
}

bool is_finished(GstMemory* memory) {
  return kFinished.is_set(memory);
}

}  // namespace dxva::gst
