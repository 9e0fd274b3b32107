// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "lib/base/result.hpp"
#include "lib/base/unique_fd.hpp"

namespace dxva::gst {

// A dma-buf of plain memory, for a copied frame that must still be a dma-buf because an element
// downstream was promised nothing else. From the kernel's system heap, or where tests allow it
// a sealed memfd. Unsupported: this machine has neither, and never will.
[[nodiscard]] bool have_linear_dmabufs();
[[nodiscard]] Result<UniqueFd> make_linear_dmabuf(uint64_t size_bytes);

}  // namespace dxva::gst
