// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/gpu/bench.hpp"

#include <algorithm>
#include <chrono>

namespace dxva::gpu {
namespace {

constexpr int kWarmUps = 5;
constexpr int kRuns = 100;
// A software renderer takes tens of milliseconds for a picture: fewer runs are as good there.
constexpr int kSoftwareRuns = 9;
constexpr int kStreams = 5;

using Clock = std::chrono::steady_clock;

uint64_t since(Clock::time_point begin) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count());
}

uint64_t median(std::vector<uint64_t> taken) {
  const auto middle = taken.begin() + static_cast<ptrdiff_t>(taken.size() / 2);
  std::nth_element(taken.begin(), middle, taken.end());
  return *middle;
}

}  // namespace

Bench::Bench(Rig& on, uint32_t width_texels, uint32_t height_texels)
    : rig(on),
      width(width_texels),
      height(height_texels),
      pixels(size_t{width} * height * 3 / 2),
      specs{{{.width = width,
              .height = height,
              .internal_format = GL_R8,
              .format = GL_RED,
              .type = GL_UNSIGNED_BYTE,
              .texel_bytes = 1},
             {.width = width / 2,
              .height = height / 2,
              .internal_format = GL_RG8,
              .format = GL_RG,
              .type = GL_UNSIGNED_BYTE,
              .texel_bytes = 2}}},
      planes(make_planes()),
      rgba(gl::TextureSet::create(rig.egl->thread(), rig.egl->gl(), 1)) {
  ready = planes && gl::allocate_texture(rig.gl(), rgba->names()[0],
                                         {.width = width,
                                          .height = height,
                                          .internal_format = GL_RGBA8,
                                          .format = GL_RGBA,
                                          .type = GL_UNSIGNED_BYTE,
                                          .texel_bytes = 4});
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 31 >> 3);
}

std::unique_ptr<gl::TextureSet> Bench::make_planes() const {
  auto out = gl::TextureSet::create(rig.egl->thread(), rig.egl->gl(), 2);
  for (size_t p = 0; p < specs.size(); ++p)
    if (!gl::allocate_texture(rig.gl(), out->names()[p], specs[p])) return nullptr;
  return out;
}

bool Bench::upload(const gl::TextureSet& to, const uint8_t* from, GLuint unpack_buffer) const {
  return gl::upload_plane(
             rig.gl(), to.names()[0], specs[0],
             {.data = from, .pitch_bytes = width, .unpack_buffer = unpack_buffer}) &&
         gl::upload_plane(rig.gl(), to.names()[1], specs[1],
                          {.data = from + size_t{width} * height,
                           .pitch_bytes = width,
                           .unpack_buffer = unpack_buffer});
}

int Bench::runs() const {
  return rig.gl().facts.software ? kSoftwareRuns : kRuns;
}

std::vector<uint64_t> Bench::times(const std::vector<Work>& works) const {
  std::vector<std::vector<uint64_t>> taken(works.size());
  for (int i = -kWarmUps; i < runs(); ++i)
    for (size_t w = 0; w < works.size(); ++w) {
      rig.gl().Finish();
      const auto begin = Clock::now();
      const bool done = works[w]();
      rig.gl().Finish();
      if (i >= 0) taken[w].push_back(done ? since(begin) : kNever);
    }
  std::vector<uint64_t> out;
  for (auto& times : taken) out.push_back(median(std::move(times)));
  return out;
}

std::vector<uint64_t> Bench::times_in_a_stream(const std::vector<Work>& works) const {
  std::vector<std::vector<uint64_t>> taken(works.size());
  for (int i = -1; i < kStreams; ++i)
    for (size_t w = 0; w < works.size(); ++w) {
      rig.gl().Finish();
      const auto begin = Clock::now();
      bool done = true;
      for (int picture = 0; picture < runs(); ++picture) done = works[w]() && done;
      rig.gl().Finish();
      const uint64_t time = since(begin) / static_cast<uint64_t>(runs());
      if (i >= 0) taken[w].push_back(done ? time : kNever);
    }
  std::vector<uint64_t> out;
  for (auto& times : taken) out.push_back(median(std::move(times)));
  return out;
}

void Column::add_time(const std::string& name, uint64_t nanoseconds) {
  add_text(name,
           nanoseconds == Bench::kNever ? "-" : std::to_string((nanoseconds + 500) / 1000));
}

void Column::add_text(const std::string& name, const std::string& text) {
  if (rows_.size() <= row_) rows_.push_back({.name = name, .cells = {}});
  rows_[row_++].cells[column_] = text;
}

}  // namespace dxva::gpu
