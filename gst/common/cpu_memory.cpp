// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/common/cpu_memory.hpp"

#include <atomic>

#include "gst/common/attached.hpp"

namespace dxva::gst {
namespace {

const Attached<std::atomic<bool>> kReadByCpu("dxva-read-by-cpu");

}  // namespace

void ask_for_readers(GstMemory* memory) {
  kReadByCpu.keep(memory, std::make_unique<std::atomic<bool>>(false));
}

void forget_readers(GstMemory* memory) {
  if (auto* read = kReadByCpu.of(memory)) *read = false;
}

bool is_read_by_cpu(GstMemory* memory) {
  const auto* read = kReadByCpu.of(memory);
  return read && *read;
}

void say_read_by_cpu(GstBuffer* buffer) {
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i)
    if (auto* read = kReadByCpu.of(gst_buffer_peek_memory(buffer, i))) *read = true;
}

}  // namespace dxva::gst
