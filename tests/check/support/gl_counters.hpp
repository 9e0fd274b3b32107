// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace dxva::test {

// Objects that the element made through the functions it asked for. Linking gl_counters.cpp
// into a test program puts it between the element and the two functions that find functions.
struct GlCounters {
  uint64_t images = 0;        // eglCreateImageKHR
  uint64_t image_fds = 0;     // descriptors that the process had more after those calls
  uint64_t textures = 0;      // names from glGenTextures
  uint64_t storages = 0;      // glTexImage2D
  uint64_t framebuffers = 0;  // names from glGenFramebuffers
  uint64_t programs = 0;
  uint64_t buffers = 0;  // names from glGenBuffers

  friend bool operator==(const GlCounters&, const GlCounters&) = default;
};
[[nodiscard]] GlCounters gl_counters();
// How many the process has, with one or two of the counting itself.
[[nodiscard]] size_t open_descriptors();
// The next calls of eglCreateImageKHR fail with this EGL error; 0: they do not.
void fail_image_creation(int egl_error);
// A GPU that is not done yet: whoever waits for an EGL fence waits until it is let go.
void hold_fences(bool hold);
// The driver takes images of this DRM format to begin so many bytes further; 0: where they do.
void shift_images(uint32_t fourcc, int bytes);
// EGL lists no modifier for this DRM format.
void hide_modifiers(uint32_t fourcc);
// EGL lists this modifier for NV12, beside linear.
void list_for_nv12(uint64_t modifier);
// A context without this function, and, for EXT or ARB ones, those that begin like it; for
// contexts that are looked at after this. `name` lives for ever.
void hide_function(const char* name);
// No buffer can be mapped.
void hide_memory_of_buffers(bool hides);
// A driver that takes NV12 whole, which no software renderer does. It shows luma, as red.
void take_whole_images(bool takes);

}  // namespace dxva::test
