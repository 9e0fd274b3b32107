// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// An OpenGL and an EGL that do what the test says and write down what they were asked.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/gl/egl_api.hpp"
#include "lib/gl/gl_api.hpp"

namespace dxva::test {

struct FakeGl {
  static constexpr uint64_t kExternalOnly = 99;  // the modifier that is listed as that

  // Script
  std::vector<GLenum> errors;  // what glGetError finds, oldest first
  GLenum error_of_target = 0;  // raised by an image target call
  GLenum error_of_storage_target = 0;
  EGLint image_error = 0;       // eglCreateImageKHR fails with it
  int images_before_error = 0;  // …after so many that work
  bool fences_work = true;
  std::map<uint32_t, std::vector<uint64_t>> listed;  // fourcc: modifiers
  bool writes_external_only = true;
  GLenum error_of_buffer_storage = 0;   // raised by glBufferStorage and glBufferData
  std::function<void()> on_fence_wait;  // in whoever waits for a fence
  std::function<void()> on_release_thread;
  // Whether one is reached, for who does not wait; without it: when nobody waits either.
  std::function<bool()> on_fence_poll;
  bool gl_fences_work = true;
  bool has_gl_fences = false;         // in api(), which do as those of EGL do
  std::function<void()> on_gl_fence;  // with each call about them

  // Record
  std::vector<std::vector<EGLint>> images;  // attribute lists
  int images_alive = 0;
  GLenum image_target = 0;  // of the last image target call
  std::vector<std::string> calls;
  std::map<GLenum, GLint> pixel_store;
  uint32_t textures_made = 0;
  uint32_t textures_alive = 0;
  uint32_t fences_alive = 0;
  std::map<GLuint, std::vector<uint8_t>> buffers;  // those that are alive
  GLuint buffers_made = 0;
  GLuint bound_buffer = 0;
  GLbitfield storage_flags = 0;  // of the last glBufferStorage
  GLbitfield map_access = 0;     // of the last glMapBufferRange

  [[nodiscard]] static FakeGl& get();  // the one that the functions below work on
  static void reset() { get() = FakeGl{}; }

  [[nodiscard]] static gl::GlApi api();
  enum class Storage { Yes, No };
  [[nodiscard]] static gl::GlApi api_with_buffers(Storage storage);
  [[nodiscard]] static gl::DmabufImportApi import_api();
  [[nodiscard]] static gl::EglFenceApi fence_api();
};

// Value of an attribute in a list that eglCreateImageKHR got; -1 when it was not there.
[[nodiscard]] EGLint attribute(const std::vector<EGLint>& list, EGLint name);

// Runs jobs at once, where they come from, and counts them.
class FakeGlThread final : public gl::GlThread {
 public:
  void run(const std::function<void()>& job) override {
    ++jobs;
    job();
  }
  [[nodiscard]] bool is_current() const override { return false; }
  std::atomic<int> jobs{0};
};

}  // namespace dxva::test
