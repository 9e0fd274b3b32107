// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gio/gio.h>

#include <cstdint>
#include <string>

#include "lib/base/result.hpp"

namespace dxva::play {

// The program ffmpeg, decoding a file in software and writing every frame in one pixel format,
// one after the other and without padding. Thread rules: reentrant.
class ReferenceStream {
 public:
  ReferenceStream() = default;
  ~ReferenceStream();
  ReferenceStream(const ReferenceStream&) = delete;
  ReferenceStream& operator=(const ReferenceStream&) = delete;

  // `pixel_format` is FFmpeg's name; `threads` 0: as many as ffmpeg likes.
  [[nodiscard]] Status start(const std::string& media, const std::string& pixel_format,
                             unsigned threads);
  [[nodiscard]] bool started() const { return process_ != nullptr; }
  // How many bytes there were; fewer than asked for only at the end.
  size_t read(uint8_t* into, size_t bytes);

 private:
  GSubprocess* process_ = nullptr;
};

}  // namespace dxva::play
