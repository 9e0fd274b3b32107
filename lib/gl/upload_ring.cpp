// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/upload_ring.hpp"

namespace dxva::gl {

std::shared_ptr<UploadRing> UploadRing::create(std::shared_ptr<GlThread> thread,
                                               std::shared_ptr<const GlApi> gl,
                                               uint64_t slot_bytes, uint32_t count) {
  if (count == 0) return nullptr;
  std::shared_ptr<UploadRing> ring(new UploadRing());
  for (uint32_t i = 0; i < count; ++i) {
    auto slot = UploadSlot::create(thread, gl, slot_bytes);
    if (!slot) return nullptr;
    ring->slots_.push_back(std::move(slot));
    ring->idle_.push_back(i);
  }
  return ring;
}

std::unique_ptr<UploadRing::Lease> UploadRing::take(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  std::unique_lock guard(lock_);
  const bool has_news = changed_.wait_until(
      guard, until, [this] { return !idle_.empty() || interrupted_ || gpu_reads_ == 0; });
  if (!has_news || interrupted_ || idle_.empty()) return nullptr;
  const uint32_t index = idle_.front();
  idle_.erase(idle_.begin());
  return std::unique_ptr<Lease>(new Lease(shared_from_this(), index));
}

void UploadRing::interrupt(bool on) {
  {
    const std::lock_guard guard(lock_);
    interrupted_ = on;
  }
  changed_.notify_all();
}

void UploadRing::give_back(uint32_t index) {
  {
    const std::lock_guard guard(lock_);
    idle_.push_back(index);
  }
  changed_.notify_all();
}

void UploadRing::end_gpu_read() {
  {
    const std::lock_guard guard(lock_);
    --gpu_reads_;
  }
  changed_.notify_all();
}

UploadRing::Lease::~Lease() {
  ring_->give_back(index_);
}

std::shared_ptr<void> UploadRing::Lease::begin_gpu_read() const {
  {
    const std::lock_guard guard(ring_->lock_);
    ++ring_->gpu_reads_;
  }
  return {nullptr, [ring = ring_](void*) { ring->end_gpu_read(); }};
}

}  // namespace dxva::gl
