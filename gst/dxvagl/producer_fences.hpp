// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <optional>
#include <vector>

#include "lib/base/unique_fd.hpp"
#include "lib/gl/egl_api.hpp"

namespace dxva::gst {

// What is still being written into the dma-bufs of an incoming buffer. dxvadec hands over
// pictures that are finished; others do not (GStreamer's va decoders wait for nothing and leave
// it to the kernel), and neither a map nor every OpenGL driver waits by itself. Most buffers
// have no such fence: then nothing here opens or waits. Streaming thread only, but for what
// says otherwise.
class ProducerFences {
 public:
  // The buffer lends its descriptors for this object's life.
  [[nodiscard]] static ProducerFences of(GstBuffer* buffer);

  [[nodiscard]] bool any() const { return !pending_.empty(); }

  // Before a map.
  void wait();
  // Before an import is sampled: takes what the GPU can wait for, waits for the rest.
  void prepare(const std::optional<gl::NativeFenceApi>& gpu);
  // GL-thread only: makes the GPU wait for what prepare() took.
  void wait_in_gl(const std::optional<gl::NativeFenceApi>& gpu);

 private:
  std::vector<int> pending_;  // dma-bufs
  std::vector<UniqueFd> sync_files_;
};

}  // namespace dxva::gst
