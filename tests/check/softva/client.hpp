// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// A VA client in a few calls, for tests of the driver "dxvasofttest" through libva.

#include <va/va.h>
#include <va/va_drmcommon.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/va/headless_display.hpp"
#include "tests/check/softva/fake_order.hpp"

namespace dxva::softva::test {

// Sets a variable until it goes: check may run all tests in one process.
class ScopedEnvironment {
 public:
  ScopedEnvironment(const char* name, const char* value);
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;
  ~ScopedEnvironment();

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// A display and one config; asserts that what every test needs works.
class Client {
 public:
  explicit Client(VAProfile profile = VAProfileH264High);

  [[nodiscard]] VADisplay display() const { return display_->get(); }
  [[nodiscard]] VAConfigID config() const { return config_; }
  void terminate() { display_.reset(); }

  [[nodiscard]] VASurfaceID surface(uint32_t width, uint32_t height,
                                    uint32_t fourcc = VA_FOURCC_NV12) const;
  [[nodiscard]] VAContextID context(uint32_t width, uint32_t height) const;
  // vaBeginPicture to vaEndPicture with one slice; the last call's status.
  VAStatus decode(VAContextID context, VASurfaceID surface, const FakeOrder& order) const;
  [[nodiscard]] VAImage image(uint32_t fourcc, uint32_t width, uint32_t height) const;

 private:
  std::optional<va::HeadlessDisplay> display_;
  VAConfigID config_ = VA_INVALID_ID;
};

// Exported descriptors, closed at the end, each object mapped.
class Export {
 public:
  Export(const Client& client, VASurfaceID surface,
         uint32_t flags = VA_EXPORT_SURFACE_READ_WRITE | VA_EXPORT_SURFACE_SEPARATE_LAYERS);
  Export(const Export&) = delete;
  Export& operator=(const Export&) = delete;
  ~Export();

  [[nodiscard]] VAStatus status() const { return status_; }
  [[nodiscard]] const VADRMPRIMESurfaceDescriptor& descriptor() const { return descriptor_; }
  [[nodiscard]] VADRMPRIMESurfaceDescriptor& descriptor() { return descriptor_; }
  [[nodiscard]] uint8_t* object(uint32_t index) const { return maps_[index].first; }
  [[nodiscard]] uint64_t object_bytes(uint32_t index) const { return maps_[index].second; }
  // Of plane `plane`, whichever way the layers are.
  [[nodiscard]] uint8_t* row(uint32_t plane, uint32_t y) const;

 private:
  VADRMPRIMESurfaceDescriptor descriptor_{};  // filled while status_ is made
  VAStatus status_;
  std::vector<std::pair<uint8_t*, uint64_t>> maps_;
};

// A mapped image; `row` checks nothing.
class MappedImage {
 public:
  MappedImage(const Client& client, const VAImage& image);
  MappedImage(const MappedImage&) = delete;
  MappedImage& operator=(const MappedImage&) = delete;
  ~MappedImage();
  [[nodiscard]] uint8_t* row(uint32_t plane, uint32_t y) const {
    return data_ + image_.offsets[plane] + size_t{y} * image_.pitches[plane];
  }

 private:
  VADisplay display_;
  VAImage image_;
  uint8_t* data_ = nullptr;
};

// Byte `x` of row `y` of plane `plane` as NV12 or P010 has it when `order` was decoded.
[[nodiscard]] uint8_t expected_byte(const FakeOrder& order, uint32_t fourcc, uint32_t plane,
                                    uint32_t x, uint32_t y);
// Bytes in a row, and rows, of a plane of NV12 or P010.
[[nodiscard]] uint32_t row_bytes(uint32_t fourcc, uint32_t plane, uint32_t width);
[[nodiscard]] uint32_t rows(uint32_t plane, uint32_t height);

// Whether an object with `row(plane, y)` shows `order` in its first width x height pixels.
template <typename Rows>
[[nodiscard]] bool shows(const Rows& pixels, const FakeOrder& order, uint32_t fourcc,
                         uint32_t width, uint32_t height) {
  for (uint32_t plane = 0; plane < 2; ++plane)
    for (uint32_t y = 0; y < rows(plane, height); ++y)
      for (uint32_t x = 0; x < row_bytes(fourcc, plane, width); ++x)
        if (pixels.row(plane, y)[x] != expected_byte(order, fourcc, plane, x, y)) return false;
  return true;
}

// Descriptors this process has open.
[[nodiscard]] size_t open_descriptors();

}  // namespace dxva::softva::test
