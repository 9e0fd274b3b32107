// SPDX-License-Identifier: LGPL-2.1-or-later

// Which forms this driver shows rightly, and whether the self-test says so.

#include <array>
#include <cstdio>
#include <string>

#include "lib/base/fourcc.hpp"
#include "tests/check/support/vulkan_memory.hpp"
#include "tests/gpu/rig.hpp"

namespace dxva::gpu {
namespace {

using gl::MemoryObjectForm;
using gl::MemoryObjectSelfTest;
using Pitches = MemoryObjectSelfTest::Pitches;

constexpr std::array kForms = {MemoryObjectForm::Buffer, MemoryObjectForm::Texture};
constexpr std::array kFormats = {format::kNV12, format::kP010};

const char* api_name(const Rig& rig) {
  return rig.gl().facts.gles ? "GLES" : "GL";
}

std::string outcome(const Status& status) {
  if (status) return "exact";
  return std::string(reason_name(status.error().reason)) + ": " + status.error().describe();
}

// The bytes that GL shows of both planes, against memory.
Result<gl::BytesCompared> compare(Rig& rig, const Picture& picture,
                                  const gl::MemoryObjectPicture& imported) {
  gl::BytesCompared sum;
  for (uint32_t plane = 0; plane < 2; ++plane) {
    const auto compared =
        gl::compare_with_memory(rig.egl->thread(), rig.egl->gl(), rig.memory_objects, *rig.pass,
                                imported, plane, picture.plane(plane), picture.pitch_bytes());
    if (!compared) return compared.error();
    sum.compared += compared->compared;
    sum.wrong += compared->wrong;
    if (sum.first.empty()) sum.first = compared->first;
  }
  return sum;
}

// Exact, and exact again after the memory was rewritten.
std::string try_picture(Rig& rig, uint32_t fourcc, uint32_t width, uint32_t height,
                        uint64_t pitch, uint64_t chroma, vulkan::Placement placement) {
  auto picture = Picture::make(rig, fourcc, width, height, pitch, chroma, placement);
  if (!picture) return picture.error().describe();
  picture->fill(1);
  const auto imported = rig.importer->import(picture->request, MemoryObjectForm::Buffer);
  if (!imported) return imported.error().describe();
  for (uint32_t round = 1; round <= 2; ++round) {
    rig.gl().Finish();
    picture->fill(round);
    const auto compared = compare(rig, *picture, **imported);
    if (!compared) return compared.error().describe();
    if (compared->wrong > 0)
      return std::to_string(compared->wrong) + " of " + std::to_string(compared->compared) +
             " bytes, " + compared->first;
  }
  return "";
}

}  // namespace

void check_self_test(Rig& rig) {
  MemoryObjectSelfTest self_test(rig.egl->thread(), rig.egl->gl(), *rig.importer,
                                 test::memory_from(rig.exporter));
  std::printf("# self-test, %s, one line for each layout\n", api_name(rig));
  for (const MemoryObjectForm form : kForms)
    for (const uint32_t fourcc : kFormats)
      for (const Pitches pitches : {Pitches::OfAny, Pitches::Of64, Pitches::Of256}) {
        if (form == MemoryObjectForm::Buffer && pitches != Pitches::OfAny) continue;
        for (const auto& geometry : MemoryObjectSelfTest::geometries(fourcc, form, pitches))
          std::printf(
              "#   %-7s %s %4ux%-3u pitch %4u  %-18s %s\n", gl::form_name(form),
              fourcc_text(fourcc).c_str(), geometry.width, geometry.height,
              geometry.pitch_bytes, geometry.name,
              outcome(self_test.try_geometry(geometry, fourcc, form, *rig.pass)).c_str());
      }
  for (const uint32_t fourcc : kFormats) {
    const std::string what =
        std::string(api_name(rig)) + ", " + fourcc_text(fourcc) + ": the self-test ";
    const Status buffer = self_test.verdict(fourcc, MemoryObjectForm::Buffer, 2048, *rig.pass);
    report(bool(buffer), what + "trusts the buffer form", outcome(buffer));
    const Status texture =
        self_test.verdict(fourcc, MemoryObjectForm::Texture, 2048, *rig.pass);
    if (rig.is_nvidia())
      report(!texture && (texture.error().reason == Reason::SelfTestMismatch ||
                          texture.error().reason == Reason::GlError),
             what + "refuses the texture form", outcome(texture));
    else
      report_skipped(what + "refuses the texture form", "only NVIDIA's is known to be wrong");
  }
}

void check_pixels(Rig& rig) {
  struct Size {
    uint32_t width;
    uint32_t height;
  };
  for (const uint32_t fourcc : kFormats) {
    const uint64_t unit = fourcc == format::kP010 ? 2 : 1;
    for (const auto placement : {vulkan::Placement::Host, vulkan::Placement::Device}) {
      const std::string name =
          std::string(api_name(rig)) + ", " + fourcc_text(fourcc) + " in " +
          (placement == vulkan::Placement::Host ? "host" : "device") + " memory";
      if (!rig.exporter->allocate(4096, placement)) {
        report_skipped(name, "no such memory that the CPU can map");
        continue;
      }
      uint32_t tried = 0;
      std::string wrong;
      for (const Size& size : {Size{61, 47}, Size{320, 240}, Size{1, 1}, Size{1920, 1080}})
        for (const uint64_t padding : {0, 1, 3, 32, 128, 1000})
          for (const uint64_t gap : {0, 1, 2, 37, 64, 4096, 12345}) {
            if (size.width == 1920 && (padding > 3 || gap > 37)) continue;  // slow to read back
            const uint64_t pitch = ((size.width + 1) / 2 * 2 + padding) * unit;
            const uint64_t chroma = pitch * size.height + gap * unit;
            ++tried;
            const std::string why =
                try_picture(rig, fourcc, size.width, size.height, pitch, chroma, placement);
            if (!why.empty() && wrong.empty())
              wrong = std::to_string(size.width) + "x" + std::to_string(size.height) +
                      ", pitch " + std::to_string(pitch) + ", chroma at " +
                      std::to_string(chroma) + ": " + why;
          }
      report(wrong.empty(),
             name + ": every byte of " + std::to_string(tried) +
                 " layouts, padded and with chroma anywhere, also rewritten",
             wrong);
    }
  }
}

}  // namespace dxva::gpu
