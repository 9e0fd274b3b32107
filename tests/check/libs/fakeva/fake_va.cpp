// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/libs/fakeva/fake_va.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>
#include <va/va_backend.h>
#include <va/va_drmcommon.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "lib/base/fourcc.hpp"

[[gnu::visibility("default")]] fakeva::Counts fake_va_counts;

namespace fakeva {
namespace {

using dxva::fourcc;

bool told(std::string_view wanted) {
  const char* list = std::getenv("FAKE_VA");
  std::string_view rest = list ? list : "";
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    if (rest.substr(0, comma) == wanted) return true;
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  return false;
}

// Fits every entry that this driver has no answer for.
struct Unimplemented {
  template <typename... Args>
  using Entry = VAStatus (*)(Args...);
  template <typename... Args>
  operator Entry<Args...>() const {
    return [](Args...) -> VAStatus { return VA_STATUS_ERROR_UNIMPLEMENTED; };
  }
};

constexpr uint32_t kRtFormats = VA_RT_FORMAT_YUV420 | VA_RT_FORMAT_YUV420_10;
constexpr VABufferID kDerivedBuffer = 1;
constexpr VABufferID kCreatedBuffer = 2;
std::array<uint8_t, kSize> derived_memory;
std::array<uint8_t, kSize> created_memory;

VAStatus terminate(VADriverContextP) {
  ::sched_yield();  // the moment in which somebody else would like to start
  ++fake_va_counts.stops;
  --fake_va_counts.live;
  return VA_STATUS_SUCCESS;
}

VAStatus profiles(VADriverContextP, VAProfile* list, int* count) {
  list[0] = VAProfileH264High;
  list[1] = VAProfileMPEG2Main;  // encodes only
  list[2] = VAProfileNone;       // video processing
  *count = told("huge-count") ? 100000 : 3;
  return VA_STATUS_SUCCESS;
}

VAStatus entrypoints(VADriverContextP, VAProfile profile, VAEntrypoint* list, int* count) {
  *count = 1;
  switch (profile) {
    case VAProfileH264High:
      list[0] = told("no-decoder") ? VAEntrypointEncSlice : VAEntrypointVLD;
      return VA_STATUS_SUCCESS;
    case VAProfileMPEG2Main:
      list[0] = VAEntrypointEncSlice;
      return VA_STATUS_SUCCESS;
    default:
      return VA_STATUS_ERROR_UNSUPPORTED_PROFILE;
  }
}

VAStatus config_attributes(VADriverContextP, VAProfile profile, VAEntrypoint,
                           VAConfigAttrib* list, int count) {
  if (profile != VAProfileH264High) return VA_STATUS_ERROR_UNSUPPORTED_PROFILE;
  for (int i = 0; i < count; ++i) {
    list[i].value = VA_ATTRIB_NOT_SUPPORTED;
    if (list[i].type == VAConfigAttribRTFormat) list[i].value = kRtFormats;
    if (list[i].type == VAConfigAttribMaxPictureWidth) list[i].value = 4096;
  }
  return VA_STATUS_SUCCESS;
}

// The config's id is the RT format it was made for.
VAStatus create_config(VADriverContextP, VAProfile profile, VAEntrypoint, VAConfigAttrib* list,
                       int count, VAConfigID* id) {
  if (profile != VAProfileH264High || count != 1 || (list[0].value & kRtFormats) == 0)
    return VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT;
  *id = list[0].value;
  ++fake_va_counts.live_configs;
  return VA_STATUS_SUCCESS;
}

VAStatus destroy_config(VADriverContextP, VAConfigID) {
  --fake_va_counts.live_configs;
  return VA_STATUS_SUCCESS;
}

VASurfaceAttrib attribute(VASurfaceAttribType type, uint32_t value) {
  VASurfaceAttrib out{};
  out.type = type;
  out.flags = VA_SURFACE_ATTRIB_GETTABLE;
  out.value.type = VAGenericValueTypeInteger;
  out.value.value.i = static_cast<int>(value);
  return out;
}

VAStatus surface_attributes(VADriverContextP, VAConfigID config, VASurfaceAttrib* list,
                            unsigned* count) {
  const std::array all = {
      attribute(VASurfaceAttribPixelFormat,
                config == VA_RT_FORMAT_YUV420 ? VA_FOURCC_NV12 : VA_FOURCC_P010),
      attribute(VASurfaceAttribMinWidth, 16),
      attribute(VASurfaceAttribMaxWidth, 8192),
      attribute(VASurfaceAttribMaxHeight, 2304),
      attribute(VASurfaceAttribMemoryType,
                VA_SURFACE_ATTRIB_MEM_TYPE_VA | VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2),
  };
  if (list) std::memcpy(list, all.data(), sizeof all);
  *count = all.size();
  return VA_STATUS_SUCCESS;
}

VAStatus create_surfaces(VADriverContextP, int, int, int, int count, VASurfaceID* ids) {
  static VASurfaceID last = 100;
  for (int i = 0; i < count; ++i) ids[i] = ++last;
  return VA_STATUS_SUCCESS;
}

VAStatus create_surfaces2(VADriverContextP, unsigned, unsigned, unsigned, VASurfaceID* ids,
                          unsigned count, VASurfaceAttrib*, unsigned) {
  return create_surfaces(nullptr, 0, 0, 0, static_cast<int>(count), ids);
}

VAStatus destroy_surfaces(VADriverContextP, VASurfaceID*, int) {
  return VA_STATUS_SUCCESS;
}

VAStatus query_surface_status(VADriverContextP, VASurfaceID, VASurfaceStatus* status) {
  if (!told("rendering")) return VA_STATUS_ERROR_UNIMPLEMENTED;
  *status = VASurfaceRendering;
  return VA_STATUS_SUCCESS;
}

VAStatus sync_surface(VADriverContextP, VASurfaceID) {
  ++fake_va_counts.synced;
  if (told("sync-fails")) return VA_STATUS_ERROR_OPERATION_FAILED;
  if (told("sync-damaged")) return VA_STATUS_ERROR_DECODING_ERROR;
  return VA_STATUS_SUCCESS;
}

void describe(VAImage* image, VAImageID id, VABufferID buffer) {
  *image = {};
  image->image_id = id;
  image->buf = buffer;
  image->format.fourcc = VA_FOURCC_NV12;
  image->width = kWidth;
  image->height = kHeight;
  image->num_planes = 2;
  image->pitches[0] = image->pitches[1] = kPitch;
  image->offsets[1] = kPitch * kHeight;
  image->data_size = kSize;
  ++fake_va_counts.live_images;
}

uint8_t pixel(uint32_t offset) {
  return told("flat") ? 0x80 : pattern(offset);
}

VAStatus derive_image(VADriverContextP, VASurfaceID, VAImage* image) {
  if (told("derive-fails")) return VA_STATUS_ERROR_UNIMPLEMENTED;
  describe(image, 1, kDerivedBuffer);
  for (uint32_t i = 0; i < kSize; ++i)
    derived_memory[i] = pixel(told("derive-other") ? (i + 2 * kPitch) % kSize : i);
  if (told("derive-p010")) image->format.fourcc = VA_FOURCC_P010;
  if (told("derive-short") || told("images-short")) image->offsets[1] = kSize - 100;
  ++fake_va_counts.derived;
  return VA_STATUS_SUCCESS;
}

VAStatus create_image(VADriverContextP, VAImageFormat* format, int width, int height,
                      VAImage* image) {
  if (format->fourcc != VA_FOURCC_NV12 || width != kWidth || height != kHeight)
    return VA_STATUS_ERROR_INVALID_IMAGE_FORMAT;
  describe(image, 2, kCreatedBuffer);
  if (told("images-short")) image->data_size = 100;
  return VA_STATUS_SUCCESS;
}

VAStatus destroy_image(VADriverContextP, VAImageID) {
  --fake_va_counts.live_images;
  return VA_STATUS_SUCCESS;
}

VAStatus get_image(VADriverContextP, VASurfaceID, int, int, unsigned, unsigned, VAImageID) {
  if (told("get-fails")) return VA_STATUS_ERROR_OPERATION_FAILED;
  for (uint32_t i = 0; i < kSize; ++i) created_memory[i] = pixel(i);
  ++fake_va_counts.copied;
  return VA_STATUS_SUCCESS;
}

VAStatus image_formats(VADriverContextP, VAImageFormat* list, int* count) {
  list[0] = {.fourcc = VA_FOURCC_NV12, .byte_order = VA_LSB_FIRST, .bits_per_pixel = 12};
  *count = 1;
  return VA_STATUS_SUCCESS;
}

VAStatus map_buffer(VADriverContextP, VABufferID buffer, void** data) {
  if (told("map-fails")) return VA_STATUS_ERROR_OPERATION_FAILED;
  *data = buffer == kDerivedBuffer ? derived_memory.data() : created_memory.data();
  ++fake_va_counts.live_maps;
  return VA_STATUS_SUCCESS;
}

VAStatus unmap_buffer(VADriverContextP, VABufferID) {
  --fake_va_counts.live_maps;
  return VA_STATUS_SUCCESS;
}

int new_buffer() {
  const int fd = ::memfd_create("fakeva", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  for (uint32_t i = 0; i < kSize; ++i) {
    const uint8_t byte = pattern(i);
    if (::pwrite(fd, &byte, 1, i) != 1) std::abort();
  }
  ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
  return fd;
}

int surface_buffer() {
  static int buffer = new_buffer();
  if (told("export-moved")) {
    ::close(buffer);
    buffer = new_buffer();
  }
  return buffer;
}

int reading_end_of_a_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  ::close(ends[1]);
  return ends[0];
}

VAStatus export_surface(VADriverContextP, VASurfaceID, uint32_t, uint32_t, void* out) {
  ++fake_va_counts.exported;
  if (told("export-unimplemented")) return VA_STATUS_ERROR_UNIMPLEMENTED;
  if (told("export-fails")) return VA_STATUS_ERROR_OPERATION_FAILED;
  auto& descriptor = *static_cast<VADRMPRIMESurfaceDescriptor*>(out);
  descriptor = {.fourcc = VA_FOURCC_NV12, .width = kWidth, .height = kHeight};
  descriptor.num_objects = 1;
  descriptor.objects[0] = {.fd = told("export-pipe")
                                     ? reading_end_of_a_pipe()
                                     : ::fcntl(surface_buffer(), F_DUPFD_CLOEXEC, 0)};
  descriptor.num_layers = 2;
  descriptor.layers[0] = {.drm_format = dxva::format::kR8, .num_planes = 1, .pitch = {kPitch}};
  descriptor.layers[1] = {.drm_format = dxva::format::kGR88,
                          .num_planes = 1,
                          .offset = {kPitch * kHeight},
                          .pitch = {kPitch}};
  return VA_STATUS_SUCCESS;
}

void fill(VADriverVTable& table) {
  constexpr Unimplemented none;
  table.vaTerminate = terminate;
  table.vaQueryConfigProfiles = profiles;
  table.vaQueryConfigEntrypoints = entrypoints;
  table.vaGetConfigAttributes = config_attributes;
  table.vaCreateConfig = create_config;
  table.vaDestroyConfig = destroy_config;
  table.vaQueryConfigAttributes = none;
  table.vaCreateSurfaces = create_surfaces;
  table.vaCreateSurfaces2 = create_surfaces2;
  table.vaDestroySurfaces = destroy_surfaces;
  table.vaCreateContext = none;
  table.vaDestroyContext = none;
  table.vaCreateBuffer = none;
  table.vaBufferSetNumElements = none;
  table.vaMapBuffer = map_buffer;
  table.vaUnmapBuffer = unmap_buffer;
  table.vaDestroyBuffer = none;
  table.vaBeginPicture = none;
  table.vaRenderPicture = none;
  table.vaEndPicture = none;
  table.vaSyncSurface = sync_surface;
  table.vaQuerySurfaceStatus = query_surface_status;
  table.vaQueryImageFormats = image_formats;
  table.vaCreateImage = create_image;
  table.vaDeriveImage = derive_image;
  table.vaDestroyImage = destroy_image;
  table.vaSetImagePalette = none;
  table.vaGetImage = get_image;
  table.vaPutImage = none;
  table.vaQuerySubpictureFormats = none;
  table.vaCreateSubpicture = none;
  table.vaDestroySubpicture = none;
  table.vaSetSubpictureImage = none;
  table.vaSetSubpictureChromakey = none;
  table.vaSetSubpictureGlobalAlpha = none;
  table.vaAssociateSubpicture = none;
  table.vaDeassociateSubpicture = none;
  table.vaQueryDisplayAttributes = none;
  table.vaGetDisplayAttributes = none;
  table.vaSetDisplayAttributes = none;
  table.vaQuerySurfaceAttributes = surface_attributes;
  table.vaExportSurfaceHandle = export_surface;
}

void talk(VADriverContextP context) {
  auto* display = static_cast<VADisplayContextP>(context->pDisplayContext);
  if (display->error_callback)
    display->error_callback(display->error_callback_user_context, "fakeva: an error\n");
  if (display->info_callback)
    display->info_callback(display->info_callback_user_context,
                           "fakeva: for your information\n");
}

}  // namespace
}  // namespace fakeva

extern "C" [[gnu::visibility("default")]] VAStatus __vaDriverInit_1_0(
    VADriverContextP context) {
  ++fake_va_counts.starts;
  if (fakeva::told("noisy")) fakeva::talk(context);
  if (fakeva::told("init-fails")) return VA_STATUS_ERROR_OPERATION_FAILED;
  if (fake_va_counts.live++ > 0) ++fake_va_counts.overlaps;
  context->version_major = 1;
  context->version_minor = 0;
  context->max_profiles = 3;
  context->max_entrypoints = 1;
  context->max_attributes = 3;
  context->max_image_formats = 1;
  context->max_subpic_formats = 1;
  context->str_vendor = "fakeva, says what it is told";
  fakeva::fill(*context->vtable);
  (void)fakeva::surface_buffer();
  return VA_STATUS_SUCCESS;
}
