// SPDX-License-Identifier: LGPL-2.1-or-later

// A picture that the CPU can read becomes textures: written into a slot of our ring in place,
// copied into one, from memory, and as GStreamer's glupload does it. All four begin with a
// decoded picture that somebody still has to copy out, because a slot that is written in place
// saves a copy of somebody else's.

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "lib/gl/egl_api.hpp"
#include "lib/gl/nv12_pass.hpp"
#include "lib/gl/release_queue.hpp"
#include "lib/gl/upload_choice.hpp"
#include "lib/gl/upload_ring.hpp"
#include "tests/gpu/bench.hpp"

namespace dxva::gpu {
namespace {

constexpr uint32_t kSlots = 4;  // as dxvaglupload's pool has
constexpr std::chrono::seconds kPatience{1};
constexpr std::chrono::milliseconds kMoment{1};

class Uploads {
 public:
  explicit Uploads(const Bench& bench)
      : bench_(bench),
        api_(bench.rig.gl()),
        memory_(bench.pixels.size()),
        releases_(bench.rig.egl->thread(), bench.rig.egl->gl(),
                  gl::load_egl_fence(bench.rig.egl->display(), test::EglRig::functions())),
        ring_(gl::UploadRing::create(bench.rig.egl->thread(), bench.rig.egl->gl(),
                                     bench.pixels.size(), kSlots)) {
    if (ring_ && !ring_->is_mapped()) ring_ = nullptr;
    if (api_.unpack_buffers) api_.unpack_buffers->GenBuffers(1, &buffer_);
    if (ring_) filled_ = ring_->take(kPatience);
    if (filled_) write(bench_.pixels, filled_->slot().data());
  }
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;
  ~Uploads() {
    filled_.reset();
    // Slots die with the ring's last owner, and not in the thread that waits for fences.
    api_.Finish();
    while (ring_ && ring_.use_count() > 1) std::this_thread::sleep_for(kMoment);
    if (buffer_ != 0) api_.unpack_buffers->DeleteBuffers(1, &buffer_);
  }

  // --- the upload alone
  bool from_memory() { return bench_.upload(bench_.pixels.data(), 0); }
  bool from_slot() { return filled_ && bench_.upload(nullptr, filled_->slot().buffer()); }
  bool write_slot() {
    if (filled_) write(bench_.pixels, filled_->slot().data());
    return filled_ != nullptr;
  }

  // --- from the decoded picture on
  bool in_place() { return by_slot(bench_.pixels); }
  bool by_ring() {
    write(bench_.pixels, memory_.data());
    return by_slot(memory_);
  }
  bool direct() {
    write(bench_.pixels, memory_.data());
    return bench_.upload(memory_.data(), 0);
  }
  // A buffer object that is orphaned, and textures that nobody uses again.
  bool as_glupload() {
    write(bench_.pixels, memory_.data());
    if (buffer_ == 0) return false;
    const gl::UnpackBufferFunctions& buffers = *api_.unpack_buffers;
    const auto size = static_cast<GLsizeiptr>(memory_.size());
    api_.BindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer_);
    buffers.BufferData(GL_PIXEL_UNPACK_BUFFER, size, nullptr, GL_STREAM_DRAW);
    void* mapped = buffers.MapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, size,
                                          GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
    if (mapped) std::memcpy(mapped, memory_.data(), memory_.size());
    const bool kept = mapped && buffers.UnmapBuffer(GL_PIXEL_UNPACK_BUFFER) == GL_TRUE;
    api_.BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    const auto textures = bench_.make_planes();
    return kept && textures && bench_.upload(*textures, nullptr, buffer_);
  }

 private:
  using Lease = gl::UploadRing::Lease;

  static void write(const std::vector<uint8_t>& from, uint8_t* to) {
    std::memcpy(to, from.data(), from.size());
  }

  bool by_slot(const std::vector<uint8_t>& from) {
    if (!ring_) return false;
    std::shared_ptr<Lease> lease = ring_->take(kPatience);
    if (!lease) return false;
    write(from, lease->slot().data());
    const bool ok = bench_.upload(nullptr, lease->slot().buffer());
    releases_.after_gpu([lease, reading = lease->begin_gpu_read()]() mutable {
      lease.reset();
      reading.reset();
    });
    return ok;
  }

  const Bench& bench_;
  const gl::GlApi& api_;
  std::vector<uint8_t> memory_;  // a producer's own
  gl::ReleaseQueue releases_;
  std::shared_ptr<gl::UploadRing> ring_;
  std::unique_ptr<Lease> filled_;
  GLuint buffer_ = 0;
};

std::string ratio(uint64_t time, uint64_t to) {
  if (time == Bench::kNever || to == Bench::kNever || to == 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", static_cast<double>(time) / static_cast<double>(to));
  return text;
}

// What dxvaglupload would choose here, measured as it measures.
std::string choice(const Bench& bench, Uploads& uploads) {
  using enum gl::UploadWay;
  const bool mapped = uploads.from_slot();
  const gl::UploadChoice choice(bench.rig.gl().facts.renderer, mapped ? RingInPlace : Direct,
                                bench.pixels.size());
  const auto turn = [&](gl::UploadWay way, const Bench::Work& work) {
    bench.rig.gl().Finish();
    const auto begin = std::chrono::steady_clock::now();
    (void)work();
    bench.rig.gl().Finish();
    choice.measured(way, std::chrono::steady_clock::now() - begin);
  };
  for (uint32_t i = 0; i < gl::UploadChoice::kRules.turns; ++i) {
    turn(Direct, [&] { return uploads.from_memory(); });
    turn(Ring, [&] { return uploads.in_place(); });  // the copy into the slot is ours there
    turn(RingInPlace, [&] { return uploads.from_slot(); });
  }
  return gl::upload_way_name(choice.takes(RingInPlace) ? RingInPlace
                             : choice.takes(Ring)      ? Ring
                                                       : Direct);
}

}  // namespace

void measure_uploads(const Bench& bench, size_t column, std::vector<Row>& rows) {
  Column cells(bench, column, rows);
  Uploads uploads(bench);
  const auto alone =
      bench.times({[&] { return uploads.from_memory(); }, [&] { return uploads.from_slot(); },
                   [&] { return uploads.write_slot(); }});
  cells.add_time("upload alone: glTexSubImage2D from memory, both planes", alone[0]);
  cells.add_time("upload alone: from a slot of the ring that is filled already", alone[1]);
  cells.add_time("memcpy of the picture into a slot", alone[2]);

  const std::vector<Bench::Work> ways = {
      [&] { return uploads.in_place(); }, [&] { return uploads.by_ring(); },
      [&] { return uploads.direct(); }, [&] { return uploads.as_glupload(); }};
  constexpr const char* kNames[] = {
      "ring-in-place: copied into the slot, uploaded",
      "ring: copied into memory, then into the slot, uploaded",
      "direct: copied into memory, uploaded",
      "as glupload: copied into memory, then into an orphaned buffer, new textures, uploaded"};
  const auto finished = bench.times(ways);
  const auto streamed = bench.times_in_a_stream(ways);
  for (size_t w = 0; w < ways.size(); ++w) cells.add_time(kNames[w], finished[w]);
  for (size_t w = 0; w < ways.size(); ++w)
    cells.add_time(std::string("a picture of a stream, ") + kNames[w], streamed[w]);
  cells.add_text("ring-in-place / as glupload, finished", ratio(finished[0], finished[3]));
  cells.add_text("ring-in-place / as glupload, in a stream", ratio(streamed[0], streamed[3]));
  cells.add_text("dxvaglupload chooses", choice(bench, uploads));

  auto pass = gl::Nv12Pass::create(bench.rig.egl->thread(), bench.rig.egl->gl());
  const video::YuvToRgb matrix = video::yuv_to_rgb({}, 8);
  cells.add("RGBA pass from two textures", [&] {
    return pass && bool((*pass)->draw({.luma = bench.planes->names()[0],
                                       .chroma = bench.planes->names()[1],
                                       .target = bench.rgba->names()[0],
                                       .width = bench.width,
                                       .height = bench.height},
                                      matrix));
  });
}

}  // namespace dxva::gpu
