// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "lib/base/result.hpp"
#include "lib/base/unique_fd.hpp"
#include "lib/cuda/device.hpp"

namespace dxva::cuda {

// A block of device memory that is mapped into the device's addresses and, where the device can
// do it, exported as a POSIX descriptor. Move-free; the device outlives it. What somebody
// imported stays valid beyond that. Reentrant.
class SlotMemory {
 public:
  // At least `size_bytes`. Of a device that exports nothing, memory for ourselves. NoMemory:
  // the device has none left.
  [[nodiscard]] static Result<std::unique_ptr<SlotMemory>> allocate(
      std::shared_ptr<Device> device, uint64_t size_bytes);
  ~SlotMemory();
  SlotMemory(const SlotMemory&) = delete;
  SlotMemory& operator=(const SlotMemory&) = delete;

  [[nodiscard]] uint64_t address() const { return address_; }
  // What was allocated, and what an import must name.
  [[nodiscard]] uint64_t size_bytes() const { return size_bytes_; }
  // A number that no other memory of this process ever has.
  [[nodiscard]] uint64_t number() const { return number_; }
  // Writes number() near the end, on `stream`, for whoever imports this
  // (lib/dmabuf/opaque.hpp). The memory lives until `stream` is done with it.
  [[nodiscard]] Status sign(CUstream_st* stream) const;
  // The descriptor, a new one for each call. Refusals: ExportUnsupported, ExportFailed.
  [[nodiscard]] Result<UniqueFd> share_fd() const;

 private:
  explicit SlotMemory(std::shared_ptr<Device> device);
  [[nodiscard]] Status allocate_exportable(uint64_t size_bytes);
  [[nodiscard]] Status allocate_plain(uint64_t size_bytes);

  const std::shared_ptr<Device> device_;
  const uint64_t number_;
  uint64_t address_ = 0;
  uint64_t size_bytes_ = 0;
  std::optional<uint64_t> handle_;  // nothing: plain memory
  bool mapped_ = false;
};

}  // namespace dxva::cuda
