// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// NV12 of one size, and how long something takes with it.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/gl/texture_set.hpp"
#include "lib/gl/texture_uploader.hpp"
#include "tests/gpu/rig.hpp"

namespace dxva::gpu {

// One way, 1080p and 2160p.
struct Row {
  std::string name;
  std::array<std::string, 2> cells;
};

// A picture in the CPU's memory, with textures for its planes and for RGB.
struct Bench {
  using Work = std::function<bool()>;
  static constexpr uint64_t kNever = UINT64_MAX;

  Bench(Rig& on, uint32_t width_texels, uint32_t height_texels);

  // Both planes, one below the other with the pitch of the width, into `to`. `from` is an
  // offset where there is a buffer.
  [[nodiscard]] bool upload(const gl::TextureSet& to, const uint8_t* from,
                            GLuint unpack_buffer) const;
  [[nodiscard]] bool upload(const uint8_t* from, GLuint unpack_buffer) const {
    return upload(*planes, from, unpack_buffer);
  }
  [[nodiscard]] std::unique_ptr<gl::TextureSet> make_planes() const;  // null: no memory

  [[nodiscard]] int runs() const;
  // Medians of the time until glFinish returns, nanoseconds, one turn of each after the other;
  // kNever for what cannot be done.
  [[nodiscard]] std::vector<uint64_t> times(const std::vector<Work>& works) const;
  // The same for a picture of a stream: nobody waits for the GPU before its end.
  [[nodiscard]] std::vector<uint64_t> times_in_a_stream(const std::vector<Work>& works) const;

  Rig& rig;
  const uint32_t width;
  const uint32_t height;
  std::vector<uint8_t> pixels;
  std::array<gl::TextureSpec, 2> specs;
  std::unique_ptr<gl::TextureSet> planes;
  std::unique_ptr<gl::TextureSet> rgba;
  bool ready = true;
};

// The cells of one size, row by row.
class Column {
 public:
  Column(const Bench& bench, size_t column, std::vector<Row>& rows)
      : bench_(bench), column_(column), rows_(rows) {}
  void add(const std::string& name, const Bench::Work& work) {
    add_time(name, bench_.times({work}).front());
  }
  // Microseconds, "-" for kNever.
  void add_time(const std::string& name, uint64_t nanoseconds);
  void add_text(const std::string& name, const std::string& text);

 private:
  const Bench& bench_;
  const size_t column_;
  std::vector<Row>& rows_;
  size_t row_ = 0;
};

// From a picture in the CPU's memory to textures, by every way.
void measure_uploads(const Bench& bench, size_t column, std::vector<Row>& rows);

}  // namespace dxva::gpu
