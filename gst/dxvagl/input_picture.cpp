// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/input_picture.hpp"

#include <fcntl.h>
#include <gst/allocators/gstdmabuf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>

#include "gst/common/attached.hpp"
#include "gst/common/gst_ptr.hpp"
#include "gst/common/memory_identity.hpp"
#include "gst/common/opaque_memory.hpp"
#include "lib/base/checked.hpp"
#include "lib/base/fourcc.hpp"
#include "lib/dmabuf/identity.hpp"

namespace dxva::gst {
namespace {

uint32_t drm_fourcc(const GstVideoInfo& info) {
  switch (GST_VIDEO_INFO_FORMAT(&info)) {
    case GST_VIDEO_FORMAT_NV12:
      return format::kNV12;
    case GST_VIDEO_FORMAT_P010_10LE:
      return format::kP010;
    default:
      return 0;
  }
}

// A meta under DMA_DRM caps may carry that as its format, which 1.22 has no name for.
bool meta_format_fits(const GstVideoMeta& meta, const GstVideoInfo& info) {
  // Not read as what it is: a later GStreamer has formats that this enum cannot hold.
  int number = 0;
  static_assert(sizeof number == sizeof meta.format);
  std::memcpy(&number, &meta.format, sizeof number);
  if (number == GST_VIDEO_INFO_FORMAT(&info)) return true;
  static const int dma_drm = gst_video_format_from_string("DMA_DRM");
  return number != GST_VIDEO_FORMAT_UNKNOWN && number == dma_drm;
}

// Moves the planes to the crop's first pixel. Sub-sampled planes move by whole samples: the
// sample that covers the first pixel stays the first, as libavcodec's own cropping does it.
// True when it was carried out; false leaves it to whoever comes after us.
Result<bool> apply_crop(InputPicture& picture, const GstVideoCropMeta& crop) {
  const GstVideoInfo& info = *picture.info;
  const GstVideoFormatInfo* format = info.finfo;
  // Our caps have one size; a rectangle of another size is not for us.
  if (crop.width != static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)) ||
      crop.height != static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info)))
    return false;
  if (crop.x == 0 && crop.y == 0) return true;
  // In packed and tiled formats a pixel has no address of its own.
  if (!picture.linear() || GST_VIDEO_FORMAT_INFO_IS_COMPLEX(format) ||
      GST_VIDEO_FORMAT_INFO_IS_TILED(format))
    return false;
  const bool packed_pairs = GST_VIDEO_INFO_IS_YUV(&info) && picture.plane_count == 1 &&
                            GST_VIDEO_FORMAT_INFO_W_SUB(format, 1) != 0;
  if (packed_pairs && crop.x % 2 != 0) return false;
  InputPicture moved = picture;
  for (uint32_t p = 0; p < picture.plane_count; ++p) {
    gint components[GST_VIDEO_MAX_COMPONENTS];
    gst_video_format_info_component(format, p, components);
    const gint c = components[0];
    const uint64_t x = crop.x >> GST_VIDEO_FORMAT_INFO_W_SUB(format, c);
    const uint64_t y = crop.y >> GST_VIDEO_FORMAT_INFO_H_SUB(format, c);
    const auto sample = static_cast<uint64_t>(GST_VIDEO_FORMAT_INFO_PSTRIDE(format, c));
    const auto at =
        (Checked(picture.offset[p]) + Checked(y) * picture.pitch_bytes[p] + Checked(x) * sample)
            .value();
    // No memory is there, and a consumer that found the rectangle would look for it.
    if (!at || crop.x > INT32_MAX || crop.y > INT32_MAX)
      return refusal(Reason::OffsetOutOfRange, "the crop begins at " + std::to_string(crop.x) +
                                                   "," + std::to_string(crop.y));
    moved.offset[p] = *at;
  }
  picture = moved;
  return true;
}

// A place in one memory of the buffer.
struct Place {
  guint memory = 0;
  uint64_t skip = 0;  // bytes from the memory's own start
};
std::optional<Place> locate(GstBuffer* buffer, uint64_t offset) {
  guint index = 0, length = 0;
  gsize skip = 0;
  if (offset > G_MAXSIZE / 2 || gst_buffer_n_memory(buffer) == 0 ||
      !gst_buffer_find_memory(buffer, offset, 1, &index, &length, &skip))
    return std::nullopt;
  return Place{.memory = index, .skip = skip};
}

Error outside(uint32_t plane) {
  return refusal(Reason::OffsetOutOfRange,
                 "plane " + std::to_string(plane) + " starts outside the buffer");
}

// The bytes behind a descriptor, whatever GstMemory was told about it: reading a mapping beyond
// the end of its file is a SIGBUS.
std::optional<uint64_t> file_size(int fd) {
  struct stat file {};
  if (fd < 0 || ::fstat(fd, &file) != 0) return std::nullopt;
  if (S_ISREG(file.st_mode)) return static_cast<uint64_t>(file.st_size);
  if (S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode) || S_ISDIR(file.st_mode))
    return std::nullopt;
  if (const auto facts = dmabuf::inspect(fd)) return facts->size_bytes;
  return std::nullopt;
}

Status check_backing(GstMemory* memory) {
  GstMemory* root = whole_memory(memory);
  // Its map is a read-back into memory of its own, and its descriptor has no size to ask for.
  if (!gst_is_fd_memory(root) || opaque_identity(root)) return Done{};
  const auto size = file_size(gst_fd_memory_get_fd(root));
  if (!size) return refusal(Reason::BadDescriptor, "a descriptor that has no size");
  if (!(Checked(memory->offset) + memory->size).fits_in(*size))
    return refusal(Reason::ObjectTooSmall, "the file is smaller than the memory says");
  return Done{};
}

}  // namespace

bool InputPicture::linear() const {
  return modifier == kModifierLinear;
}

Result<InputPicture> look_at(GstBuffer* buffer, const GstVideoInfo& info, uint64_t modifier) {
  InputPicture picture{
      .info = &info, .plane_count = GST_VIDEO_INFO_N_PLANES(&info), .modifier = modifier};
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  if (meta && !meta_format_fits(*meta, info))
    return refusal(Reason::FormatUnsupported,
                   "the video meta has another format than the caps");
  if (meta && meta->n_planes < picture.plane_count)
    return refusal(Reason::PlaneCount, "the video meta has too few planes");
  picture.has_aux_planes = meta && meta->n_planes > picture.plane_count;
  for (uint32_t p = 0; p < picture.plane_count; ++p) {
    const gint pitch = meta ? meta->stride[p] : GST_VIDEO_INFO_PLANE_STRIDE(&info, p);
    if (pitch <= 0) return refusal(Reason::PitchOutOfRange, "pitch " + std::to_string(pitch));
    if (GST_VIDEO_FORMAT_INFO_IS_TILED(info.finfo)) {
      // Two numbers of tiles in one: the texture holds the tiles as they lie, so both must be
      // those of the caps.
      if (pitch != GST_VIDEO_INFO_PLANE_STRIDE(&info, p))
        return refusal(Reason::PitchMismatch, "other tiles than the caps have");
      picture.pitch_bytes[p] =
          static_cast<uint64_t>(GST_VIDEO_TILE_X_TILES(pitch)) *
          static_cast<uint64_t>(GST_VIDEO_FORMAT_INFO_TILE_STRIDE(info.finfo, p));
    } else {
      picture.pitch_bytes[p] = static_cast<uint64_t>(pitch);
    }
    picture.offset[p] = meta ? meta->offset[p] : GST_VIDEO_INFO_PLANE_OFFSET(&info, p);
  }
  if (const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer)) {
    const Result<bool> applied = apply_crop(picture, *crop);
    if (!applied) return applied.error();
    picture.crop_applied = *applied;
  }
  return picture;
}

Result<gl::ImportRequest> as_descriptors(GstBuffer* buffer, const InputPicture& picture) {
  gl::ImportRequest request;
  video::ImageDescription& image = request.image;
  image.fourcc = drm_fourcc(*picture.info);
  image.width = static_cast<uint32_t>(GST_VIDEO_INFO_WIDTH(picture.info));
  image.height = static_cast<uint32_t>(GST_VIDEO_INFO_HEIGHT(picture.info));
  image.plane_count = picture.plane_count;

  std::array<GstMemory*, video::kMaxPlanes> roots{};
  for (uint32_t p = 0; p < picture.plane_count && p < video::kMaxPlanes; ++p) {
    const auto place = locate(buffer, picture.offset[p]);
    if (!place && p == 0 && gst_buffer_n_memory(buffer) == 0)
      return refusal(Reason::SystemMemory, "an empty buffer");
    GstMemory* memory = gst_buffer_peek_memory(buffer, place ? place->memory : 0);
    GstMemory* root = whole_memory(memory);
    // A share has its parent's allocator but not always its type's fields: ask the parent.
    if (!gst_is_dmabuf_memory(root)) return refusal(Reason::SystemMemory, "no dma-buf memory");
    if (!place) return outside(p);

    uint32_t object = 0;
    while (object < image.object_count && roots[object] != root) ++object;
    if (object == image.object_count) {
      roots[object] = root;
      request.fds[object] = gst_dmabuf_memory_get_fd(root);
      image.objects[object].modifier = picture.modifier;
      if (const auto identity = memory_identity(root))
        image.objects[object].identity = *identity;
      ++image.object_count;
    }
    image.planes[p] = {.object = object,
                       .offset = memory->offset + place->skip,
                       .pitch_bytes = picture.pitch_bytes[p],
                       .format = 0};
  }
  if (picture.has_aux_planes)
    return refusal(Reason::AuxPlane, "the video meta has more planes than the format");
  if (image.fourcc == 0)
    return refusal(Reason::FormatUnsupported, GST_VIDEO_INFO_NAME(picture.info));
  return request;
}

bool is_opaque(GstBuffer* buffer) {
  if (gst_buffer_n_memory(buffer) == 0) return false;
  GstMemory* root = whole_memory(gst_buffer_peek_memory(buffer, 0));
  // What most are, and what is asked for next in any case.
  return !gst_is_dmabuf_memory(root) && opaque_identity(root).has_value();
}

Result<gl::OpaqueRequest> as_opaque(GstBuffer* buffer, const InputPicture& picture) {
  if (!picture.opaque_uuids) return refusal(Reason::UuidMismatch, "caps without UUIDs");
  gl::OpaqueRequest request{.uuids = *picture.opaque_uuids};
  video::ImageDescription& image = request.image;
  image.fourcc = drm_fourcc(*picture.info);
  if (image.fourcc == 0)
    return refusal(Reason::FormatUnsupported, GST_VIDEO_INFO_NAME(picture.info));
  image.width = static_cast<uint32_t>(GST_VIDEO_INFO_WIDTH(picture.info));
  image.height = static_cast<uint32_t>(GST_VIDEO_INFO_HEIGHT(picture.info));
  image.plane_count = picture.plane_count;
  for (uint32_t p = 0; p < picture.plane_count && p < video::kMaxPlanes; ++p) {
    const auto place = locate(buffer, picture.offset[p]);
    if (!place) return outside(p);
    GstMemory* memory = gst_buffer_peek_memory(buffer, place->memory);
    GstMemory* root = whole_memory(memory);
    const auto identity = opaque_identity(root);
    if (!identity || !gst_is_fd_memory(root))
      return refusal(Reason::SystemMemory, "planes in memory of different kinds");
    uint32_t object = 0;
    while (object < image.object_count && image.objects[object].identity != *identity) ++object;
    if (object == image.object_count) {
      request.fds[object] = gst_fd_memory_get_fd(root);
      image.objects[object] = {
          .size_bytes = root->maxsize, .identity = *identity, .modifier = kModifierLinear};
      ++image.object_count;
    }
    image.planes[p] = {.object = object,
                       .offset = memory->offset + place->skip,
                       .pitch_bytes = picture.pitch_bytes[p],
                       .format = 0};
  }
  return request;
}

MappedPicture::~MappedPicture() {
  for (Map& map : maps_) {
    if (map.memory)
      gst_memory_unmap(map.memory, &map.info);
    else
      gst_buffer_unmap(map.buffer, &map.info);
  }
}

Result<const MappedPicture::Map*> MappedPicture::map_memory(GstBuffer* buffer, guint index) {
  GstMemory* memory = gst_buffer_peek_memory(buffer, index);
  for (const Map& map : maps_)
    if (map.memory == memory) return &map;
  if (auto backed = check_backing(memory); !backed) return backed.error();
  Map map{.memory = memory, .buffer = buffer, .info = {}};
  if (!gst_memory_map(memory, &map.info, GST_MAP_READ))
    return refusal(Reason::BadDescriptor, "the memory cannot be mapped");
  maps_.push_back(map);
  return &maps_.back();
}

Result<const MappedPicture::Map*> MappedPicture::map_whole(GstBuffer* buffer) {
  for (const Map& map : maps_)
    if (!map.memory) return &map;
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i)
    if (auto backed = check_backing(gst_buffer_peek_memory(buffer, i)); !backed)
      return backed.error();
  // A second reference makes it read-only: else the merged memory would take the place of those
  // of its memories that are mapped here already.
  const auto shared = GstPtr<GstBuffer>::share(buffer);
  Map map{.memory = nullptr, .buffer = buffer, .info = {}};
  if (!gst_buffer_map(buffer, &map.info, GST_MAP_READ))
    return refusal(Reason::BadDescriptor, "the buffer cannot be mapped");
  maps_.push_back(map);
  return &maps_.back();
}

Result<MappedPicture> MappedPicture::map(GstBuffer* buffer, const InputPicture& picture,
                                         const std::vector<gl::TextureSpec>& specs) {
  // The bytes of a tiled buffer are no rows of pixels. An allocator that reads such memory back
  // in rows says so.
  if (!picture.linear()) {
    for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) {
      GstAllocator* allocator = whole_memory(gst_buffer_peek_memory(buffer, i))->allocator;
      if (!allocator || !g_object_get_data(G_OBJECT(allocator), "dxva-maps-linear"))
        return refusal(Reason::ModifierNotLinear, modifier_text(picture.modifier));
    }
  }
  MappedPicture mapped;
  mapped.maps_.reserve(GST_VIDEO_MAX_PLANES + 1);  // pointers into it stay valid
  for (uint32_t p = 0; p < picture.plane_count; ++p) {
    const gl::TextureSpec& spec = specs[p];
    const uint64_t pitch = picture.pitch_bytes[p];
    if (pitch < spec.row_bytes())
      return refusal(Reason::PitchTooSmall, "pitch " + std::to_string(pitch) + " < row of " +
                                                std::to_string(spec.row_bytes()));
    // The last row needs only its pixels, not its padding.
    const auto extent = (Checked(pitch) * (spec.height - 1) + spec.row_bytes()).value();
    const auto place = locate(buffer, picture.offset[p]);
    if (!place) return outside(p);

    const GstMemory* memory = gst_buffer_peek_memory(buffer, place->memory);
    const bool in_one_memory = extent && (Checked(place->skip) + *extent).fits_in(memory->size);
    if (!in_one_memory && gst_buffer_n_memory(buffer) == 1)
      return refusal(Reason::ObjectTooSmall, "plane " + std::to_string(p) + " ends outside");
    const Result<const Map*> map =
        in_one_memory ? mapped.map_memory(buffer, place->memory) : mapped.map_whole(buffer);
    if (!map) return map.error();
    const GstMapInfo& info = (*map)->info;
    const uint64_t start = in_one_memory ? place->skip : picture.offset[p];
    if (!extent || !(Checked(start) + *extent).fits_in(info.size))
      return refusal(Reason::ObjectTooSmall, "plane " + std::to_string(p) + " ends outside");
    mapped.planes_[p] = {.data = info.data + start, .pitch_bytes = pitch};
  }
  return mapped;
}

}  // namespace dxva::gst
