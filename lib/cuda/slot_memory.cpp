// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/cuda/slot_memory.hpp"

#include <atomic>
#include <utility>

#include "lib/base/log.hpp"
#include "lib/cuda/api.hpp"
#include "lib/dmabuf/opaque.hpp"

namespace dxva::cuda {
namespace {

// Apart from the numbers of other makers of opaque memory in this process, which count from 0.
std::atomic<uint64_t> next_number{dmabuf::kFirstSignedNumber};

constexpr int kMinimumGranularity = 0;

MemAllocationProp properties_of(const Device& device) {
  MemAllocationProp out;
  out.location.id = device.handle();
  return out;
}

}  // namespace

SlotMemory::SlotMemory(std::shared_ptr<Device> device)
    : device_(std::move(device)), number_(next_number++) {}

Result<std::unique_ptr<SlotMemory>> SlotMemory::allocate(std::shared_ptr<Device> device,
                                                         uint64_t size_bytes) {
  std::unique_ptr<SlotMemory> out(new SlotMemory(std::move(device)));
  const Current current(out->device_->context());
  if (!current) return current.status().error();
  auto allocated = out->device_->exports_memory() ? out->allocate_exportable(size_bytes)
                                                  : out->allocate_plain(size_bytes);
  if (!allocated) return allocated.error();
  return out;
}

Status SlotMemory::allocate_plain(uint64_t size_bytes) {
  auto allocated = check(api()->mem_alloc(&address_, size_bytes), "cuMemAlloc");
  if (allocated) size_bytes_ = size_bytes;
  return allocated;
}

Status SlotMemory::allocate_exportable(uint64_t size_bytes) {
  const MemAllocationProp properties = properties_of(*device_);
  size_t granularity = 0;
  if (auto told = check(
          api()->mem_get_allocation_granularity(&granularity, &properties, kMinimumGranularity),
          "cuMemGetAllocationGranularity");
      !told)
    return told;
  if (granularity == 0)
    return Error{.call = "cuMemGetAllocationGranularity", .text = "a granularity of 0"};
  const uint64_t size = (size_bytes + granularity - 1) / granularity * granularity;
  uint64_t handle = 0;
  if (auto made = check(api()->mem_create(&handle, size, &properties, 0), "cuMemCreate"); !made)
    return made;
  handle_ = handle;
  size_bytes_ = size;
  if (auto reserved =
          check(api()->mem_address_reserve(&address_, size, 0, 0, 0), "cuMemAddressReserve");
      !reserved)
    return reserved;
  if (auto mapped = check(api()->mem_map(address_, size, 0, handle, 0), "cuMemMap"); !mapped)
    return mapped;
  mapped_ = true;
  MemAccess access;
  access.location.id = device_->handle();
  return check(api()->mem_set_access(address_, size, &access, 1), "cuMemSetAccess");
}

SlotMemory::~SlotMemory() {
  const Current current(device_->context());
  // The memory of a lost context went with it.
  if (!current) return;
  if (!handle_) {
    if (address_) api()->mem_free(address_);
    return;
  }
  if (mapped_) api()->mem_unmap(address_, size_bytes_);
  if (address_) api()->mem_address_free(address_, size_bytes_);
  api()->mem_release(*handle_);
}

Status SlotMemory::sign(CUstream_st* stream) const {
  const Current current(device_->context());
  if (!current) return current.status();
  Memcpy2D copy{.width_bytes = sizeof number_, .height = 1};
  copy.from.type = Memcpy2D::kHost;
  copy.from.host = const_cast<uint64_t*>(&number_);
  copy.from.pitch_bytes = sizeof number_;
  copy.to.device = address_ + size_bytes_ - dmabuf::kSignatureFromEnd;
  copy.to.pitch_bytes = sizeof number_;
  return check(api()->memcpy_2d_async(&copy, stream), "cuMemcpy2DAsync");
}

Result<UniqueFd> SlotMemory::share_fd() const {
  if (!handle_)
    return refusal(Reason::ExportUnsupported, "this device's memory cannot be exported");
  const Current current(device_->context());
  if (!current) return current.status().error();
  int fd = -1;
  auto exported = check(api()->mem_export(&fd, *handle_, MemAllocationProp::kPosixFd, 0),
                        "cuMemExportToShareableHandle");
  if (!exported) {
    exported.error().reason = Reason::ExportFailed;
    return exported.error();
  }
  return UniqueFd{fd};
}

}  // namespace dxva::cuda
