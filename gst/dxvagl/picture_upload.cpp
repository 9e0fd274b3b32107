// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/picture_upload.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "gst/common/gst_ptr.hpp"
#include "gst/common/trace_board.hpp"
#include "gst/dxvagl/upload_choice.hpp"
#include "gst/dxvagl/upload_pool.hpp"
#include "lib/base/trace.hpp"
#include "lib/video/frame_view.hpp"

namespace dxva::gst {
namespace {

using Lease = gl::UploadRing::Lease;

constexpr uint32_t kRingSlots = 3;
constexpr uint64_t kPlaneAlignment = 64;

// What GL wants offsets into a buffer to be a multiple of: one unit of the pixel type. The
// largest power of two in a texel is never less.
uint64_t unit_bytes(const gl::TextureSpec& spec) {
  const uint64_t lowest_bit = spec.texel_bytes & (~spec.texel_bytes + 1);
  return std::min<uint64_t>(lowest_bit, 4);
}

// Where a plane lies in the slot; nothing: not in it, or where GL cannot read it.
std::optional<gl::PlanePixels> in_slot(const gl::UploadSlot& slot,
                                       const gl::PlanePixels& pixels,
                                       const gl::TextureSpec& spec) {
  const auto start = reinterpret_cast<uintptr_t>(slot.data());
  const auto at = reinterpret_cast<uintptr_t>(pixels.data);
  const uint64_t extent = pixels.pitch_bytes * (spec.height - 1) + spec.row_bytes();
  if (at < start || at - start > slot.size_bytes() || extent > slot.size_bytes() - (at - start))
    return std::nullopt;
  const uint64_t unit = unit_bytes(spec);
  if ((at - start) % unit != 0 || pixels.pitch_bytes % unit != 0) return std::nullopt;
  return gl::PlanePixels{.data = reinterpret_cast<const uint8_t*>(at - start),
                         .pitch_bytes = pixels.pitch_bytes,
                         .unpack_buffer = slot.buffer()};
}

struct RingLayout {
  std::array<uint64_t, gl::kMaxTextures> offset{};
  uint64_t size = 0;
};
RingLayout ring_layout(const gl::TextureSpecs& specs) {
  RingLayout out;
  for (size_t p = 0; p < specs.size(); ++p) {
    out.offset[p] = out.size;
    const uint64_t bytes = specs[p].row_bytes() * specs[p].height;
    out.size += (bytes + kPlaneAlignment - 1) / kPlaneAlignment * kPlaneAlignment;
  }
  return out;
}

}  // namespace

struct PictureUploader::Frame {
  std::shared_ptr<GlSession> session;
  GstBuffer* input;
  const MappedPicture& picture;
  const gl::TextureSpecs& specs;
  std::span<const GLuint> textures;
  const Lease* lease = nullptr;  // of the slot that the whole picture lies in
  std::array<gl::PlanePixels, gl::kMaxTextures> planes_in_slot{};

  [[nodiscard]] bool fill(size_t plane, const gl::PlanePixels& pixels) const {
    return gl::upload_plane(session->api(), textures[plane], specs[plane], pixels);
  }
  void find_slot();
};

void PictureUploader::Frame::find_slot() {
  if (gst_buffer_n_memory(input) == 0) return;
  const Lease* found = upload_slot_of(gst_buffer_peek_memory(input, 0));
  if (!found || !found->slot().lives_in(session->thread())) return;
  for (size_t p = 0; p < specs.size(); ++p) {
    const auto pixels = in_slot(found->slot(), picture.plane(p), specs[p]);
    if (!pixels) return;
    planes_in_slot[p] = *pixels;
  }
  lease = found;
}

PictureUploader::Went PictureUploader::direct(const Frame& frame) {
  for (size_t p = 0; p < frame.specs.size(); ++p)
    if (!frame.fill(p, frame.picture.plane(p))) return Went::Refused;
  return Went::Yes;
}

PictureUploader::Went PictureUploader::in_place(const Frame& frame) {
  bool ok = true;
  for (size_t p = 0; ok && p < frame.specs.size(); ++p)
    ok = frame.fill(p, frame.planes_in_slot[p]);
  // Also behind a failure: some planes may be on their way. The buffer goes first, so that who
  // waits for a slot finds one when it wakes.
  frame.session->releases().after_gpu(
      [held = GstPtr<GstBuffer>::share(frame.input), reading = frame.lease->begin_gpu_read(),
       fence = trace::Fence(trace_memory(frame.input))]() mutable {
        fence.signalled();
        held.reset();
        reading.reset();
      });
  return ok ? Went::Yes : Went::Refused;
}

PictureUploader::Went PictureUploader::by_ring(const Frame& frame) {
  const RingLayout layout = ring_layout(frame.specs);
  if (!ring_ || ring_->slot_bytes() != layout.size)
    ring_ = frame.session->make_upload_ring(layout.size, kRingSlots);
  if (!ring_) return Went::Refused;
  // Shared by the two that may end it: us, and the GPU's fence.
  std::shared_ptr<Lease> lease = ring_->take({});
  if (!lease) return Went::NotNow;
  const bool filled = lease->slot().fill([&](uint8_t* to) {
    for (size_t p = 0; p < frame.specs.size(); ++p) {
      const gl::PlanePixels& from = frame.picture.plane(p);
      const auto row_bytes = static_cast<uint32_t>(frame.specs[p].row_bytes());
      video::copy_plane({.data = from.data,
                         .pitch_bytes = static_cast<uint32_t>(from.pitch_bytes),
                         .row_bytes = row_bytes,
                         .rows = frame.specs[p].height},
                        to + layout.offset[p], row_bytes);
    }
  });
  if (!filled) return Went::Refused;
  bool ok = true;
  for (size_t p = 0; ok && p < frame.specs.size(); ++p)
    ok = frame.fill(p, {.data = reinterpret_cast<const uint8_t*>(layout.offset[p]),
                        .pitch_bytes = frame.specs[p].row_bytes(),
                        .unpack_buffer = lease->slot().buffer()});
  frame.session->releases().after_gpu([lease]() mutable { lease.reset(); });
  return ok ? Went::Yes : Went::Refused;
}

PictureUploader::Went PictureUploader::by(gl::UploadWay way, const Frame& frame) {
  switch (way) {
    case gl::UploadWay::Direct:
      return direct(frame);
    case gl::UploadWay::Ring:
      return by_ring(frame);
    case gl::UploadWay::RingInPlace:
      return in_place(frame);
  }
  return Went::Refused;
}

std::optional<gl::UploadWay> PictureUploader::upload(
    const std::shared_ptr<GlSession>& session, GstBuffer* input, const MappedPicture& picture,
    const gl::TextureSpecs& specs, uint64_t bytes, std::span<const GLuint> textures) {
  using enum gl::UploadWay;
  Frame frame{.session = session,
              .input = input,
              .picture = picture,
              .specs = specs,
              .textures = textures};
  frame.find_slot();
  gl::UploadWay way = Direct;
  if (frame.lease)
    way = RingInPlace;
  else if (takes_upload_way(*session, Ring, bytes))
    way = Ring;

  const gl::UploadChoice choice = choice_of(*session, bytes);
  const bool timed = choice.wants(way);
  const gl::GlApi& api = session->api();
  if (timed) api.Finish();  // what was issued before is not ours to pay for
  const auto start = std::chrono::steady_clock::now();
  const Went went = by(way, frame);
  if (timed && went == Went::Yes) {
    api.Finish();
    choice.measured(way, std::chrono::steady_clock::now() - start);
  }
  if (went == Went::Yes) return way;
  // The pixels are still where they were.
  if (way == Direct || direct(frame) != Went::Yes) return std::nullopt;
  // A driver that cannot unpack from buffers of this kind, or has no memory for them. Asked
  // with each picture, that could cost more than the upload.
  if (went == Went::Refused) choice.rule_out(way, "OpenGL refused it");
  return Direct;
}

}  // namespace dxva::gst
