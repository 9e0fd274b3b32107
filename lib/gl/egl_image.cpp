// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/egl_image.hpp"

#include "lib/gl/texture_set.hpp"

namespace dxva::gl {
namespace {

Reason reason_of(EGLint error) {
  switch (error) {
    case EGL_BAD_MATCH:
      return Reason::EglBadMatch;
    case EGL_BAD_ALLOC:
      return Reason::EglBadAlloc;
    case EGL_BAD_ACCESS:
      return Reason::EglBadAccess;
    case EGL_BAD_PARAMETER:
      return Reason::EglBadParameter;
    default:
      return Reason::EglError;
  }
}

}  // namespace

Result<EglImage> EglImage::create(const DmabufImportApi& egl,
                                  const ImageAttributes& attributes) {
  const EGLImageKHR image = egl.CreateImage(egl.display, EGL_NO_CONTEXT, EGL_LINUX_DMA_BUF_EXT,
                                            nullptr, attributes.data());
  if (image != EGL_NO_IMAGE_KHR) return EglImage(egl, image);
  const EGLint error = egl.GetError();
  return Error{.code = ErrorCode::Unsupported,
               .call = "eglCreateImageKHR",
               .native = error,
               .text = {},
               .reason = reason_of(error)};
}

Status EglImage::bind(const GlApi& gl, GLenum target, GLuint texture, GLint filter) const {
  gl.clear_errors();
  gl.BindTexture(target, texture);
  const bool storage = egl_->ImageTargetTexStorage && target == GL_TEXTURE_2D;
  if (storage)
    egl_->ImageTargetTexStorage(target, image_, nullptr);
  else
    egl_->ImageTargetTexture2D(target, image_);
  GLenum error = gl.GetError();
  if (error != GL_NO_ERROR && storage && egl_->ImageTargetTexture2D) {
    // The storage form refuses what it cannot make immutable; the older form may still take it.
    egl_->ImageTargetTexture2D(target, image_);
    error = gl.GetError();
  }
  set_sampling(gl, filter, target);
  gl.BindTexture(target, 0);
  if (error == GL_NO_ERROR) return Done{};
  return Error{.code = ErrorCode::Unsupported,
               .call = "glEGLImageTargetTexture2DOES",
               .native = static_cast<long>(error),
               .text = {},
               .reason = Reason::GlError};
}

}  // namespace dxva::gl
