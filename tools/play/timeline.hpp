// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

#include "lib/base/result.hpp"
#include "tools/play/handles.hpp"

namespace dxva::play {

// The picture of where each frame's time went: the plugin's tracer `dxva`, made for this run.
class Timeline {
 public:
  // Listens from here on. An error when the file cannot be written, before anything is played.
  [[nodiscard]] static Result<Timeline> start(const std::string& file);
  [[nodiscard]] Status write();

 private:
  explicit Timeline(GstObject* tracer) : tracer_(tracer) {}
  [[nodiscard]] Status told_error() const;

  Owned<GstObject> tracer_;
};

}  // namespace dxva::play
