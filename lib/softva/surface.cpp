// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/surface.hpp"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "lib/softva/driver.hpp"
#include "lib/softva/tiling.hpp"

namespace dxva::softva {
namespace {

std::array<VASurfaceDecodeMBErrors, 2> whole_picture_error(const SurfaceLayout& layout) {
  constexpr uint32_t kMacroblock = 16;
  const uint32_t count = ((layout.width + kMacroblock - 1) / kMacroblock) *
                         ((layout.height + kMacroblock - 1) / kMacroblock);
  std::array<VASurfaceDecodeMBErrors, 2> errors{};
  errors[0] = {.status = 1,
               .start_mb = 0,
               .end_mb = count - 1,
               .decode_error_type = VADecodeMBError,
               .num_mb = count};
  errors[1].status = -1;  // ends the list
  return errors;
}

}  // namespace

Surface::Surface(const SurfaceLayout& layout, Objects objects, uint64_t number)
    : layout_(layout),
      objects_(std::move(objects)),
      number_(number),
      errors_(whole_picture_error(layout)),
      tiled_(layout.tiled) {}

Result<std::shared_ptr<Surface>> Surface::create(const SurfaceLayout& layout, MemoryKind kind,
                                                 uint64_t number) {
  Objects objects;
  for (uint32_t i = 0; i < layout.object_count; ++i) {
    auto memory = Memory::allocate(kind, layout.object_bytes[i]);
    if (!memory) return memory.error();
    objects[i] = std::move(*memory);
  }
  return std::make_shared<Surface>(layout, std::move(objects), number);
}

Status Surface::with_pixels(CpuAccess::Mode mode,
                            const std::function<Status(const PixelView&)>& work) {
  const std::lock_guard lock(pixels_mutex_);
  std::array<std::optional<CpuAccess>, kMaxObjects> access;
  for (uint32_t i = 0; i < layout_.object_count; ++i) access[i].emplace(objects_[i], mode);

  PixelView view{.format = layout_.format, .width = layout_.width, .height = layout_.height};
  for (uint32_t i = 0; i < layout_.format->plane_count; ++i) {
    const PlaneLayout& plane = layout_.planes[i];
    view.planes[i] = objects_[plane.object]->data() + plane.offset;
    view.pitches[i] = plane.pitch;
  }
  if (!tiled_) return work(view);

  std::array<std::vector<uint8_t>, kMaxPlanes> rows;
  std::array<uint8_t*, kMaxPlanes> tiles{};
  for (uint32_t i = 0; i < layout_.format->plane_count; ++i) {
    tiles[i] = view.planes[i];
    rows[i].resize(size_t{view.pitches[i]} * tiled_rows(i));
    untile(tiles[i], view.pitches[i], tiled_rows(i), rows[i].data());
    view.planes[i] = rows[i].data();
  }
  auto worked = work(view);
  if (mode == CpuAccess::Mode::Read) return worked;
  for (uint32_t i = 0; i < layout_.format->plane_count; ++i)
    tile(rows[i].data(), view.pitches[i], tiled_rows(i), tiles[i]);
  return worked;
}

uint32_t Surface::tiled_rows(uint32_t plane) const {
  const uint32_t rows = layout_.format->rows(plane, layout_.height);
  return (rows + kTileRows - 1) / kTileRows * kTileRows;
}

bool Surface::tiled() const {
  const std::lock_guard lock(pixels_mutex_);
  return tiled_;
}

void Surface::turn_tiled() {
  const std::lock_guard lock(pixels_mutex_);
  if (tiled_ || !layout_.whole_tiles) return;
  for (uint32_t i = 0; i < layout_.format->plane_count; ++i) {
    const PlaneLayout& plane = layout_.planes[i];
    const CpuAccess access(objects_[plane.object], CpuAccess::Mode::ReadWrite);
    uint8_t* data = objects_[plane.object]->data() + plane.offset;
    const std::vector<uint8_t> rows(data, data + size_t{plane.pitch} * tiled_rows(i));
    tile(rows.data(), plane.pitch, tiled_rows(i), data);
  }
  tiled_ = true;
}

Surface::Rendering::Rendering(std::shared_ptr<Surface> surface) : surface_(std::move(surface)) {
  const std::lock_guard lock(surface_->state_mutex_);
  ++surface_->renderers_;
}

Surface::Rendering::~Rendering() {
  {
    const std::lock_guard lock(surface_->state_mutex_);
    if (--surface_->renderers_ == 0) surface_->idle_.notify_all();
  }
  // After it: who saw the fence signal finds the surface ready.
  writing_.reset();
}

void Surface::Rendering::fence(const std::shared_ptr<VgemFences>& fences) {
  std::array<int, kMaxObjects> fds{};
  const uint32_t count = surface_->layout_.object_count;
  for (uint32_t i = 0; i < count; ++i) fds[i] = surface_->objects_[i]->fd();
  if (auto writing = VgemFences::write(fences, {fds.data(), count}); writing)
    writing_ = std::move(*writing);
}

void Surface::Rendering::set_failed(bool failed) {
  const std::lock_guard lock(surface_->state_mutex_);
  surface_->failed_ = failed;
}

bool Surface::rendering() const {
  const std::lock_guard lock(state_mutex_);
  return renderers_ != 0;
}

bool Surface::wait(uint64_t timeout_ns) const {
  std::unique_lock lock(state_mutex_);
  const auto idle = [this] { return renderers_ == 0; };
  // Longer than any wait means anything; the sum with the clock must not wrap.
  constexpr uint64_t kForever = uint64_t{1} << 62;
  if (timeout_ns >= kForever) {
    idle_.wait(lock, idle);
    return true;
  }
  return idle_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), idle);
}

const VASurfaceDecodeMBErrors* Surface::errors() const {
  const std::lock_guard lock(state_mutex_);
  return failed_ ? &errors_[0] : &errors_[1];
}

void Surface::set_decoder(std::shared_ptr<SharedDecoder> decoder) {
  const std::lock_guard lock(state_mutex_);
  decoder_.swap(decoder);  // the old one dies after the lock
}

std::shared_ptr<SharedDecoder> Surface::decoder() const {
  const std::lock_guard lock(state_mutex_);
  return decoder_;
}

VAStatus create_surfaces(Driver& driver, int width, int height, int format, int count,
                         VASurfaceID* ids) {
  if (width <= 0 || height <= 0 || count <= 0) return VA_STATUS_ERROR_INVALID_PARAMETER;
  return create_surfaces2(driver, static_cast<unsigned>(format), static_cast<unsigned>(width),
                          static_cast<unsigned>(height), ids, static_cast<unsigned>(count),
                          nullptr, 0);
}

VAStatus destroy_surfaces(Driver& driver, VASurfaceID* ids, int count) {
  if (count < 0 || (count > 0 && !ids)) return VA_STATUS_ERROR_INVALID_PARAMETER;
  // A bad id among good ones must not leak the good ones.
  VAStatus status = VA_STATUS_SUCCESS;
  for (int i = 0; i < count; ++i)
    if (!driver.surfaces.remove(ids[i])) status = VA_STATUS_ERROR_INVALID_SURFACE;
  return status;
}

VAStatus sync_surface(Driver& driver, VASurfaceID id) {
  return sync_surface2(driver, id, VA_TIMEOUT_INFINITE);
}

VAStatus sync_surface2(Driver& driver, VASurfaceID id, uint64_t timeout_ns) {
  const auto surface = driver.surfaces.find(id);
  if (!surface) return VA_STATUS_ERROR_INVALID_SURFACE;
  const auto otherwise =
      surface->rendering() ? CallLog::Outcome::Waits : CallLog::Outcome::Done;
  if (driver.fails(Call::Sync, surface->number(), 1, otherwise))
    return VA_STATUS_ERROR_OPERATION_FAILED;
  if (driver.knobs.faults.hangs(Call::Sync)) {
    driver.hang.wait(timeout_ns);
    return VA_STATUS_ERROR_TIMEDOUT;
  }
  return surface->wait(timeout_ns) ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_TIMEDOUT;
}

VAStatus query_surface_status(Driver& driver, VASurfaceID id, VASurfaceStatus* status) {
  const auto surface = driver.surfaces.find(id);
  if (!surface) return VA_STATUS_ERROR_INVALID_SURFACE;
  if (!status) return VA_STATUS_ERROR_INVALID_PARAMETER;
  *status = surface->rendering() ? VASurfaceRendering : VASurfaceReady;
  return VA_STATUS_SUCCESS;
}

VAStatus query_surface_error(Driver& driver, VASurfaceID id, VAStatus error, void** info) {
  const auto surface = driver.surfaces.find(id);
  if (!surface) return VA_STATUS_ERROR_INVALID_SURFACE;
  if (!info || error != VA_STATUS_ERROR_DECODING_ERROR)
    return VA_STATUS_ERROR_INVALID_PARAMETER;
  // The client only reads the list; va.h has no const.
  *info = const_cast<VASurfaceDecodeMBErrors*>(surface->errors());
  return VA_STATUS_SUCCESS;
}

}  // namespace dxva::softva
