// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/uploader.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "gst/common/cpu_memory.hpp"
#include "gst/common/spare_memory.hpp"
#include "gst/common/trace_board.hpp"
#include "gst/dxvagl/colour.hpp"
#include "gst/dxvagl/lent_textures.hpp"
#include "gst/dxvagl/producer_fences.hpp"
#include "gst/dxvagl/spent_fences.hpp"
#include "lib/base/trace.hpp"

namespace dxva::gst {
namespace {

uint32_t bit_depth(const GstVideoInfo& info) {
  return GST_VIDEO_INFO_FORMAT(&info) == GST_VIDEO_FORMAT_P010_10LE ? 10 : 8;
}

// Keeps an imported buffer with the producer locked out of it until the GPU has read it.
struct ImportLease {
  ImportLease(std::shared_ptr<GlSession> in, std::shared_ptr<const gl::Imported> of,
              GstBuffer* buffer)
      : session(std::move(in)),
        imported(std::move(of)),
        input(GstPtr<GstBuffer>::share(buffer)) {}

  std::shared_ptr<GlSession> session;
  std::shared_ptr<const gl::Imported> imported;
  GstPtr<GstBuffer> input;  // null: nothing was lent

  [[gnu::hot]] ~ImportLease() {
    if (!input) return;
    const bool spare = is_spare(input.get());
    gl::ReleaseQueue::Release release;
    if (trace::listener()) {
      const trace::Fence fence(trace_memory(input.get()));
      release = [held = std::move(input), fence]() mutable {
        fence.signalled();
        held.reset();
      };
    } else {
      // It runs in any case; an owner would not fit into std::function without an allocation.
      release = [held = input.release()] { gst_buffer_unref(held); };
    }
    if (spare)
      session->releases().after_gpu_with_others(std::move(release));
    else
      session->releases().after_gpu(std::move(release));
  }
};

// The memories that the textures had when they were last shown; null: none, or still out.
GstPtr<GstBuffer> lend(const gl::TextureSet& textures, const std::shared_ptr<void>& lease) {
  auto* lent = static_cast<LentTextures*>(textures.attachment.get());
  return lent ? lent->lend(lease) : nullptr;
}

// The same, and new ones where they are spent. GL-thread only.
GstPtr<GstBuffer> lend_or_make(GlSession& session, const GstVideoInfo& info,
                               gl::TextureSet& textures, const std::shared_ptr<void>& lease,
                               Writable writable) {
  const auto* lent = static_cast<LentTextures*>(textures.attachment.get());
  if (!lent || lent->spent(info))
    textures.attachment = LentTextures::make(session.context(), info, textures.names(),
                                             writable, session.releases().visitor());
  return lend(textures, lease);
}

// Brings textures of ours back to the pool.
struct PoolLease {
  std::shared_ptr<GlSession> session;
  gl::TextureSpecs specs;
  std::unique_ptr<gl::TextureSet> textures;

  ~PoolLease() { session->pool().give_back(specs, std::move(textures)); }
};

}  // namespace

bool Uploader::start(GstGLContext* context) {
  auto session = GlSession::create(context);
  if (!session) return false;
  SpentFences::begin(context);
  const std::lock_guard guard(lock_);
  session_ = std::move(session);
  current_ = session_.get();
  return true;
}

void Uploader::stop() {
  std::shared_ptr<GlSession> session;
  {
    const std::lock_guard guard(lock_);
    session = std::exchange(session_, nullptr);
    current_ = nullptr;
  }
  if (!session) return;
  session->cache()->clear();
  session->pool().clear();
  SpentFences::end(session->context());
}

void Uploader::finish() {
  uploads_.forget();
  known_ = {};
  active_.reset();
}

std::shared_ptr<GlSession> Uploader::session() const {
  const std::lock_guard guard(lock_);
  return session_;
}

bool Uploader::set_formats(GstCaps* in, GstCaps* out) {
  const auto input = parse_input(in);
  if (!input || !gst_video_info_from_caps(&out_, out)) return false;
  // Each view has memories of its own there; GstGL's wrapped buffers hold one view. The caps do
  // not offer it.
  if (GST_VIDEO_INFO_MULTIVIEW_MODE(&input->info) == GST_VIDEO_MULTIVIEW_MODE_SEPARATED &&
      GST_VIDEO_INFO_VIEWS(&input->info) > 1)
    return false;
  in_ = *input;
  draws_ = GST_VIDEO_INFO_FORMAT(&in_.info) != GST_VIDEO_INFO_FORMAT(&out_);
  matrix_ = video::yuv_to_rgb(colorimetry_of(in_.info), bit_depth(in_.info));
  // What GL can hold of them is asked when there is a context.
  in_specs_.reset();
  out_specs_.reset();
  told_.clear();
  uploads_.forget();
  known_ = {};
  if (const auto session = this->session()) {
    session->cache()->clear();
    session->self_tests().forgive();
    session->pool().clear();
  }
  return true;
}

bool Uploader::is_news(const ImportAnswer& refused) {
  if (refused.reason == Reason::SystemMemory) return false;  // its producer chose that
  // A producer with a new buffer for each frame must not make this grow.
  if (told_.size() >= 256) told_.clear();
  return told_
      .emplace(is_general(refused.reason) ? BufferIdentity{} : refused.identity, refused.reason)
      .second;
}

GstPtr<GstBuffer> Uploader::wrap_pooled(const GstVideoInfo& info, const gl::TextureSpecs& specs,
                                        std::unique_ptr<gl::TextureSet> textures) {
  gl::TextureSet& shown = *textures;
  std::shared_ptr<PoolLease> lease(
      new PoolLease{.session = active_, .specs = specs, .textures = std::move(textures)});
  auto buffer = lend_or_make(*active_, info, shown, lease, Writable::Yes);
  if (buffer) set_sync_point(buffer.get(), active_->context());
  return buffer;
}

Result<GstPtr<GstBuffer>> Uploader::draw(GLuint luma, GLuint chroma) {
  const Result<const gl::Nv12Pass*> pass = active_->pass();
  if (!pass) return pass.error();
  std::unique_ptr<gl::TextureSet> target = active_->pool().acquire(*out_specs_);
  if (!target) return Error{.code = ErrorCode::NoMemory, .call = "glTexImage2D"};
  const auto drawn =
      (*pass)->draw({.luma = luma,
                     .chroma = chroma,
                     .target = target->names()[0],
                     .width = static_cast<uint32_t>(GST_VIDEO_INFO_WIDTH(&out_)),
                     .height = static_cast<uint32_t>(GST_VIDEO_INFO_HEIGHT(&out_))},
                    matrix_);
  if (!drawn) return drawn.error();
  return wrap_pooled(out_, *out_specs_, std::move(target));
}

Result<GstPtr<GstBuffer>> Uploader::show(const gl::PlaneTextures& planes,
                                         const std::shared_ptr<void>& lease,
                                         Commands commands) {
  const auto names = planes.textures->names();
  if (draws_) return draw(names[0], names[1]);
  auto buffer = lend_or_make(*active_, out_, *planes.textures, lease, Writable::No);
  if (!buffer) {
    // Some producers send a buffer while it is still out.
    buffer = wrap_textures(active_->context(), out_, names, lease, Writable::No);
    if (buffer) (void)add_sync_meta(buffer.get(), active_->context());
  }
  if (buffer && commands == Commands::Issued) set_sync_point(buffer.get(), active_->context());
  return buffer;
}

Result<GstPtr<GstBuffer>> Uploader::show(const gl::WholeImage& image,
                                         const std::shared_ptr<void>&, Commands) {
  const Result<const gl::WholeImagePass*> pass = active_->whole_image_pass(image.target);
  if (!pass) return pass.error();
  std::unique_ptr<gl::TextureSet> target = active_->pool().acquire(*out_specs_);
  if (!target) return Error{.code = ErrorCode::NoMemory, .call = "glTexImage2D"};
  const gl::TextureSpec& spec = out_specs_->front();
  const auto drawn = (*pass)->draw(
      image, {.texture = target->names()[0], .width = spec.width, .height = spec.height});
  if (!drawn) return drawn.error();
  return wrap_pooled(out_, *out_specs_, std::move(target));
}

Result<GstPtr<GstBuffer>> Uploader::show(const gl::MemoryObjectSource& picture,
                                         const std::shared_ptr<void>&, Commands) {
  gl::MemoryObjectPass& pass = active_->memory_objects()->pass();
  std::unique_ptr<gl::TextureSet> target = active_->pool().acquire(*out_specs_);
  if (!target) return Error{.code = ErrorCode::NoMemory, .call = "glTexImage2D"};
  const auto names = target->names();
  Status drawn = draws_ ? pass.draw_rgb(*picture, names[0], matrix_)
                        : pass.draw_plane(*picture, 0, names[0]);
  if (drawn && !draws_) drawn = pass.draw_plane(*picture, 1, names[1]);
  if (!drawn) return drawn.error();
  return wrap_pooled(out_, *out_specs_, std::move(target));
}

Result<GstPtr<GstBuffer>> Uploader::send_imported(
    GstBuffer* input, const std::shared_ptr<const gl::Imported>& imported) {
  std::optional<Result<GstPtr<GstBuffer>>> out;
  auto lease = std::make_shared<ImportLease>(active_, imported, input);
  ProducerFences fences = ProducerFences::of(input);
  fences.prepare(active_->native_fence());
  // A surface that has been shown as it is needs no trip to the GL thread to be shown again.
  const auto* planes = std::get_if<gl::PlaneTextures>(&imported->source);
  if (planes && !draws_ && !fences.any()) {
    if (auto buffer = lend(*planes->textures, lease)) return buffer;
  }
  const Commands commands = fences.any() ? Commands::Issued : Commands::None;
  active_->thread().run([&] {
    active_->releases().visit();
    fences.wait_in_gl(active_->native_fence());
    out.emplace(std::visit([&](const auto& source) { return show(source, lease, commands); },
                           imported->source));
    // Behind a shader pass the input is free when the pass is done, whoever keeps the output.
    lease.reset();
  });
  return std::move(*out);
}

Result<GstPtr<GstBuffer>> Uploader::send_copied(GstBuffer* input, const InputPicture& picture,
                                                gl::UploadWay& way) {
  if (!in_specs_)
    return Error{.code = ErrorCode::Unsupported,
                 .call = "",
                 .text = "this context has no textures for the format",
                 .reason = Reason::FormatUnsupported};
  for (const gl::TextureSpec& spec : *in_specs_) {
    const auto limit =
        static_cast<uint32_t>(std::max(0, active_->api().facts.max_texture_size));
    if (spec.width > limit || spec.height > limit)
      return refusal(Reason::TextureTooLarge,
                     "GL_MAX_TEXTURE_SIZE is " + std::to_string(limit));
  }
  ProducerFences::of(input).wait();
  const Result<MappedPicture> mapped = MappedPicture::map(input, picture, *in_specs_);
  if (!mapped) return mapped.error();
  std::optional<Result<GstPtr<GstBuffer>>> out;
  active_->thread().run([&] {
    active_->releases().visit();
    std::unique_ptr<gl::TextureSet> textures = active_->pool().acquire(*in_specs_);
    if (!textures) {
      out.emplace(Error{.code = ErrorCode::NoMemory, .call = "glTexImage2D"});
      return;
    }
    const auto went = uploads_.upload(active_, input, *mapped, *in_specs_,
                                      GST_VIDEO_INFO_SIZE(&in_.info), textures->names());
    if (!went) {
      out.emplace(Error{.code = ErrorCode::Failed, .call = "glTexSubImage2D"});
      return;
    }
    way = *went;
    if (!draws_) {
      out.emplace(wrap_pooled(out_, *in_specs_, std::move(textures)));
      return;
    }
    out.emplace(draw(textures->names()[0], textures->names()[1]));
    // GL runs commands in order: a later upload into these textures waits for the draw.
    active_->pool().give_back(*in_specs_, std::move(textures));
  });
  return std::move(*out);
}

GstPtr<GstBuffer> Uploader::show_again(GstBuffer* input, const ImportWish& wish) {
  // Only the wish of frames that are not drawn leads to what is known.
  if (!active_ || current_ != active_.get() || wish != wish_) return {};
  auto imported = known_.find(*active_, input);
  if (!imported) return {};
  const auto& textures = *std::get<gl::PlaneTextures>(imported->source).textures;
  const auto lease = std::make_shared<ImportLease>(active_, std::move(imported), input);
  auto buffer = lend(textures, lease);
  if (buffer)
    active_->cache()->hit_again();
  else
    lease->input.reset();
  return buffer;
}

Result<Uploader::Picture> Uploader::process(const std::shared_ptr<GlSession>& current,
                                            GstBuffer* input, ImportWish wish) {
  wish.draws = draws_;
  if (current != active_) {
    // Another context may hold other formats.
    active_ = current;
    uploads_.forget();
    known_ = {};
    in_specs_.reset();
    out_specs_.reset();
  }
  if (!in_specs_) in_specs_ = texture_specs(active_->context(), active_->api(), in_.info);
  if (!out_specs_) out_specs_ = texture_specs(active_->context(), active_->api(), out_);
  if (!out_specs_)
    return Error{.code = ErrorCode::Unsupported, .text = "no textures for the output format"};

  Result<InputPicture> picture = look_at(input, in_.info, in_.modifier);
  if (!picture) return picture.error();
  picture->opaque_uuids = in_.opaque_uuids;

  if (wish != wish_) {
    // What one way gave or refused says nothing about another.
    active_->cache()->clear();
    wish_ = wish;
  }
  Picture out{.crop_applied = picture->crop_applied};
  std::optional<trace::Timed> importing(trace::Stage::Import);
  ImportAnswer answer = import_frame(*active_, input, *picture, wish);
  if (answer.imported) {
    auto sent = send_imported(input, answer.imported);
    if (sent && *sent) {
      out.buffer = std::move(*sent);
      out.step = answer.imported->step;
      out.verified = answer.verified;
      // What is drawn from, if only into planes of its own, is drawn from with each frame.
      if (!draws_ && std::holds_alternative<gl::PlaneTextures>(answer.imported->source))
        known_.keep(*active_, input, answer.imported);
      return out;
    }
    answer.reason = Reason::GlError;
  }
  importing.reset();
  out.reason = answer.reason;
  if (is_news(answer))
    out.news = Picture::Refusal{.identity = answer.identity, .reason = out.reason};

  const trace::Timed uploading(trace::Stage::Upload);
  Result<GstPtr<GstBuffer>> copied = send_copied(input, *picture, out.upload);
  if (!copied) return copied.error();
  if (!*copied) return Error{.code = ErrorCode::Failed, .call = "gst_gl_memory_setup_buffer"};
  // Not where this picture alone was refused: its surface would be the decoder's favourite.
  if (is_general(answer.reason)) say_read_by_cpu(input);
  out.buffer = std::move(*copied);
  return out;
}

}  // namespace dxva::gst
