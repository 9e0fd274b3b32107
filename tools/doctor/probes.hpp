// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Each looks at one thing and says what it found as a JSON object. The first four are harmless;
// the others start drivers and run in children of their own (child.hpp).

#include <string>

#include "tools/doctor/json.hpp"

namespace dxva::doctor {

// Of the libraries that are loaded, not of those that this was built with.
[[nodiscard]] Json probe_versions();
// Those and more, and the variables in force that change what happens.
[[nodiscard]] Json probe_system();
[[nodiscard]] Json probe_environment();
// /dev/dri by sysfs: nodes, kernel drivers, and whether this user may open them.
[[nodiscard]] Json probe_drm();
// One VA device ("/dev/dri/renderD128", "software"): does it start, what does it decode.
[[nodiscard]] Json probe_va(const std::string& device);
// The GPUs that NVDEC decodes on. None where NVIDIA's driver is not.
[[nodiscard]] Json probe_cuda();
// The OpenGL that GStreamer would use: platform, renderer, GPU, what it imports.
[[nodiscard]] Json probe_gl();
// A clip of known pictures through dxvadec and dxvaglupload, and what they made of it.
// `device` is dxvadec's property, empty for its default. `pictures` adds PNGs of the last
// picture as it came out and as it should be, in base64. Without OpenGL, dxvadec alone.
enum class WithOpenGl { Yes, No };
[[nodiscard]] Json probe_decode(const std::string& device, bool pictures, WithOpenGl gl);
// For each codec the decoders that playbin would try, in its order.
[[nodiscard]] Json probe_ranks();
// Settings of our tracer, as GST_TRACERS has them here, that are not understood.
[[nodiscard]] Json probe_tracers();

}  // namespace dxva::doctor
