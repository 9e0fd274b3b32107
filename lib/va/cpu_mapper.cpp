// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/cpu_mapper.hpp"

#include <utility>
#include <vector>

#include "lib/base/fourcc.hpp"
#include "lib/base/log.hpp"
#include "lib/va/surface_sync.hpp"
#include "lib/video/nv12_layout.hpp"

namespace dxva::va {
namespace {

// A VAImage, destroyed once; unmapped before, if it was mapped.
class Image {
 public:
  Image(VADisplay display, const VAImage& image) : display_(display), image_(image) {}
  ~Image() {
    if (data_) vaUnmapBuffer(display_, image_.buf);
    vaDestroyImage(display_, image_.image_id);
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  [[nodiscard]] const VAImage& info() const { return image_; }
  [[nodiscard]] const uint8_t* data() const { return static_cast<const uint8_t*>(data_); }

  Status map() {
    if (auto mapped = check(vaMapBuffer(display_, image_.buf, &data_), "vaMapBuffer");
        !mapped) {
      data_ = nullptr;
      return mapped;
    }
    if (!data_) return Error{.call = "vaMapBuffer", .text = "no address"};
    return Done{};
  }

 private:
  VADisplay display_;
  VAImage image_;
  void* data_ = nullptr;
};

using ImagePtr = std::unique_ptr<Image>;

struct Wanted {
  uint32_t fourcc;  // DRM
  uint32_t width;
  uint32_t height;
};

// The view of an image of ours, once the driver's numbers have been held against its buffer.
Result<video::FrameView> view_of(const Image& image, const Wanted& wanted) {
  const VAImage& info = image.info();
  if (drm_fourcc(info.format.fourcc) != wanted.fourcc)
    return refusal(Reason::FormatUnsupported, "image of " + fourcc_text(info.format.fourcc));
  if (info.num_planes > std::size(info.offsets))
    return refusal(Reason::PlaneCount, std::to_string(info.num_planes) + " planes");
  if (info.width < wanted.width || info.height < wanted.height)
    return refusal(Reason::DescriptorInvalid, "image smaller than its surface");

  video::ImageDescription description{
      .fourcc = wanted.fourcc,
      .width = wanted.width,
      .height = wanted.height,
      .object_count = 1,
      .plane_count = info.num_planes,
      .objects = {{{.size_bytes = info.data_size}}},
  };
  for (uint32_t p = 0; p < info.num_planes; ++p)
    description.planes[p] = {.offset = info.offsets[p], .pitch_bytes = info.pitches[p]};
  if (auto layout = video::classify(description, video::LayoutRule::Any); !layout)
    return layout.error();

  video::FrameView view{.fourcc = wanted.fourcc,
                        .width = wanted.width,
                        .height = wanted.height,
                        .plane_count = info.num_planes};
  for (uint32_t p = 0; p < info.num_planes; ++p)
    view.planes[p] = {
        .data = image.data() + info.offsets[p],
        .pitch_bytes = info.pitches[p],
        .row_bytes =
            static_cast<uint32_t>(video::plane_row_bytes(wanted.fourcc, p, wanted.width)),
        .rows = video::plane_rows(p, wanted.height),
    };
  return view;
}

Result<ImagePtr> derive(VADisplay display, VASurfaceID surface) {
  VAImage info{};
  if (auto derived = check(vaDeriveImage(display, surface, &info), "vaDeriveImage"); !derived)
    return derived.error();
  return std::make_unique<Image>(display, info);
}

// The driver's own idea of `fourcc`: byte order and depth are part of it.
Result<VAImageFormat> image_format(VADisplay display, uint32_t fourcc) {
  const int most = vaMaxNumImageFormats(display);
  constexpr int kSaneCount = 1024;
  if (most > 0 && most <= kSaneCount) {
    std::vector<VAImageFormat> formats(static_cast<size_t>(most));
    int count = 0;
    if (auto asked =
            check(vaQueryImageFormats(display, formats.data(), &count), "vaQueryImageFormats");
        !asked)
      return asked.error();
    for (int i = 0; i < count && i < most; ++i)
      if (formats[static_cast<size_t>(i)].fourcc == va_fourcc(fourcc))
        return formats[static_cast<size_t>(i)];
  }
  return refusal(Reason::FormatUnsupported, "no image of " + fourcc_text(fourcc));
}

Result<ImagePtr> copy_out(VADisplay display, VASurfaceID surface, const Wanted& wanted) {
  auto format = image_format(display, wanted.fourcc);
  if (!format) return format.error();
  VAImage info{};
  if (auto created = check(vaCreateImage(display, &*format, static_cast<int>(wanted.width),
                                         static_cast<int>(wanted.height), &info),
                           "vaCreateImage");
      !created)
    return created.error();
  auto image = std::make_unique<Image>(display, info);
  if (auto copied =
          check(vaGetImage(display, surface, 0, 0, wanted.width, wanted.height, info.image_id),
                "vaGetImage");
      !copied)
    return copied.error();
  return image;
}

}  // namespace

struct SurfaceMapping::State {
  std::shared_ptr<Display> display;  // outlives the image
  ImagePtr image;
  video::FrameView view;
};

SurfaceMapping::SurfaceMapping(std::unique_ptr<State> state) : state_(std::move(state)) {}
SurfaceMapping::SurfaceMapping(SurfaceMapping&&) noexcept = default;
SurfaceMapping& SurfaceMapping::operator=(SurfaceMapping&&) noexcept = default;
SurfaceMapping::~SurfaceMapping() = default;

const video::FrameView& SurfaceMapping::view() const {
  return state_->view;
}

Result<SurfaceMapping> map_for_read(const std::shared_ptr<Display>& display,
                                    VASurfaceID surface, uint32_t fourcc, uint32_t width,
                                    uint32_t height) {
  const Wanted wanted{.fourcc = fourcc, .width = width, .height = height};
  if (auto synced = wait_until_decoded(*display, surface); !synced) return synced.error();

  const auto finish = [&](Result<ImagePtr> image) -> Result<SurfaceMapping> {
    if (!image) return image.error();
    if (auto mapped = (*image)->map(); !mapped) return mapped.error();
    auto view = view_of(**image, wanted);
    if (!view) return view.error();
    return SurfaceMapping(std::make_unique<SurfaceMapping::State>(
        SurfaceMapping::State{.display = display, .image = std::move(*image), .view = *view}));
  };
  auto derived = finish(derive(display->get(), surface));
  if (derived) return derived;
  DXVA_LOG(Va, "surface 0x%x: derived image is of no use: %s", surface,
           derived.error().describe().c_str());
  return finish(copy_out(display->get(), surface, wanted));
}

}  // namespace dxva::va
