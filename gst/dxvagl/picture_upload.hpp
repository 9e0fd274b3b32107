// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>
#include <span>

#include "gst/dxvagl/gl_session.hpp"
#include "gst/dxvagl/input_picture.hpp"
#include "lib/gl/texture_pool.hpp"
#include "lib/gl/upload_choice.hpp"

namespace dxva::gst {

// Fills textures with pictures that the CPU can read, each by the fastest way that it can go:
// from the upload slot that it lies in, through a slot of our own, or from its memory. Of one
// stream; GL-thread only.
class PictureUploader {
 public:
  // Nothing: GL refused. A picture that lies in a slot is held until the GPU has read it,
  // others were read when this returns. `picture` is `input`, mapped; `bytes` is its format's
  // size.
  [[nodiscard]] std::optional<gl::UploadWay> upload(
      const std::shared_ptr<GlSession>& session, GstBuffer* input, const MappedPicture& picture,
      const gl::TextureSpecs& specs, uint64_t bytes, std::span<const GLuint> textures);
  // The stream or the context is another one now.
  void forget() { ring_.reset(); }

 private:
  struct Frame;
  enum class Went : uint8_t { Yes, NotNow, Refused };  // Refused: by OpenGL
  [[nodiscard]] static Went direct(const Frame& frame);
  [[nodiscard]] static Went in_place(const Frame& frame);
  [[nodiscard]] Went by_ring(const Frame& frame);
  [[nodiscard]] Went by(gl::UploadWay way, const Frame& frame);

  std::shared_ptr<gl::UploadRing> ring_;  // of pictures that come in memory of others
};

}  // namespace dxva::gst
