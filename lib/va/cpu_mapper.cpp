// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/cpu_mapper.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "lib/base/fourcc.hpp"
#include "lib/base/log.hpp"
#include "lib/base/test_switch.hpp"
#include "lib/dmabuf/mapping.hpp"
#include "lib/va/copy_choices.hpp"
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

video::FrameView view_without_planes(const Wanted& wanted, uint32_t plane_count) {
  return {.fourcc = wanted.fourcc,
          .width = wanted.width,
          .height = wanted.height,
          .plane_count = plane_count};
}

video::PlaneView plane_view(const Wanted& wanted, uint32_t plane, const uint8_t* data,
                            uint32_t pitch_bytes) {
  return {
      .data = data,
      .pitch_bytes = pitch_bytes,
      .row_bytes =
          static_cast<uint32_t>(video::plane_row_bytes(wanted.fourcc, plane, wanted.width)),
      .rows = video::plane_rows(plane, wanted.height),
  };
}

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

  video::FrameView view = view_without_planes(wanted, info.num_planes);
  for (uint32_t p = 0; p < info.num_planes; ++p)
    view.planes[p] = plane_view(wanted, p, image.data() + info.offsets[p], info.pitches[p]);
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

// The exported memory, as long as the CPU reads it; the frame keeps it mapped.
struct MappedMemory {
  std::shared_ptr<const dmabuf::ExternalFrame> frame;
  std::array<dmabuf::CpuAccess, video::kMaxPlanes> accesses;  // end before the frame goes
};

// Whether the CPU would see rows.
bool is_readable(const dmabuf::ExternalFrame& frame, const Wanted& wanted) {
  if (frame.opaque || frame.fourcc != wanted.fourcc || frame.width < wanted.width ||
      frame.height < wanted.height)
    return false;
  const auto layout = video::classify(frame.describe(), video::LayoutRule::Any);
  return layout && layout->layout_class != video::LayoutClass::Tiled;
}

Result<video::FrameView> map_memory(MappedMemory& memory, const Wanted& wanted) {
  const dmabuf::ExternalFrame& frame = *memory.frame;
  std::array<const uint8_t*, video::kMaxPlanes> start{};
  for (uint32_t i = 0; i < frame.object_count; ++i) {
    const int fd = frame.objects[i].fd.get();
    auto mapped = frame.objects[i].mapping->read(fd, frame.objects[i].size_bytes);
    if (!mapped) return mapped.error();
    start[i] = *mapped;
    auto access = dmabuf::CpuAccess::begin(fd, dmabuf::Access::Read);
    if (!access) return access.error();
    memory.accesses[i] = std::move(*access);
  }
  video::FrameView view = view_without_planes(wanted, frame.plane_count);
  for (uint32_t p = 0; p < frame.plane_count; ++p)
    view.planes[p] =
        plane_view(wanted, p, start[frame.planes[p].object] + frame.planes[p].offset,
                   static_cast<uint32_t>(frame.planes[p].pitch_bytes));
  return view;
}

// --- the ways, best guess first

enum class Method : uint8_t { Derive, GetImage, Map };
struct Way {
  Method method;
  bool streaming;    // loads: only worth a try where the memory may be write-combined
  const char* name;  // ABI, in dxvadec's `stats`
};
constexpr std::array kWays = {
    Way{Method::Derive, false, "derive-image"},
    Way{Method::Derive, true, "derive-image-streaming"},
    Way{Method::GetImage, false, "get-image"},
    Way{Method::Map, false, "map"},
    Way{Method::Map, true, "map-streaming"},
};
static_assert(kWays.size() <= CopyChoices::kMostWays);

Fastest::Ways possible_ways(bool memory) {
  Fastest::Ways out = 0;
  for (uint32_t i = 0; i < kWays.size(); ++i)
    if ((!kWays[i].streaming || video::streaming_copy()) &&
        (kWays[i].method != Method::Map || memory))
      out |= Fastest::only(i);
  return out;
}

// Plain loads of memory that is not cached take tens of times as long, so what differs by less
// than this is noise.
constexpr int64_t kNoisePercent = 25;

bool keeps_up(const Fastest::Standing& way, const Fastest::Standing& fastest) {
  if (way.out || way.turns == 0 || way.shortest == Fastest::kNever) return false;
  return way.shortest.count() / (100 + kNoisePercent) <= fastest.shortest.count() / 100;
}

// The way to an image that is read where it lies; nothing: copying is faster, or not measured.
std::optional<Fastest::Way> way_in_place(CopyChoices& choices, const CopyChoices::Key& key,
                                         Fastest::Ways possible) {
  constexpr Fastest::Way kDerive = 0;
  constexpr Fastest::Way kGetImage = 2;
  static_assert(kWays[kDerive].method == Method::Derive && !kWays[kDerive].streaming &&
                kWays[kGetImage].method == Method::GetImage);
  const auto standings = choices.standings(key);
  if (test_switch().read_in_place) return standings[kDerive].out ? kGetImage : kDerive;
  const auto fastest = choices.next(key, possible);
  if (!fastest || choices.wants(key, *fastest)) return std::nullopt;
  if (keeps_up(standings[kDerive], standings[*fastest])) return kDerive;
  if (*fastest == kGetImage) return kGetImage;
  return std::nullopt;
}

void rule_out(CopyChoices& choices, const CopyChoices::Key& key, Method method,
              const std::string& why) {
  for (uint32_t i = 0; i < kWays.size(); ++i)
    if (kWays[i].method == method) choices.rule_out(key, i, why);
}

}  // namespace

struct SurfaceMapping::State {
  std::shared_ptr<Display> display;  // outlives the image
  ImagePtr image;
  MappedMemory memory;
  video::FrameView view;

  CopyChoices::Key key;
  Fastest::Way way = 0;
  std::chrono::steady_clock::time_point started;
};

SurfaceMapping::SurfaceMapping(std::unique_ptr<State> state) : state_(std::move(state)) {}
SurfaceMapping::SurfaceMapping(SurfaceMapping&&) noexcept = default;
SurfaceMapping& SurfaceMapping::operator=(SurfaceMapping&&) noexcept = default;
SurfaceMapping::~SurfaceMapping() = default;

const video::FrameView& SurfaceMapping::view() const {
  return state_->view;
}

std::span<const uint8_t> SurfaceMapping::image() const {
  if (!state_->image) return {};
  return {state_->image->data(), state_->image->info().data_size};
}

video::PlaneCopy SurfaceMapping::plane_copy() const {
  return kWays[state_->way].streaming ? video::streaming_copy() : &video::copy_plane;
}

bool SurfaceMapping::whole_picture_copied() {
  CopyChoices& choices = state_->display->copy_choices();
  if (!choices.wants(state_->key, state_->way)) return false;
  choices.took(state_->key, state_->way, std::chrono::steady_clock::now() - state_->started);
  return true;
}

const char* SurfaceMapping::way_name() const {
  return kWays[state_->way].name;
}

std::vector<NamedStanding> SurfaceMapping::standings() const {
  std::vector<NamedStanding> out;
  const auto standings = state_->display->copy_choices().standings(state_->key);
  for (uint32_t i = 0; i < kWays.size(); ++i)
    out.push_back({.name = kWays[i].name, .standing = standings[i]});
  return out;
}

namespace {

using StatePtr = std::unique_ptr<SurfaceMapping::State>;

Result<StatePtr> open(const std::shared_ptr<Display>& display, VASurfaceID surface,
                      const Wanted& wanted,
                      const std::shared_ptr<const dmabuf::ExternalFrame>& exported,
                      Method method) {
  auto state = std::make_unique<SurfaceMapping::State>();
  state->display = display;
  state->started = std::chrono::steady_clock::now();
  if (method == Method::Map) {
    state->memory.frame = exported;
    auto view = map_memory(state->memory, wanted);
    if (!view) return view.error();
    state->view = *view;
    return state;
  }
  auto image = method == Method::Derive ? derive(display->get(), surface)
                                        : copy_out(display->get(), surface, wanted);
  if (!image) return image.error();
  if (auto mapped = (*image)->map(); !mapped) return mapped.error();
  auto view = view_of(**image, wanted);
  if (!view) return view.error();
  state->image = std::move(*image);
  state->view = *view;
  return state;
}

// Held against vaGetImage's, until a picture with something to see in it agreed: derived
// pitches and fields have been wrong (Mesa before 23.3: P010, interlaced surfaces). Without a
// vaGetImage the driver is believed.
bool is_right(const SurfaceMapping::State& state, VASurfaceID surface, const Wanted& wanted,
              Fastest::Way way) {
  CopyChoices& choices = state.display->copy_choices();
  if (kWays[way].method == Method::GetImage || choices.is_proven(state.key, way)) return true;
  const auto other = open(state.display, surface, wanted, nullptr, Method::GetImage);
  const bool same = !other || video::same_pixels((*other)->view, state.view);
  if (same && (!other || video::shows_its_layout(state.view)))
    choices.set_proven(state.key, way);
  return same;
}

CopyChoices::Key key_of(uint32_t fourcc, const dmabuf::ExternalFrame* exported) {
  return {.what = CopyKey::What::ReadBack,
          .fourcc = fourcc,
          .modifier = exported && exported->object_count > 0 ? exported->objects[0].modifier
                                                             : kModifierInvalid};
}

Status wait_for(const Display& display, VASurfaceID surface, Written written) {
  if (written == Written::Yes) return Done{};
  if (auto synced = wait_until_decoded(display, surface); !synced) return synced.error();
  return Done{};
}

Error wrong_picture(Fastest::Way way) {
  return {.code = ErrorCode::Failed,
          .call = kWays[way].name,
          .text = "shows another picture than vaGetImage",
          .reason = Reason::SelfTestMismatch};
}

}  // namespace

Result<SurfaceMapping> map_for_read(const std::shared_ptr<Display>& display,
                                    VASurfaceID surface, uint32_t fourcc, uint32_t width,
                                    uint32_t height,
                                    std::shared_ptr<const dmabuf::ExternalFrame> exported,
                                    Written written) {
  const Wanted wanted{.fourcc = fourcc, .width = width, .height = height};
  if (auto waited = wait_for(*display, surface, written); !waited) return waited.error();

  CopyChoices& choices = display->copy_choices();
  const CopyChoices::Key key = key_of(fourcc, exported.get());
  if (exported && !is_readable(*exported, wanted)) exported.reset();
  Fastest::Ways possible = possible_ways(exported != nullptr);
  Error last;
  while (const auto way = choices.next(key, possible)) {
    const Method method = kWays[*way].method;
    auto state = open(display, surface, wanted, exported, method);
    if (state) {
      (*state)->key = key;
      (*state)->way = *way;
      if (is_right(**state, surface, wanted, *way)) return SurfaceMapping(std::move(*state));
      last = wrong_picture(*way);
      DXVA_WARNING(Va, "surface 0x%x: not used: %s", surface, last.describe().c_str());
    } else {
      last = state.error();
      DXVA_LOG(Va, "surface 0x%x: %s is of no use: %s", surface, kWays[*way].name,
               last.describe().c_str());
    }
    if (method != Method::GetImage) {
      rule_out(choices, key, method, last.describe());
      continue;
    }
    // The one that every driver should have is out for this picture only.
    possible &= ~Fastest::only(*way);
    choices.took(key, *way, Fastest::kNever);
  }
  return last;
}

Result<SurfaceMapping> map_for_read_in_place(const std::shared_ptr<Display>& display,
                                             VASurfaceID surface, uint32_t fourcc,
                                             uint32_t width, uint32_t height,
                                             const dmabuf::ExternalFrame* exported,
                                             Written written) {
  const Wanted wanted{.fourcc = fourcc, .width = width, .height = height};
  CopyChoices& choices = display->copy_choices();
  const CopyChoices::Key key = key_of(fourcc, exported);
  const bool memory = exported && is_readable(*exported, wanted);
  const auto way = way_in_place(choices, key, possible_ways(memory));
  if (!way)
    return Error{.code = ErrorCode::Unsupported, .text = "faster with a copy, or not known"};
  if (auto waited = wait_for(*display, surface, written); !waited) return waited.error();
  auto state = open(display, surface, wanted, nullptr, kWays[*way].method);
  if (!state) return state.error();
  (*state)->key = key;
  (*state)->way = *way;
  // What is wrong is ruled out by the copy that follows, which finds it as well.
  if (!is_right(**state, surface, wanted, *way)) return wrong_picture(*way);
  return SurfaceMapping(std::move(*state));
}

}  // namespace dxva::va
