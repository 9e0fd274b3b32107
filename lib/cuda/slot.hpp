// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "lib/accel/session.hpp"
#include "lib/base/result.hpp"
#include "lib/cuda/device.hpp"
#include "lib/cuda/slot_memory.hpp"
#include "lib/surface/surface.hpp"

struct CUevent_st;

namespace dxva::cuda {

class SlotPool;

// Where rows of pixels are in memory: NV12 or P010 in one block.
struct SlotLayout {
  uint32_t fourcc = 0;  // DRM
  uint32_t width = 0;   // pixels, even
  uint32_t height = 0;
  uint32_t pitch_bytes = 0;
  uint64_t chroma_offset = 0;  // bytes
  uint64_t size_bytes = 0;     // with the room behind that an import demands
  [[nodiscard]] static SlotLayout of(uint32_t fourcc, uint32_t width, uint32_t height);
  friend bool operator==(const SlotLayout&, const SlotLayout&) = default;
};

// One picture's place in device memory. NVDEC keeps few pictures that can be looked at, and
// those cannot be exported: each picture is copied into a slot, on the device.
// Thread rules: as of surface::Surface.
class Slot final : public surface::Surface {
 public:
  Slot(SlotPool& pool, accel::Index index, std::shared_ptr<Stream> stream,
       std::unique_ptr<SlotMemory> memory, const SlotLayout& layout, CUevent_st* event);
  ~Slot() override;

  // A decoded picture in device memory: luma and chroma.
  struct Source {
    struct Plane {
      uint64_t address = 0;
      uint32_t pitch_bytes = 0;
    };
    std::array<Plane, 2> planes;
    CUstream_st* stream = nullptr;      // that makes the picture
    std::shared_ptr<const void> owner;  // the picture and the stream stay as long
  };
  // Begins the copy, behind what its stream is doing; sync() waits for it. An error is kept for
  // sync() to tell.
  void write(Source from);
  // Waits for the copy and lets its source go, if that is not done yet.
  void settle();

  [[nodiscard]] uint32_t id() const override {
    return static_cast<uint32_t>(memory_->number());
  }
  [[nodiscard]] Result<accel::Severity> sync() override;
  // Exported once for the slot's life. After a refusal the slot is tried again some pictures
  // later: a process may have been short of descriptors.
  [[nodiscard]] Result<Export> exported() override;
  [[nodiscard]] Result<std::unique_ptr<surface::Mapping>> map(
      surface::Reads reads,
      std::shared_ptr<const dmabuf::ExternalFrame> exported) const override;

 private:
  [[nodiscard]] Status begin_copy(const Source& from);
  [[nodiscard]] Status wait(const std::function<bool()>& stop) const;
  [[nodiscard]] Result<dmabuf::ExternalFrame> describe() const;

  const std::shared_ptr<Stream> stream_;
  const std::unique_ptr<SlotMemory> memory_;
  const SlotLayout layout_;
  CUevent_st* const event_;

  std::shared_ptr<const void> source_;  // while the copy may still be reading it
  std::optional<Error> failed_;         // of this picture
  std::optional<Result<Export>> exported_;
  uint32_t export_again_at_ = 0;  // lends(), after a refusal
};

}  // namespace dxva::cuda
