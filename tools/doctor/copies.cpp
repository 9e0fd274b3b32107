// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/doctor/copies.hpp"

#include <algorithm>

namespace dxva::doctor {

Json Copies::json() const {
  Json out = Json::object();
  out.set("frames", frames);
  out.set("copied", copied);
  out.set("by-gpu", by_gpu);
  out.set("by-cpu", by_cpu);
  out.set("uploaded", uploaded);
  return out;
}

Copies count_copies(const Json& decode) {
  const Json left = decode.at("decoder/steps");
  const Json became = decode.at("uploader/steps");
  const int64_t in_system_memory = left.at("cpu-copy").number();
  Copies out{.frames = decode.at("frames").number(), .by_gpu = left.at("gpu-copy").number()};
  // Some of them were not copied but mapped, for the upload to read.
  out.by_cpu =
      std::max<int64_t>(0, in_system_memory - decode.at("decoder/read-in-place").number());
  out.uploaded = became.at("cpu-copy").number();
  const int64_t imported = became.at("egl").number() + became.at("memory-object").number();
  // Surfaces that came as such, and that OpenGL refused.
  const int64_t refused = std::max<int64_t>(0, out.uploaded - in_system_memory);
  // Where elements count otherwise than expected, what was not imported was copied.
  out.copied = std::min(
      out.frames, std::max(out.by_gpu + in_system_memory + refused, out.frames - imported));
  return out;
}

}  // namespace dxva::doctor
