// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/gpu/rig.hpp"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace dxva::gpu {
namespace {

int cases = 0;
int failures = 0;

}  // namespace

Result<Rig> Rig::open(test::Api api) {
  auto egl = test::EglRig::create(api);
  if (!egl) return egl.error();
  auto memory_objects = gl::load_memory_object(*(*egl)->gl(), test::EglRig::functions());
  if (!memory_objects) return memory_objects.error();
  auto exporter = vulkan::MemoryExporter::open(memory_objects->uuids);
  if (!exporter) return exporter.error();
  Rig out{.egl = std::move(*egl), .memory_objects = *memory_objects, .exporter = *exporter};
  out.importer = std::make_unique<gl::MemoryObjectImporter>(out.egl->thread(), out.egl->gl(),
                                                            out.memory_objects);
  out.pass = std::make_unique<gl::MemoryObjectPass>(out.egl->thread(), out.egl->gl());
  return out;
}

std::string Rig::version() {
  decltype(&::glGetString) get_string = nullptr;
  if (!test::EglRig::functions().load(get_string, "glGetString")) return "";
  const GLubyte* text = get_string(GL_VERSION);
  return text ? reinterpret_cast<const char*>(text) : "";
}

std::string Rig::exported_file() const {
  const auto memory = exporter->allocate(4096, vulkan::Placement::Host);
  if (!memory) return memory.error().describe();
  const auto fd = (*memory)->share_fd();
  if (!fd) return fd.error().describe();
  char path[PATH_MAX] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(fd->get());
  return ::readlink(link.c_str(), path, sizeof path - 1) > 0 ? path : "unknown";
}

Result<Picture> Picture::make(const Rig& rig, uint32_t fourcc, uint32_t width, uint32_t height,
                              uint64_t pitch_bytes, uint64_t chroma_offset,
                              vulkan::Placement placement) {
  Picture out{.request = {.image = {.fourcc = fourcc,
                                    .width = width,
                                    .height = height,
                                    .object_count = 1,
                                    .plane_count = 2},
                          .uuids = rig.exporter->uuids()}};
  video::ImageDescription& image = out.request.image;
  image.planes[0].pitch_bytes = pitch_bytes;
  image.planes[1] = {.offset = chroma_offset, .pitch_bytes = pitch_bytes};
  const uint64_t size = std::max(gl::bytes_needed(image, 0, gl::MemoryObjectForm::Buffer),
                                 gl::bytes_needed(image, 0, gl::MemoryObjectForm::Texture));
  auto memory = rig.exporter->allocate(size, placement);
  if (!memory) return memory.error();
  auto fd = (*memory)->share_fd();
  if (!fd) return fd.error();
  out.memory = std::move(*memory);
  out.fd = std::move(*fd);
  image.objects[0].size_bytes = out.memory->size_bytes();
  out.request.fds[0] = out.fd.get();
  return out;
}

void Picture::fill(uint32_t seed) {
  bytes.resize(memory->size_bytes());
  uint32_t state = seed * 2654435761u + 1;
  for (uint8_t& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(state >> 24);
  }
  std::memcpy(memory->data(), bytes.data(), bytes.size());
}

void report(bool ok, const std::string& name, const std::string& why) {
  std::printf("%s %d - %s\n", ok ? "ok" : "not ok", ++cases, name.c_str());
  if (!ok) {
    ++failures;
    std::printf("# %s\n", why.c_str());
  }
  std::fflush(stdout);
}

void report_skipped(const std::string& name, const std::string& reason) {
  std::printf("ok %d - %s # SKIP %s\n", ++cases, name.c_str(), reason.c_str());
}

int finish() {
  std::printf("1..%d\n", cases);
  return failures > 0 || cases == 0 ? 1 : 0;
}

}  // namespace dxva::gpu
