// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gl/gl.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "gst/common/gst_ptr.hpp"
#include "gst/dxvagl/caps.hpp"
#include "gst/dxvagl/gl_session.hpp"
#include "gst/dxvagl/import_chain.hpp"
#include "gst/dxvagl/input_picture.hpp"
#include "gst/dxvagl/known_pictures.hpp"
#include "gst/dxvagl/picture_upload.hpp"
#include "gst/dxvagl/plane_textures.hpp"
#include "lib/base/path.hpp"

namespace dxva::gst {

// Turns incoming buffers into textures: by import where everything agrees, else by a copy of
// this frame alone. Knows GstGL and buffers, no pads and no element. Streaming thread only, but
// for what says otherwise.
class Uploader {
 public:
  // GL-thread only: the context came or goes, which may be in the middle of a frame, when
  // somebody else asks for caps. Buffers that are still out keep their own hold.
  [[nodiscard]] bool start(GstGLContext* context);
  void stop();
  // No frame comes any more.
  void finish();
  // Any thread; null before start().
  [[nodiscard]] std::shared_ptr<GlSession> session() const;

  [[nodiscard]] bool set_formats(GstCaps* in, GstCaps* out);

  struct Picture {
    GstPtr<GstBuffer> buffer;
    Step step = Step::CpuCopy;
    Reason reason = Reason::None;                  // why not a higher step
    gl::UploadWay upload = gl::UploadWay::Direct;  // of copies
    bool crop_applied = false;
    bool verified = false;  // its import was compared with what the CPU reads
    // A refusal that the producer has not been told yet.
    struct Refusal {
      BufferIdentity identity;
      Reason reason = Reason::None;
    };
    std::optional<Refusal> news;
  };
  // A picture whose surface has been shown before, if nothing about it has changed; null: ask
  // process().
  [[nodiscard, gnu::hot]] GstPtr<GstBuffer> show_again(GstBuffer* input,
                                                       const ImportWish& wish);
  // In session()'s context. An error means that not even a copy is possible.
  [[nodiscard]] Result<Picture> process(const std::shared_ptr<GlSession>& current,
                                        GstBuffer* input, ImportWish wish);

 private:
  [[nodiscard]] bool is_news(const ImportAnswer& refused);

  [[nodiscard]] Result<GstPtr<GstBuffer>> send_imported(
      GstBuffer* input, const std::shared_ptr<const gl::Imported>& imported);
  [[nodiscard]] Result<GstPtr<GstBuffer>> send_copied(GstBuffer* input,
                                                      const InputPicture& picture,
                                                      gl::UploadWay& way);
  // GL-thread only; the lease is for a buffer that is the import itself, and the commands are
  // those before it.
  [[nodiscard]] Result<GstPtr<GstBuffer>> show(const gl::PlaneTextures& planes,
                                               const std::shared_ptr<void>& lease,
                                               Commands commands);
  [[nodiscard]] Result<GstPtr<GstBuffer>> show(const gl::WholeImage& image,
                                               const std::shared_ptr<void>& lease,
                                               Commands commands);
  [[nodiscard]] Result<GstPtr<GstBuffer>> show(const gl::MemoryObjectSource& picture,
                                               const std::shared_ptr<void>& lease,
                                               Commands commands);
  [[nodiscard]] Result<GstPtr<GstBuffer>> draw(GLuint luma, GLuint chroma);
  [[nodiscard]] GstPtr<GstBuffer> wrap_pooled(const GstVideoInfo& info,
                                              const gl::TextureSpecs& specs,
                                              std::unique_ptr<gl::TextureSet> textures);

  mutable std::mutex lock_;
  std::shared_ptr<GlSession> session_;

  std::atomic<const GlSession*> current_ = nullptr;  // session_, to be compared
  std::shared_ptr<GlSession> active_;                // session_ as seen by the running frame
  InputFormat in_{};
  GstVideoInfo out_{};
  bool draws_ = false;  // the output is RGB made of the input
  std::optional<gl::TextureSpecs> in_specs_;
  std::optional<gl::TextureSpecs> out_specs_;
  video::YuvToRgb matrix_{};
  PictureUploader uploads_;
  ImportWish wish_;  // of the last frame
  KnownPictures known_;
  // Refusals that the producer knows of; those of all frames without a buffer's name.
  std::set<std::pair<BufferIdentity, Reason>> told_;
};

}  // namespace dxva::gst
