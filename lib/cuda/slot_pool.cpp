// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/cuda/slot_pool.hpp"

#include <utility>

#include "lib/cuda/api.hpp"

namespace dxva::cuda {
namespace {

constexpr unsigned kQuietEvent = 2;  // CU_EVENT_DISABLE_TIMING: nobody asks how long it took

}  // namespace

std::shared_ptr<SlotPool> SlotPool::create(std::shared_ptr<Stream> stream,
                                           const Config& config) {
  return std::shared_ptr<SlotPool>(new SlotPool(std::move(stream), config));
}

Status SlotPool::make_surfaces(uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    auto memory = SlotMemory::allocate(stream_->device(), layout_.size_bytes);
    if (!memory) return memory.error();
    if (auto signed_by = (*memory)->sign(stream_->get()); !signed_by) return signed_by;
    const Current current(stream_->device()->context());
    if (!current) return current.status();
    CUevent_st* event = nullptr;
    if (auto made = check(api()->event_create(&event, kQuietEvent), "cuEventCreate"); !made)
      return made;
    adopt(std::make_unique<Slot>(*this, new_index(), stream_, std::move(*memory), layout_,
                                 event));
  }
  return Done{};
}

Result<surface::Lease> SlotPool::copy(Slot::Source from) {
  if (const auto last = last_.lock()) static_cast<Slot&>(*last).settle();
  auto target = acquire();
  if (!target) return target.error();
  auto& slot = static_cast<Slot&>(**target);
  slot.write(std::move(from));
  end_pairs(accel::Severity::None);
  // The source is one of few pictures that the decoder has.
  surface::Lease out(&slot, [lease = std::move(*target)](surface::Surface* done) mutable {
    static_cast<Slot*>(done)->settle();
    lease.reset();
  });
  last_ = out;
  return out;
}

bool SlotPool::device_is_lost() const {
  return stream_->device()->look_for_loss();
}

}  // namespace dxva::cuda
