// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/gl/upload_slot.hpp"

namespace dxva::gl {

// The upload slots of one stream, all made at once: a running stream makes none. A slot is lent
// to one writer at a time. Whoever uploads keeps the lease until its fence has signalled
// (ReleaseQueue::after_gpu): a writer that had the slot earlier would write into the picture
// that the GPU still reads.
//
// Nothing here calls OpenGL but create() and the end of the last owner. Thread-safe.
class UploadRing : public std::enable_shared_from_this<UploadRing> {
 public:
  // Null when GL refuses a slot. GL-thread only.
  [[nodiscard]] static std::shared_ptr<UploadRing> create(std::shared_ptr<GlThread> thread,
                                                          std::shared_ptr<const GlApi> gl,
                                                          uint64_t slot_bytes, uint32_t count);

  // One slot, given back with its end. Keeps the ring, and by it the context.
  class Lease {
   public:
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    [[nodiscard]] UploadSlot& slot() const { return *ring_->slots_[index_]; }
    // An upload from the slot was issued; it lasts until the answer's last owner lets go, who
    // first lets go of the lease. Waiting for a slot is worth while so long.
    [[nodiscard]] std::shared_ptr<void> begin_gpu_read() const;

   private:
    friend UploadRing;
    Lease(std::shared_ptr<UploadRing> ring, uint32_t index)
        : ring_(std::move(ring)), index_(index) {}
    const std::shared_ptr<UploadRing> ring_;
    const uint32_t index_;
  };

  // A free slot. When there is none: waits no longer than `patience`, and only while the GPU
  // reads one, because that one comes back by itself; those that a queue holds may never. Null:
  // none, or interrupt().
  [[nodiscard]] std::unique_ptr<Lease> take(std::chrono::milliseconds patience);
  // Ends waiting, and lets none begin, until it is called with false.
  void interrupt(bool on);

  [[nodiscard]] uint64_t slot_bytes() const { return slots_.front()->size_bytes(); }
  // Every slot has an address (UploadSlot::data()).
  [[nodiscard]] bool is_mapped() const { return slots_.front()->data() != nullptr; }

 private:
  UploadRing() = default;
  void give_back(uint32_t index);
  void end_gpu_read();

  std::vector<std::unique_ptr<UploadSlot>> slots_;  // never changes after create()

  std::mutex lock_;
  std::condition_variable changed_;
  std::vector<uint32_t> idle_;  // the one that was used longest ago is first
  uint32_t gpu_reads_ = 0;
  bool interrupted_ = false;
};

}  // namespace dxva::gl
