// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/softva/client.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tests/check/support/check.hpp"

namespace dxva::softva::test {

ScopedEnvironment::ScopedEnvironment(const char* name, const char* value) : name_(name) {
  if (const char* before = std::getenv(name)) before_ = before;
  ::setenv(name, value, 1);
}

ScopedEnvironment::~ScopedEnvironment() {
  if (before_)
    ::setenv(name_, before_->c_str(), 1);
  else
    ::unsetenv(name_);
}

Client::Client(VAProfile profile) {
  auto made = va::make_headless_display("dxvasofttest");
  if (!made) g_error("no display: %s", made.error().describe().c_str());
  display_.emplace(std::move(*made));
  const VAStatus status =
      vaCreateConfig(display(), profile, VAEntrypointVLD, nullptr, 0, &config_);
  fail_unless_equals_int(status, VA_STATUS_SUCCESS);
}

VASurfaceID Client::surface(uint32_t width, uint32_t height, uint32_t fourcc) const {
  VASurfaceAttrib format{};
  format.type = VASurfaceAttribPixelFormat;
  format.flags = VA_SURFACE_ATTRIB_SETTABLE;
  format.value.type = VAGenericValueTypeInteger;
  format.value.value.i = static_cast<int>(fourcc);
  VASurfaceID id = VA_INVALID_SURFACE;
  const uint32_t rt_format =
      fourcc == VA_FOURCC_P010 ? VA_RT_FORMAT_YUV420_10 : VA_RT_FORMAT_YUV420;
  const VAStatus status =
      vaCreateSurfaces(display(), rt_format, width, height, &id, 1, &format, 1);
  fail_unless_equals_int(status, VA_STATUS_SUCCESS);
  return id;
}

VAContextID Client::context(uint32_t width, uint32_t height) const {
  VAContextID id = VA_INVALID_ID;
  const VAStatus status =
      vaCreateContext(display(), config_, static_cast<int>(width), static_cast<int>(height),
                      VA_PROGRESSIVE, nullptr, 0, &id);
  fail_unless_equals_int(status, VA_STATUS_SUCCESS);
  return id;
}

VAStatus Client::decode(VAContextID context, VASurfaceID surface,
                        const FakeOrder& order) const {
  FakeOrder slice = order;
  VABufferID buffer = VA_INVALID_ID;
  VAStatus status = vaCreateBuffer(display(), context, VASliceDataBufferType, sizeof slice, 1,
                                   &slice, &buffer);
  if (status != VA_STATUS_SUCCESS) return status;
  status = vaBeginPicture(display(), context, surface);
  if (status == VA_STATUS_SUCCESS) status = vaRenderPicture(display(), context, &buffer, 1);
  // Its contents were taken: a client may destroy it before vaEndPicture.
  vaDestroyBuffer(display(), buffer);
  if (status == VA_STATUS_SUCCESS) status = vaEndPicture(display(), context);
  return status;
}

VAImage Client::image(uint32_t fourcc, uint32_t width, uint32_t height) const {
  VAImageFormat format{};
  format.fourcc = fourcc;
  VAImage image{};
  const VAStatus status = vaCreateImage(display(), &format, static_cast<int>(width),
                                        static_cast<int>(height), &image);
  fail_unless_equals_int(status, VA_STATUS_SUCCESS);
  return image;
}

Export::Export(const Client& client, VASurfaceID surface, uint32_t flags)
    : status_(vaExportSurfaceHandle(client.display(), surface,
                                    VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2, flags,
                                    &descriptor_)) {
  if (status_ != VA_STATUS_SUCCESS) return;
  for (uint32_t i = 0; i < descriptor_.num_objects; ++i) {
    const int fd = descriptor_.objects[i].fd;
    const auto size = static_cast<uint64_t>(::lseek(fd, 0, SEEK_END));
    void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    fail_unless(data != MAP_FAILED);
    maps_.emplace_back(static_cast<uint8_t*>(data), size);
  }
}

Export::~Export() {
  for (const auto& [data, size] : maps_) ::munmap(data, size);
  if (status_ == VA_STATUS_SUCCESS)
    for (uint32_t i = 0; i < descriptor_.num_objects; ++i) ::close(descriptor_.objects[i].fd);
}

uint8_t* Export::row(uint32_t plane, uint32_t y) const {
  const bool composed = descriptor_.num_layers == 1;
  const auto& layer = descriptor_.layers[composed ? 0 : plane];
  const uint32_t within = composed ? plane : 0;
  return object(layer.object_index[within]) + layer.offset[within] +
         size_t{y} * layer.pitch[within];
}

MappedImage::MappedImage(const Client& client, const VAImage& image)
    : display_(client.display()), image_(image) {
  void* data = nullptr;
  const VAStatus status = vaMapBuffer(display_, image.buf, &data);
  fail_unless_equals_int(status, VA_STATUS_SUCCESS);
  data_ = static_cast<uint8_t*>(data);
}

MappedImage::~MappedImage() {
  vaUnmapBuffer(display_, image_.buf);
}

uint8_t expected_byte(const FakeOrder& order, uint32_t fourcc, uint32_t plane, uint32_t x,
                      uint32_t y) {
  constexpr uint32_t kPair = 2;
  const uint32_t sample_bytes = fourcc == VA_FOURCC_P010 ? 2 : 1;
  const uint32_t sample = x / sample_bytes;
  const uint32_t column = plane ? sample / kPair : sample;
  const uint32_t component = plane ? 1 + sample % kPair : 0;
  uint32_t value = fake_sample(order, component, column, y);
  if (plane && order.gray) value = 1u << (order.bit_depth - 1);
  if (sample_bytes == 2) value <<= 16 - order.bit_depth;
  return static_cast<uint8_t>(value >> (x % sample_bytes * 8));
}

uint32_t row_bytes(uint32_t fourcc, uint32_t plane, uint32_t width) {
  const uint32_t samples = plane ? (width + 1) / 2 * 2 : width;
  return samples * (fourcc == VA_FOURCC_P010 ? 2 : 1);
}

uint32_t rows(uint32_t plane, uint32_t height) {
  return plane ? (height + 1) / 2 : height;
}

size_t open_descriptors() {
  // The iterator's own descriptor is in every count alike.
  const std::filesystem::directory_iterator folder("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(folder), end(folder)));
}

}  // namespace dxva::softva::test
