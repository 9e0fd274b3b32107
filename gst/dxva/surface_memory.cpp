// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/surface_memory.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "gst/common/attached.hpp"
#include "gst/common/cpu_memory.hpp"
#include "gst/common/finished_memory.hpp"
#include "gst/common/memory_identity.hpp"
#include "gst/common/spare_memory.hpp"
#include "gst/dxva/gstdxvaallocator.hpp"
#include "lib/base/checked.hpp"
#include "lib/base/fourcc.hpp"
#include "lib/base/trace.hpp"

namespace dxva::gst {

namespace {

const Attached<std::shared_ptr<SurfaceMemories>> kMemories("dxva-surface-memories");

struct StagedPlane {
  uint32_t plane = 0;
  uint64_t offset = 0;
  uint32_t pitch_bytes = 0;
};

// Reads the planes that live in one buffer object back through the device, into the places that
// the buffer's GstVideoMeta names. `surface` is alive: only lent memory can be mapped.
bool read_back(const surface::Surface& surface, const std::vector<StagedPlane>& planes,
               std::span<uint8_t> to) {
  auto mapped = surface.map(surface::Reads::ByCopy, nullptr);
  if (!mapped) return false;
  for (const StagedPlane& staged : planes) {
    if (staged.plane >= (*mapped)->view().plane_count) return false;
    const video::PlaneView& from = (*mapped)->view().planes[staged.plane];
    const Checked end = Checked(staged.offset) +
                        Checked(staged.pitch_bytes) * (from.rows > 0 ? from.rows - 1 : 0) +
                        from.row_bytes;
    if (staged.pitch_bytes < from.row_bytes || !end.fits_in(to.size())) return false;
    (*mapped)->copy_plane(from, to.data() + staged.offset, staged.pitch_bytes);
  }
  return bool((*mapped)->whole_picture_copied());
}

}  // namespace

Result<std::shared_ptr<SurfaceMemories>> SurfaceMemories::of(
    surface::Surface& surface, const surface::Surface::Export& exported,
    const Allocators& allocators) {
  // The number, not "new this time": a picture in new memory may have left by another way.
  const auto* home = static_cast<const Home*>(surface.attachment.get());
  if (home && home->generation == exported.generation) return home->memories;

  const dmabuf::ExternalFrame& frame = *exported.frame;
  std::shared_ptr<SurfaceMemories> out(new SurfaceMemories);

  // Drivers hand out the same buffer under several descriptors (dups); one memory is enough.
  struct Part {
    uint32_t object = 0;
    gsize begin = 0;
    std::vector<StagedPlane> planes;
  };
  std::vector<Part> parts;
  gsize total = 0;
  const auto part_of = [&](uint32_t object) -> Part& {
    for (Part& part : parts)
      if (frame.objects[part.object].identity == frame.objects[object].identity) return part;
    parts.push_back({.object = object, .begin = total});
    total += frame.objects[object].size_bytes;
    return parts.back();
  };
  for (uint32_t i = 0; i < frame.plane_count; ++i) {
    const auto& plane = frame.planes[i];
    Part& part = part_of(plane.object);
    part.planes.push_back({.plane = i,
                           .offset = plane.offset,
                           .pitch_bytes = static_cast<uint32_t>(plane.pitch_bytes)});
    out->planes_.push_back(
        {.offset = part.begin + plane.offset, .stride = static_cast<gint>(plane.pitch_bytes)});
  }

  for (const Part& part : parts) {
    const auto& object = frame.objects[part.object];
    const auto read = [&surface, planes = part.planes](std::span<uint8_t> to) {
      return read_back(surface, planes, to);
    };
    auto memory =
        frame.opaque
            ? wrap_opaque(allocators.opaque, object.fd.get(), exported.frame, object.size_bytes,
                          object.identity,
                          {.linear = false, .writable = false, .read_back = read})
            : wrap_dmabuf(allocators.dmabuf, object.fd.get(), exported.frame, object.size_bytes,
                          {.linear = object.modifier == kModifierLinear,
                           .writable = false,
                           .read_back = read});
    if (!memory) return Error{.code = ErrorCode::Failed, .call = "gst_fd_allocator_alloc"};
    // The frame that the memory holds holds the descriptor.
    if (!frame.opaque) set_memory_identity(memory.get(), object.identity);
    if (allocators.spare) mark_spare(memory.get());
    ask_for_readers(memory.get());
    // The memory keeps its keeper alive, and so the other way round, until retire().
    kMemories.keep(memory.get(), std::make_unique<std::shared_ptr<SurfaceMemories>>(out));
    GST_MINI_OBJECT_CAST(memory.get())->dispose = on_last_unref;
    out->entries_.push_back({.memory = memory.release()});
  }
  surface.attachment = std::make_shared<Home>(out, exported.generation);
  return out;
}

SurfaceMemories::~SurfaceMemories() = default;

bool SurfaceMemories::lend(GstBuffer* buffer, surface::Surface& surface, accel::Pixels pixels,
                           Goes goes) {
  const std::lock_guard guard(lock_);
  if (out_ > 0) return false;
  auto shown = surface.pool().show(surface, pixels);
  if (!shown) return false;
  lease_ = std::move(*shown);
  goes_ = goes;
  for (Entry& entry : entries_) {
    entry.home = false;
    set_finished(entry.memory, pixels == accel::Pixels::There);
    forget_readers(entry.memory);
    gst_buffer_append_memory(buffer, entry.memory);
  }
  out_ = static_cast<uint32_t>(entries_.size());
  return true;
}

gboolean SurfaceMemories::on_last_unref(GstMiniObject* memory) {
  // A copy: the memory, and with it what hangs on it, may be gone before the call returns.
  const auto keeper = *kMemories.of(GST_MEMORY_CAST(memory));
  return keeper->come_home(memory);
}

// All its memories are home, and the lock is held.
bool SurfaceMemories::is_read_by_cpu() const {
  return goes_ == Goes::ToOurUploader && std::ranges::all_of(entries_, [](const Entry& entry) {
           return entry.home && gst::is_read_by_cpu(entry.memory);
         });
}

gboolean SurfaceMemories::come_home(GstMiniObject* memory) {
  surface::Lease ended;
  bool kept = false;
  bool read_by_cpu = false;
  {
    const std::lock_guard guard(lock_);
    kept = !retired_;
    // Before the lease ends: then another thread may lend this very memory at once.
    if (kept) gst_mini_object_ref(memory);
    for (Entry& entry : entries_)
      if (GST_MINI_OBJECT_CAST(entry.memory) == memory) entry.home = kept;
    if (--out_ == 0) {
      ended = std::exchange(lease_, nullptr);
      read_by_cpu = is_read_by_cpu();
    }
    if (ended) trace::tell_home(reinterpret_cast<uintptr_t>(entries_.front().memory));
  }
  if (ended && read_by_cpu) ended->pool().read_by_cpu(*ended);
  // Ending it can destroy the pool, the surface, and us.
  ended.reset();
  return kept ? FALSE : TRUE;
}

// The surface goes, or is in other memory now. Memories at home are freed; those downstream are
// freed by their last reference.
void SurfaceMemories::retire() {
  std::vector<GstMemory*> home;
  {
    const std::lock_guard guard(lock_);
    retired_ = true;
    for (Entry& entry : entries_)
      if (std::exchange(entry.home, false)) home.push_back(entry.memory);
  }
  for (GstMemory* memory : home) {
    GST_MINI_OBJECT_CAST(memory)->dispose = nullptr;
    gst_memory_unref(memory);
  }
}

}  // namespace dxva::gst
