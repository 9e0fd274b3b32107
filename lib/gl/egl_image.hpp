// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <utility>

#include "lib/base/result.hpp"
#include "lib/gl/egl_api.hpp"

namespace dxva::gl {

// What eglCreateImageKHR is told about a dma-buf; ends itself with EGL_NONE.
class ImageAttributes {
 public:
  void add(EGLint name, uint64_t value) {
    assert(count_ + 2 < list_.size());
    list_[count_++] = name;
    list_[count_++] = static_cast<EGLint>(value);
    list_[count_] = EGL_NONE;
  }
  [[nodiscard]] const EGLint* data() const { return list_.data(); }

 private:
  std::array<EGLint, 40> list_{EGL_NONE};
  size_t count_ = 0;
};

// A dma-buf as EGL knows it: only the way into a texture, which keeps the memory. GL-thread
// only.
class EglImage {
 public:
  // Everything in `attributes` was proved before: drivers do not check.
  [[nodiscard]] static Result<EglImage> create(const DmabufImportApi& egl,
                                               const ImageAttributes& attributes);
  EglImage(EglImage&& other) noexcept
      : egl_(other.egl_), image_(std::exchange(other.image_, EGL_NO_IMAGE_KHR)) {}
  EglImage& operator=(EglImage&&) = delete;
  ~EglImage() {
    if (image_ != EGL_NO_IMAGE_KHR) egl_->DestroyImage(egl_->display, image_);
  }

  // Makes it what `texture` shows.
  [[nodiscard]] Status bind(const GlApi& gl, GLenum target, GLuint texture, GLint filter) const;

 private:
  EglImage(const DmabufImportApi& egl, EGLImageKHR image) : egl_(&egl), image_(image) {}

  const DmabufImportApi* egl_;
  EGLImageKHR image_;
};

}  // namespace dxva::gl
