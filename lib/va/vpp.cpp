// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/vpp.hpp"

#include <va/va_vpp.h>

#include <utility>

#include "lib/base/log.hpp"
#include "lib/va/cpu_mapper.hpp"
#include "lib/video/frame_view.hpp"

namespace dxva::va {

Result<std::unique_ptr<SurfaceCopier>> SurfaceCopier::create(std::shared_ptr<Display> display,
                                                             const Config& config) {
  auto pool = SurfacePool::create(display, {.fourcc = config.fourcc,
                                            .width = config.width,
                                            .height = config.height,
                                            .count = config.count,
                                            .modifiers = config.modifiers,
                                            .use = SurfaceUse::Copies});
  if (!pool) return pool.error();
  std::unique_ptr<SurfaceCopier> copier(
      new SurfaceCopier(std::move(display), config, std::move(*pool)));
  if (auto opened = copier->open_processor(); !opened) copier->next_way(opened.error());
  return copier;
}

SurfaceCopier::~SurfaceCopier() {
  close_processor();
}

Status SurfaceCopier::open_processor() {
  VADisplay va = display_->get();
  if (auto made = check(
          vaCreateConfig(va, VAProfileNone, VAEntrypointVideoProc, nullptr, 0, &processor_),
          "vaCreateConfig(VideoProc)");
      !made) {
    processor_ = VA_INVALID_ID;
    made.error().code = ErrorCode::Unsupported;
    return made;
  }
  std::vector<VASurfaceID> targets = pool_->ids();
  auto made =
      check(vaCreateContext(va, processor_, static_cast<int>(config_.width),
                            static_cast<int>(config_.height), VA_PROGRESSIVE, targets.data(),
                            static_cast<int>(targets.size()), &context_),
            "vaCreateContext(VideoProc)");
  if (!made) {
    context_ = VA_INVALID_ID;
    close_processor();
    made.error().code = ErrorCode::Unsupported;
  }
  return made;
}

void SurfaceCopier::close_processor() {
  if (context_ != VA_INVALID_ID) vaDestroyContext(display_->get(), context_);
  if (processor_ != VA_INVALID_ID) vaDestroyConfig(display_->get(), processor_);
  context_ = processor_ = VA_INVALID_ID;
}

Status SurfaceCopier::run_processor(VASurfaceID from, VASurfaceID to) {
  VADisplay va = display_->get();
  // No regions: all of both, which have one size. The same colours on both sides, namely none
  // told, so that there is nothing to convert (Mesa's processor changes range and matrix
  // otherwise).
  VAProcPipelineParameterBuffer pipeline{};
  pipeline.surface = from;
  pipeline.surface_color_standard = VAProcColorStandardNone;
  pipeline.output_color_standard = VAProcColorStandardNone;
  pipeline.filter_flags = VA_FRAME_PICTURE;
  VABufferID buffer = VA_INVALID_ID;
  auto done = check(vaCreateBuffer(va, context_, VAProcPipelineParameterBufferType,
                                   sizeof pipeline, 1, &pipeline, &buffer),
                    "vaCreateBuffer(VideoProc)");
  if (!done) return done;
  done = check(vaBeginPicture(va, context_, to), "vaBeginPicture(VideoProc)");
  if (done) {
    done = check(vaRenderPicture(va, context_, &buffer, 1), "vaRenderPicture(VideoProc)");
    // Always, or the context stays in the middle of a picture.
    auto ended = check(vaEndPicture(va, context_), "vaEndPicture(VideoProc)");
    if (done) done = ended;
  }
  vaDestroyBuffer(va, buffer);
  return done;
}

Status SurfaceCopier::run_va_copy(VASurfaceID from, VASurfaceID to) {
  if (!display_->api().copy)
    return Error{.code = ErrorCode::Unsupported, .call = "vaCopy", .text = "not in this libva"};
  VACopyObject target{};
  target.obj_type = VACopyObjectSurface;
  target.object.surface_id = to;
  VACopyObject source = target;
  source.object.surface_id = from;
  VACopyOption option{};
  option.bits.va_copy_sync = VA_EXEC_SYNC;
  option.bits.va_copy_mode = VA_EXEC_MODE_DEFAULT;
  return check(display_->api().copy(display_->get(), &target, &source, option), "vaCopy");
}

// The whole life of one copy in the pool's session.
Status SurfaceCopier::run(Way way, const Surface& from, Surface& to) {
  auto done = way == Way::VideoProc ? run_processor(from.id(), to.id())
                                    : run_va_copy(from.id(), to.id());
  if (!done) return done;
  const auto synced = to.sync();
  if (!synced) return synced.error();
  if (*synced >= accel::Severity::Significant)
    return Error{.code = ErrorCode::Failed, .call = "copy of a surface", .text = "damaged"};
  return Done{};
}

Result<SurfaceLease> SurfaceCopier::copy(const Surface& from) {
  while (works_) {
    auto target = pool_->acquire();
    if (!target) return target.error();
    // Before the sync and in any case: the pool knows no pair that is left open.
    pool_->end_pairs(accel::Severity::None);
    auto done = run(way_, from, **target);
    if (done) return std::move(*target);
    if (done.error().code == ErrorCode::Busy) return done.error();
    next_way(done.error());
  }
  return Error{.code = ErrorCode::Unsupported,
               .call = "copy of a surface",
               .text = "the device has no way that works"};
}

bool SurfaceCopier::prove(const Surface& from, const Surface& copied) {
  if (proven_) return true;
  const auto original =
      map_for_read(display_, from.id(), from.fourcc(), from.width(), from.height());
  const auto copy =
      map_for_read(display_, copied.id(), copied.fourcc(), copied.width(), copied.height());
  // Nothing to compare with: then what the driver says must do.
  if (!original || !copy) {
    proven_ = true;
    return true;
  }
  if (!video::same_pixels(original->view(), copy->view())) {
    next_way(Error{.code = ErrorCode::Failed,
                   .call = "copy of a surface",
                   .text = "the device's copy is another picture",
                   .reason = Reason::SelfTestMismatch});
    return false;
  }
  proven_ = video::shows_its_layout(original->view());
  return true;
}

void SurfaceCopier::next_way(const Error& why) {
  const auto drop = [this](Way way, std::string text) {
    DXVA_INFO(Va, "surfaces are not copied by %s: %s", name_of(way), text.c_str());
    dropped_.push_back({.name = name_of(way), .why = std::move(text)});
  };
  drop(way_, why.describe());
  proven_ = false;
  if (way_ == Way::VaCopy) {
    works_ = false;
    return;
  }
  way_ = Way::VaCopy;
  close_processor();
  if (display_->api().copy) return;
  drop(Way::VaCopy, "not in this libva");
  works_ = false;
}

const char* SurfaceCopier::name_of(Way way) {
  return way == Way::VideoProc ? "video-processor" : "va-copy";
}

}  // namespace dxva::va
