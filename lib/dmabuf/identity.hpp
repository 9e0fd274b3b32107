// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "lib/base/buffer_identity.hpp"
#include "lib/base/result.hpp"
#include "lib/base/test_switch.hpp"

namespace dxva::dmabuf {

enum class FdKind {
  Dmabuf,     // statfs says so (or, on kernels before 5.3, a dma-buf ioctl answers)
  TestMemfd,  // a sealed memfd, accepted only under GST_DXVA_TEST=memfd
};

struct FdFacts {
  FdKind kind = FdKind::Dmabuf;
  BufferIdentity identity;
  uint64_t size_bytes = 0;  // by lseek to the end; the position is put back to 0
};

// What a stranger's fd really is. Never hangs (pipes and eventfds are recognised before
// anything reads them), never changes the fd. Refusals: BadDescriptor, NotADmabuf.
[[nodiscard]] Result<FdFacts> inspect(int fd, const TestSwitch& test = test_switch());

}  // namespace dxva::dmabuf
