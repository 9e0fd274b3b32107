// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace dxva {

// Names a buffer across dup(), fd passing and fd-number reuse: what fstat() says of it. The
// kernel gives every dma-buf an inode of its own since Linux 5.3.
struct BufferIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;

  friend bool operator==(const BufferIdentity&, const BufferIdentity&) = default;
  friend auto operator<=>(const BufferIdentity&, const BufferIdentity&) = default;
};

}  // namespace dxva
