// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The suite gpu: memory objects on the GPU of this machine, pixel by pixel, and what every way
// of a picture into OpenGL costs. Needs libEGL and libvulkan, no display, no GStreamer. With
// --any a software renderer is good enough; without, it is a failure.

#include <cstdio>
#include <cstring>

#include "lib/base/device_uuids.hpp"
#include "tests/gpu/rig.hpp"

int main(int argc, char** argv) {
  using namespace dxva;
  const bool any = argc > 1 && std::strcmp(argv[1], "--any") == 0;
  for (const test::Api api : {test::Api::Gl, test::Api::Gles}) {
    const char* name = api == test::Api::Gl ? "OpenGL" : "OpenGL ES";
    auto rig = gpu::Rig::open(api);
    gpu::report(bool(rig), std::string(name) + " and Vulkan share a device that exports memory",
                rig ? "" : rig.error().describe());
    if (!rig) continue;
    const gl::ContextFacts& facts = rig->gl().facts;
    std::printf("# %s %d.%d on %s, %s; Vulkan device %s\n", name, facts.major, facts.minor,
                facts.renderer.c_str(), facts.vendor.c_str(),
                rig->exporter->device_name().c_str());
    std::printf("# %s\n# device %s driver %s, buffer textures of %d texels\n",
                rig->version().c_str(), uuid_text(rig->memory_objects.uuids.device).c_str(),
                uuid_text(rig->memory_objects.uuids.driver).c_str(),
                rig->memory_objects.max_buffer_texels);
    std::printf("# exported memory is %s\n", rig->exported_file().c_str());
    gpu::report(any || !facts.software, std::string(name) + " runs on a GPU", facts.renderer);
    gpu::check_self_test(*rig);
    gpu::check_pixels(*rig);
    if (api == test::Api::Gl) gpu::print_times(*rig);
  }
  return gpu::finish();
}
