// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "lib/base/device_uuids.hpp"
#include "lib/base/result.hpp"
#include "lib/gl/egl_importer.hpp"
#include "lib/gl/memory_object_importer.hpp"
#include "lib/gl/texture_uploader.hpp"

namespace dxva::gst {

// Where the planes of an incoming buffer are, in bytes from the buffer's start: what its metas
// say, with the crop applied. The numbers are a stranger's and nothing here has been checked
// against memory.
struct InputPicture {
  const GstVideoInfo* info = nullptr;  // lent; what the caps say
  uint32_t plane_count = 0;
  std::array<uint64_t, GST_VIDEO_MAX_PLANES> offset{};
  std::array<uint64_t, GST_VIDEO_MAX_PLANES> pitch_bytes{};
  uint64_t modifier = 0;
  std::optional<DeviceUuids> opaque_uuids;  // of opaque memory, by the caps
  bool crop_applied = false;
  bool has_aux_planes = false;  // beside those of the format; only a driver knows what they say

  [[nodiscard]] bool linear() const;
};
[[nodiscard]] Result<InputPicture> look_at(GstBuffer* buffer, const GstVideoInfo& info,
                                           uint64_t modifier);

// Opaque memory by all that can be seen of it (gst/common/opaque_memory.hpp): by the memory,
// not by the caps.
[[nodiscard]] bool is_opaque(GstBuffer* buffer);
// Such a picture. Refusals: as as_descriptors(), and UuidMismatch when the caps name nobody.
[[nodiscard]] Result<gl::OpaqueRequest> as_opaque(GstBuffer* buffer,
                                                  const InputPicture& picture);

// The picture as descriptors. The decision is made by looking at the memory and not at the
// caps: a decoder sends a copied frame in the middle of a DMABuf stream, and a camera sends
// dma-bufs under plain caps. Which buffers they are is in it where their memories say so.
// Refusals: SystemMemory, FormatUnsupported, OffsetOutOfRange,
// AuxPlane.
[[nodiscard]] Result<gl::ImportRequest> as_descriptors(GstBuffer* buffer,
                                                       const InputPicture& picture);

// The picture in the CPU's memory as long as this lives; each plane was proved to lie inside
// its mapping, and each mapping inside its file.
class MappedPicture {
 public:
  [[nodiscard]] static Result<MappedPicture> map(GstBuffer* buffer, const InputPicture& picture,
                                                 const std::vector<gl::TextureSpec>& specs);
  MappedPicture(MappedPicture&& other) noexcept
      : maps_(std::move(other.maps_)), planes_(other.planes_) {
    other.maps_.clear();
  }
  MappedPicture& operator=(MappedPicture&&) = delete;
  ~MappedPicture();

  [[nodiscard]] const gl::PlanePixels& plane(size_t index) const { return planes_[index]; }

 private:
  MappedPicture() = default;
  struct Map {
    GstMemory* memory;  // lent by the buffer; null: a map of the whole buffer
    GstBuffer* buffer;
    GstMapInfo info;
  };
  [[nodiscard]] Result<const Map*> map_memory(GstBuffer* buffer, guint index);
  [[nodiscard]] Result<const Map*> map_whole(GstBuffer* buffer);

  std::vector<Map> maps_;
  std::array<gl::PlanePixels, GST_VIDEO_MAX_PLANES> planes_{};
};

}  // namespace dxva::gst
