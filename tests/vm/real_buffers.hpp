// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Real dma-bufs of every kind that the virtual machine can make, straight from the kernel: what
// the tests here believe of a buffer must not come through the code under test.

#include <array>
#include <cstdint>

#include "lib/base/unique_fd.hpp"

namespace dxva::vm {

enum class Kind { DmaHeap, Udmabuf, Vgem };
[[nodiscard]] const char* kind_name(Kind kind);

inline constexpr std::array kKinds{Kind::DmaHeap, Kind::Udmabuf, Kind::Vgem};

// Invalid when the kernel refuses; errno says why. `size_bytes` is a multiple of the page size.
[[nodiscard]] UniqueFd make_buffer(Kind kind, uint64_t size_bytes);

// A vgem buffer and its node: the one kind to which a fence can be tied by hand.
struct VgemBuffer {
  UniqueFd node;
  uint32_t handle = 0;
  UniqueFd buffer;
};
[[nodiscard]] VgemBuffer make_vgem_buffer(uint64_t size_bytes);
// A second descriptor by a second export, not by dup().
[[nodiscard]] UniqueFd export_again(const VgemBuffer& buffer);

// A fence that says "somebody writes into this until signal_fence". Zero on failure.
[[nodiscard]] uint32_t attach_write_fence(const VgemBuffer& buffer);
[[nodiscard]] bool signal_fence(const VgemBuffer& buffer, uint32_t fence);

}  // namespace dxva::vm
