// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/cuda/slot.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "lib/base/fourcc.hpp"
#include "lib/base/log.hpp"
#include "lib/base/trace.hpp"
#include "lib/cuda/api.hpp"
#include "lib/cuda/slot_mapping.hpp"
#include "lib/cuda/slot_pool.hpp"
#include "lib/dmabuf/opaque.hpp"
#include "lib/video/nv12_layout.hpp"

namespace dxva::cuda {
namespace {

// A device that has not copied a picture after this long has hung; as with VA-API.
constexpr std::chrono::seconds kSyncBound{5};
constexpr std::chrono::microseconds kFirstSlice{20};
constexpr std::chrono::microseconds kLongestSlice{1000};

// Rows begin where the device reads them best; 256 is also what every importer takes.
constexpr uint32_t kPitchAlignment = 256;
// OpenGL's buffer textures are read in whole words, behind the last row too; and the signature.
constexpr uint64_t kRoomBehind = dmabuf::kSignatureFromEnd;

constexpr uint32_t kExportBackOff = 64;  // pictures in the slot

uint32_t aligned(uint32_t value, uint32_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace

SlotLayout SlotLayout::of(uint32_t fourcc, uint32_t width, uint32_t height) {
  SlotLayout out{.fourcc = fourcc, .width = aligned(width, 2), .height = aligned(height, 2)};
  out.pitch_bytes = aligned(static_cast<uint32_t>(video::plane_row_bytes(fourcc, 0, out.width)),
                            kPitchAlignment);
  out.chroma_offset = uint64_t{out.pitch_bytes} * out.height;
  out.size_bytes = out.chroma_offset / 2 * 3 + kRoomBehind;
  return out;
}

Slot::Slot(SlotPool& pool, accel::Index index, std::shared_ptr<Stream> stream,
           std::unique_ptr<SlotMemory> memory, const SlotLayout& layout, CUevent_st* event)
    : surface::Surface(pool, index, layout.fourcc, layout.width, layout.height),
      stream_(std::move(stream)),
      memory_(std::move(memory)),
      layout_(layout),
      event_(event) {}

Slot::~Slot() {
  attachment.reset();
  settle();
  const Current current(stream_->device()->context());
  if (current) api()->event_destroy(event_);
}

// --- written

Status Slot::begin_copy(const Source& from) {
  const Current current(stream_->device()->context());
  if (!current) return current.status();
  for (uint32_t plane = 0; plane < from.planes.size(); ++plane) {
    Memcpy2D copy{.width_bytes = video::plane_row_bytes(layout_.fourcc, plane, layout_.width),
                  .height = video::plane_rows(plane, layout_.height)};
    copy.from.device = from.planes[plane].address;
    copy.from.pitch_bytes = from.planes[plane].pitch_bytes;
    copy.to.device = memory_->address() + (plane == 0 ? 0 : layout_.chroma_offset);
    copy.to.pitch_bytes = layout_.pitch_bytes;
    if (auto begun = check(api()->memcpy_2d_async(&copy, from.stream), "cuMemcpy2DAsync");
        !begun)
      return begun;
  }
  return check(api()->event_record(event_, from.stream), "cuEventRecord");
}

void Slot::write(Source from) {
  settle();
  failed_.reset();
  const Status begun = begin_copy(from);
  if (begun) {
    source_ = std::move(from.owner);
    return;
  }
  failed_ = begun.error();
}

// By asking, and not in cuEventSynchronize: that one has no end when the device hangs.
Status Slot::wait(const std::function<bool()>& stop) const {
  const Current current(stream_->device()->context());
  if (!current) return current.status();
  const auto begun = std::chrono::steady_clock::now();
  for (auto slice = kFirstSlice;; slice = std::min(slice * 2, kLongestSlice)) {
    const CuResult answer = api()->event_query(event_);
    if (answer != kNotReady) return check(answer, "cuEventQuery");
    if (stop && stop()) return Error{.code = ErrorCode::Busy, .call = "cuEventQuery"};
    if (std::chrono::steady_clock::now() - begun > kSyncBound)
      return Error{.call = "cuEventQuery", .text = "the device does not come back"};
    std::this_thread::sleep_for(slice);
  }
}

void Slot::settle() {
  if (!source_) return;
  if (const auto done = wait({}); !done) failed_ = done.error();
  source_.reset();
}

Result<accel::Severity> Slot::sync() {
  const trace::Timed waiting(trace::Stage::Wait);
  if (source_ && !failed_) {
    const auto done = wait([this] { return pool().is_interrupted(); });
    if (!done && done.error().code == ErrorCode::Busy) return done.error();
    if (!done) failed_ = done.error();
    source_.reset();
  }
  if (!failed_) {
    pool().completed(*this, accel::Severity::None);
    return accel::Severity::None;
  }
  const bool lost = pool().device_is_lost();
  pool().completed(*this, lost ? accel::Severity::Fatal : accel::Severity::Severe);
  Error out = *failed_;
  out.reason = lost ? Reason::DeviceLost : Reason::SyncFailed;
  return out;
}

// --- read

Result<dmabuf::ExternalFrame> Slot::describe() const {
  auto fd = memory_->share_fd();
  if (!fd) return fd.error();
  dmabuf::ExternalFrame out;
  // CUDA does not know the driver's UUID; there is one driver for a device, and it is OpenGL's.
  out.opaque = DeviceUuids{.device = stream_->device()->uuid(), .driver = {}};
  out.fourcc = layout_.fourcc;
  out.width = layout_.width;
  out.height = layout_.height;
  out.object_count = 1;
  if (auto seen = dmabuf::inspect_opaque(fd->get(), memory_->size_bytes()); !seen)
    return seen.error();
  out.objects[0] = {.fd = std::move(*fd),
                    .size_bytes = memory_->size_bytes(),
                    .identity = dmabuf::opaque_identity(memory_->number()),
                    .modifier = kModifierLinear};
  out.plane_count = 2;
  for (uint32_t plane = 0; plane < out.plane_count; ++plane)
    out.planes[plane] = {.object = 0,
                         .offset = plane == 0 ? 0 : layout_.chroma_offset,
                         .pitch_bytes = layout_.pitch_bytes,
                         .format = 0};
  return out;
}

Result<surface::Surface::Export> Slot::exported() {
  if (exported_ && (*exported_ || lends() < export_again_at_)) return *exported_;
  auto frame = describe();
  if (frame) {
    exported_ =
        Export{.frame = std::make_shared<const dmabuf::ExternalFrame>(std::move(*frame)),
               .generation = 1};
  } else {
    DXVA_DEBUG(Cuda, "slot %u is not exported (next try after %u pictures): %s", id(),
               kExportBackOff, frame.error().describe().c_str());
    exported_ = frame.error();
    export_again_at_ = lends() + kExportBackOff;
  }
  return *exported_;
}

Result<std::unique_ptr<surface::Mapping>> Slot::map(
    surface::Reads reads, std::shared_ptr<const dmabuf::ExternalFrame>) const {
  return map_slot(stream_, memory_->address(), layout_, reads);
}

}  // namespace dxva::cuda
