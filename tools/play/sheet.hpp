// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/output_file.hpp"
#include "tools/play/readback.hpp"

namespace dxva::play {

// Up to twelve small pictures of a video whose length nobody knows before its end. Every n-th
// frame is kept; when there are twice too many, every second one is dropped and n doubles. So
// only a few frames are ever read back. Thread rules: reentrant.
class ContactSheet {
 public:
  // Would frame `index` be kept now? Then it is worth reading back.
  [[nodiscard]] bool wants(uint64_t index) const { return index % step_ == 0; }
  // Frames come in order, and only wanted ones.
  Status add(const MappedFrame& mapped);
  // A PNG of rows of four. BadInput when no frame was added.
  [[nodiscard]] Status write(const OutputFile& file) const;

 private:
  struct Thumbnail {
    int height;
    std::vector<uint8_t> rgb;  // kWidth pixels a row, no padding
  };
  static constexpr int kWidth = 320;
  static constexpr int kColumns = 4;
  static constexpr size_t kPictures = 12;

  uint64_t step_ = 1;
  std::vector<Thumbnail> thumbnails_;
};

}  // namespace dxva::play
