// SPDX-License-Identifier: LGPL-2.1-or-later

// What each way of a picture into OpenGL costs here: medians of the time until glFinish
// returns.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/fourcc.hpp"
#include "lib/gl/nv12_pass.hpp"
#include "lib/gl/texture_set.hpp"
#include "lib/gl/texture_uploader.hpp"
#include "tests/gpu/rig.hpp"

namespace dxva::gpu {
namespace {

constexpr int kWarmUps = 5;
constexpr int kRuns = 100;
// A software renderer takes tens of milliseconds for a picture: fewer runs are as good there.
constexpr int kSoftwareRuns = 9;

struct Row {
  std::string name;
  std::array<std::string, 2> microseconds;
};

// NV12 of one size, in the CPU's memory, with textures for its planes and for RGB.
struct Bench {
  Bench(Rig& on, uint32_t w, uint32_t h)
      : rig(on),
        width(w),
        height(h),
        pixels(size_t{w} * h * 3 / 2),
        planes(gl::TextureSet::create(rig.egl->thread(), rig.egl->gl(), 2)),
        rgba(gl::TextureSet::create(rig.egl->thread(), rig.egl->gl(), 1)) {
    specs[0] = {.width = w,
                .height = h,
                .internal_format = GL_R8,
                .format = GL_RED,
                .type = GL_UNSIGNED_BYTE,
                .texel_bytes = 1};
    specs[1] = {.width = w / 2,
                .height = h / 2,
                .internal_format = GL_RG8,
                .format = GL_RG,
                .type = GL_UNSIGNED_BYTE,
                .texel_bytes = 2};
    for (size_t p = 0; p < 2; ++p)
      ready &= gl::allocate_texture(rig.gl(), planes->names()[p], specs[p]);
    ready &= gl::allocate_texture(rig.gl(), rgba->names()[0],
                                  {.width = w,
                                   .height = h,
                                   .internal_format = GL_RGBA8,
                                   .format = GL_RGBA,
                                   .type = GL_UNSIGNED_BYTE,
                                   .texel_bytes = 4});
    for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 31 >> 3);
  }

  bool upload(const uint8_t* from, GLuint unpack_buffer) const {
    return gl::upload_plane(
               rig.gl(), planes->names()[0], specs[0],
               {.data = from, .pitch_bytes = width, .unpack_buffer = unpack_buffer}) &&
           gl::upload_plane(rig.gl(), planes->names()[1], specs[1],
                            {.data = from + size_t{width} * height,
                             .pitch_bytes = width,
                             .unpack_buffer = unpack_buffer});
  }

  // "-" where `work` cannot be done.
  std::string time(const std::function<bool()>& work) const {
    using Clock = std::chrono::steady_clock;
    std::vector<double> taken;
    const int runs = rig.gl().facts.software ? kSoftwareRuns : kRuns;
    for (int i = -kWarmUps; i < runs; ++i) {
      rig.gl().Finish();
      const auto begin = Clock::now();
      if (!work()) return "-";
      rig.gl().Finish();
      const std::chrono::duration<double, std::micro> elapsed = Clock::now() - begin;
      if (i >= 0) taken.push_back(elapsed.count());
    }
    std::nth_element(taken.begin(), taken.begin() + runs / 2, taken.end());
    char text[32];
    std::snprintf(text, sizeof text, "%.0f", taken[static_cast<size_t>(runs) / 2]);
    return text;
  }

  Rig& rig;
  const uint32_t width;
  const uint32_t height;
  std::vector<uint8_t> pixels;
  std::unique_ptr<gl::TextureSet> planes;
  std::unique_ptr<gl::TextureSet> rgba;
  std::array<gl::TextureSpec, 2> specs;
  bool ready = true;
};

// A pixel buffer object that stays mapped.
class UnpackBuffer {
 public:
  explicit UnpackBuffer(const Rig& rig, size_t size) : rig_(rig) {
    const gl::ProcAddress proc = test::EglRig::functions();
    PFNGLBUFFERSTORAGEPROC storage = nullptr;
    PFNGLMAPBUFFERRANGEPROC map = nullptr;
    if (!proc.load(storage, rig.gl().facts.gles ? "glBufferStorageEXT" : "glBufferStorage") ||
        !proc.load(map, "glMapBufferRange"))
      return;
    constexpr GLbitfield kFlags =
        GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
    rig.gl().clear_errors();
    rig.memory_objects.GenBuffers(1, &name_);
    rig.gl().BindBuffer(GL_PIXEL_UNPACK_BUFFER, name_);
    storage(GL_PIXEL_UNPACK_BUFFER, static_cast<GLsizeiptr>(size), nullptr, kFlags);
    data_ = map(GL_PIXEL_UNPACK_BUFFER, 0, static_cast<GLsizeiptr>(size), kFlags);
    rig.gl().BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  }
  UnpackBuffer(const UnpackBuffer&) = delete;
  UnpackBuffer& operator=(const UnpackBuffer&) = delete;
  ~UnpackBuffer() {
    if (name_) rig_.memory_objects.DeleteBuffers(1, &name_);
  }
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] GLuint name() const { return name_; }

 private:
  const Rig& rig_;
  GLuint name_ = 0;
  void* data_ = nullptr;
};

std::vector<Row> measure_uploads(const Bench& bench, size_t column, std::vector<Row> rows) {
  size_t row = 0;
  const auto add = [&](const char* name, const std::function<bool()>& work) {
    if (rows.size() <= row) rows.push_back({.name = name, .microseconds = {}});
    rows[row++].microseconds[column] = bench.time(work);
  };
  const UnpackBuffer buffer(bench.rig, bench.pixels.size());
  const bool mapped = buffer.data() != nullptr;
  const auto fill = [&] {
    std::memcpy(buffer.data(), bench.pixels.data(), bench.pixels.size());
  };
  add("glTexSubImage2D from memory, both planes",
      [&] { return bench.upload(bench.pixels.data(), 0); });
  add("persistently mapped PBO: memcpy and upload", [&] {
    if (mapped) fill();
    return mapped && bench.upload(nullptr, buffer.name());
  });
  add("of which memcpy", [&] {
    if (mapped) fill();
    return mapped;
  });
  add("upload from a PBO that is filled already",
      [&] { return mapped && bench.upload(nullptr, buffer.name()); });
  auto pass = gl::Nv12Pass::create(bench.rig.egl->thread(), bench.rig.egl->gl());
  const video::YuvToRgb matrix = video::yuv_to_rgb({}, 8);
  add("RGBA pass from two textures", [&] {
    return pass && bool((*pass)->draw({.luma = bench.planes->names()[0],
                                       .chroma = bench.planes->names()[1],
                                       .target = bench.rgba->names()[0],
                                       .width = bench.width,
                                       .height = bench.height},
                                      matrix));
  });
  return rows;
}

std::vector<Row> measure_imports(const Bench& bench, size_t column, std::vector<Row> rows) {
  Rig& rig = bench.rig;
  size_t row = 0;
  const auto add = [&](const std::string& name, const std::function<bool()>& work) {
    if (rows.size() <= row) rows.push_back({.name = name, .microseconds = {}});
    rows[row++].microseconds[column] = bench.time(work);
  };
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
      add(what + ": import and deletion, once a buffer", [&] { return bool(import()); });
      add(what + ": pass to NV12 planes", [&] {
        return imported &&
               bool(rig.pass->draw_plane(**imported, 0, bench.planes->names()[0])) &&
               bool(rig.pass->draw_plane(**imported, 1, bench.planes->names()[1]));
      });
      add(what + ": pass to RGBA", [&] {
        return imported && bool(rig.pass->draw_rgb(**imported, bench.rgba->names()[0], matrix));
      });
    }
  }
  return rows;
}

}  // namespace

void print_times(Rig& rig) {
  std::vector<Row> uploads, imports;
  constexpr std::array<std::array<uint32_t, 2>, 2> kSizes = {{{1920, 1080}, {3840, 2160}}};
  for (size_t column = 0; column < kSizes.size(); ++column) {
    const Bench bench(rig, kSizes[column][0], kSizes[column][1]);
    if (!bench.ready) {
      report(false, "textures of the size", "GL has no memory");
      return;
    }
    uploads = measure_uploads(bench, column, std::move(uploads));
    imports = measure_imports(bench, column, std::move(imports));
  }
  std::printf(
      "# times in microseconds, NV12, median of %d\n# | | 1080p | 2160p |\n# |---|---|---|\n",
      rig.gl().facts.software ? kSoftwareRuns : kRuns);
  for (const auto* rows : {&uploads, &imports})
    for (const Row& row : *rows)
      std::printf("# | %s | %s | %s |\n", row.name.c_str(), row.microseconds[0].c_str(),
                  row.microseconds[1].c_str());
  report(true, "times of every way were taken");
}

}  // namespace dxva::gpu
