// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The machine that the suite gpu runs on: one OpenGL context, the Vulkan device of the same
// GPU, and what is printed about them (TAP).

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/gl/memory_object_self_test.hpp"
#include "lib/vulkan/memory_exporter.hpp"
#include "tests/check/support/egl_rig.hpp"

namespace dxva::gpu {

struct Rig {
  std::unique_ptr<test::EglRig> egl;
  gl::MemoryObjectApi memory_objects;
  std::shared_ptr<vulkan::MemoryExporter> exporter;
  std::unique_ptr<gl::MemoryObjectImporter> importer;
  std::unique_ptr<gl::MemoryObjectPass> pass;

  [[nodiscard]] static Result<Rig> open(test::Api api);
  [[nodiscard]] const gl::GlApi& gl() const { return *egl->gl(); }
  // With the driver's own number.
  [[nodiscard]] static std::string version();
  // What its descriptors lead to, as /proc says it.
  [[nodiscard]] std::string exported_file() const;
  [[nodiscard]] bool is_nvidia() const {
    return gl().facts.vendor.find("NVIDIA") != std::string::npos;
  }
};

// NV12 or P010 in exported memory, filled with a pattern.
struct Picture {
  std::unique_ptr<vulkan::ExportableMemory> memory;
  UniqueFd fd;
  gl::OpaqueRequest request;
  std::vector<uint8_t> bytes;

  [[nodiscard]] static Result<Picture> make(const Rig& rig, uint32_t fourcc, uint32_t width,
                                            uint32_t height, uint64_t pitch_bytes,
                                            uint64_t chroma_offset,
                                            vulkan::Placement placement);
  // What fill() wrote, as the CPU remembers it: reading device memory takes a hundred times as
  // long.
  [[nodiscard]] const uint8_t* plane(uint32_t index) const {
    return bytes.data() + request.image.planes[index].offset;
  }
  [[nodiscard]] uint64_t pitch_bytes() const { return request.image.planes[0].pitch_bytes; }
  void fill(uint32_t seed);
};

// One line of TAP; `why` is printed when it failed.
void report(bool ok, const std::string& name, const std::string& why = "");
void report_skipped(const std::string& name, const std::string& reason);
// The plan; the program's exit status.
[[nodiscard]] int finish();

void check_self_test(Rig& rig);
void check_pixels(Rig& rig);
void print_times(Rig& rig);

}  // namespace dxva::gpu
