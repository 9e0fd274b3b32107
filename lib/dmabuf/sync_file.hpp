// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "lib/base/result.hpp"
#include "lib/base/unique_fd.hpp"

namespace dxva::dmabuf {

// Fences on dma-bufs. A driver that takes part in implicit fencing (i915, amdgpu, most of V4L2)
// puts one there for each job that writes into the buffer; NVIDIA's and software put none, and
// a buffer without a fence looks like one whose fence has signalled. So a fence that is seen is
// to be waited for, and none seen proves nothing. Reentrant.

// Whether a writer's fence is on the buffer that has not signalled. Never waits, opens nothing.
[[nodiscard]] bool write_pending(int dmabuf);

// The fences of writers, as a sync_file that becomes readable when the last has signalled.
// Since Linux 6.0; before, and for what is no dma-buf: ErrorCode::Unsupported.
[[nodiscard]] Result<UniqueFd> export_write_fence(int dmabuf);

// Waits until `fd`, a sync_file or a dma-buf, has no fence left to wait for. Refusals:
// SyncFailed, also after some seconds: the kernel ends every job before that, by a reset if it
// must.
[[nodiscard]] Status wait_for_fence(int fd);

}  // namespace dxva::dmabuf
