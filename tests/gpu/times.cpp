// SPDX-License-Identifier: LGPL-2.1-or-later

// What each way of a picture into OpenGL costs here: medians of the time until glFinish
// returns.

#include <cstdio>
#include <string>
#include <vector>

#include "lib/base/fourcc.hpp"
#include "tests/gpu/bench.hpp"

namespace dxva::gpu {
namespace {

void measure_imports(const Bench& bench, size_t column, std::vector<Row>& rows) {
  Rig& rig = bench.rig;
  Column cells(bench, column, rows);
  const video::YuvToRgb matrix = video::yuv_to_rgb({}, 8);
  for (const auto placement : {vulkan::Placement::Host, vulkan::Placement::Device}) {
    const std::string where =
        placement == vulkan::Placement::Host ? ", host memory" : ", device memory";
    const uint64_t pitch = (bench.width + 255) / 256 * 256;
    auto picture = Picture::make(rig, format::kNV12, bench.width, bench.height, pitch,
                                 pitch * bench.height, placement);
    if (picture) picture->fill(7);
    for (const auto form : {gl::MemoryObjectForm::Buffer, gl::MemoryObjectForm::Texture}) {
      const std::string what = std::string("memory object as ") + gl::form_name(form) + where;
      const auto import = [&] {
        return picture ? rig.importer->import(picture->request, form)
                       : Result<std::shared_ptr<gl::MemoryObjectPicture>>(picture.error());
      };
      const auto imported = import();
      cells.add(what + ": import and deletion, once a buffer", [&] { return bool(import()); });
      cells.add(what + ": pass to NV12 planes", [&] {
        return imported &&
               bool(rig.pass->draw_plane(**imported, 0, bench.planes->names()[0])) &&
               bool(rig.pass->draw_plane(**imported, 1, bench.planes->names()[1]));
      });
      cells.add(what + ": pass to RGBA", [&] {
        return imported && bool(rig.pass->draw_rgb(**imported, bench.rgba->names()[0], matrix));
      });
    }
  }
}

}  // namespace

void print_times(Rig& rig) {
  std::vector<Row> uploads, imports;
  int runs = 0;
  constexpr std::array<std::array<uint32_t, 2>, 2> kSizes = {{{1920, 1080}, {3840, 2160}}};
  for (size_t column = 0; column < kSizes.size(); ++column) {
    const Bench bench(rig, kSizes[column][0], kSizes[column][1]);
    if (!bench.ready) {
      report(false, "textures of the size", "GL has no memory");
      return;
    }
    measure_uploads(bench, column, uploads);
    measure_imports(bench, column, imports);
    runs = bench.runs();
  }
  std::printf(
      "# times in microseconds, NV12, median of %d\n# | | 1080p | 2160p |\n# |---|---|---|\n",
      runs);
  for (const auto* rows : {&uploads, &imports})
    for (const Row& row : *rows)
      std::printf("# | %s | %s | %s |\n", row.name.c_str(), row.cells[0].c_str(),
                  row.cells[1].c_str());
  report(true, "times of every way were taken");
}

}  // namespace dxva::gpu
