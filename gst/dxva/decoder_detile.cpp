// SPDX-License-Identifier: LGPL-2.1-or-later

// Surfaces in a layout that downstream cannot read: copied by the device, or by the CPU where
// that was measured to be faster (docs/design/copies.md).

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gst/dxva/decoder.hpp"

GST_DEBUG_CATEGORY_EXTERN(dxvadec_debug);
#define GST_CAT_DEFAULT dxvadec_debug

namespace dxva::gst {

namespace {

constexpr Fastest::Way kGpu = 0;
constexpr Fastest::Way kCpu = 1;
constexpr Fastest::Ways kBoth = Fastest::only(kGpu) | Fastest::only(kCpu);
constexpr Fastest::Ways kGpuOnly = Fastest::only(kGpu);

va::CopyChoices::Key key_of(const decode::DecodedFrame& picture, const SurfaceLook& look) {
  return {.what = va::CopyKey::What::Detile,
          .fourcc = picture.surface->fourcc(),
          .modifier = look.modifier};
}

std::string joined(const std::vector<va::DroppedWay>& dropped) {
  std::string out;
  for (const va::DroppedWay& way : dropped)
    out += (out.empty() ? "" : "; ") + std::string(way.name) + ": " + way.why;
  return out;
}

}  // namespace

// For `stats`: which way the device copies, why others not, and what was measured.
void Decoder::report_gpu_copy(const va::CopyChoices::Key& key) {
  auto& choices = hardware_.va->copy_choices();
  const auto& dropped = gpu_copies_.dropped();
  if (gpu_copies_.is_off()) choices.rule_out(key, kGpu, joined(dropped));
  auto standings = choices.standings(key);
  if (!standings[kGpu].out && choices.decided(key, kBoth) && choices.next(key, kBoth) == kCpu)
    standings[kGpu].out = "the CPU is faster";
  std::vector<NamedStanding> ways = {{.name = "device", .standing = standings[kGpu]},
                                     {.name = "cpu", .standing = standings[kCpu]}};
  for (const va::DroppedWay& way : dropped)
    ways.push_back({.name = way.name, .standing = {.out = way.why}});
  stats_.set_gpu_copy(gpu_copies_.way_name(), std::move(ways));
  gpu_copy_told_ = {gpu_copies_.way_name(), dropped.size()};
}

// One copy by the device, or nothing.
std::optional<GpuCopies::Copied> Decoder::make_gpu_copy(const decode::DecodedFrame& picture,
                                                        const va::CopyChoices::Key& key,
                                                        const ModifiersTaken& taken) {
  auto copied = gpu_copies_.make(
      picture, {.taken = taken, .rule = active_.layout, .surfaces = active_.extra_surfaces});
  if (gpu_copy_told_ != std::pair{gpu_copies_.way_name(), gpu_copies_.dropped().size()})
    report_gpu_copy(key);
  return copied;
}

// The copy that the caps could be about. The picture's own surface is none of `taken`.
std::optional<GpuCopies::Copied> Decoder::offer_gpu_copy(const decode::DecodedFrame& picture,
                                                         const SurfaceLook& look,
                                                         const ModifiersTaken& taken,
                                                         EvenIfSlower even) {
  if (!hardware_.va) return std::nullopt;  // nobody else lays pictures out in tiles
  const bool other_layout =
      look.refused == Reason::None ? !taken.take(look.modifier) : is_about_layout(look.refused);
  if (!other_layout || look.opaque || (!taken.any && taken.list.empty())) return std::nullopt;
  auto& choices = hardware_.va->copy_choices();
  const auto key = key_of(picture, look);
  if (even == EvenIfSlower::No && active_.zero_copy != ZeroCopy::Require &&
      choices.decided(key, kBoth) && choices.next(key, kBoth) != kGpu) {
    report_gpu_copy(key);
    return std::nullopt;
  }
  // A picture that cannot be read is leave()'s business.
  const auto synced = picture.surface->sync();
  if (!synced || accel::stops(*synced)) return std::nullopt;
  return make_gpu_copy(picture, key, taken);
}

// How a picture of such a surface leaves. While both ways have their first turns they take
// turns; with one way there is nothing to measure.
std::optional<Decoder::Detiling> Decoder::detiling_of(const decode::DecodedFrame& picture,
                                                      const SurfaceLook& look, Reason reason) {
  if (!agreement_.is_dmabuf() || !is_about_layout(reason) || gpu_copies_.is_off() ||
      !hardware_.va)
    return std::nullopt;
  auto& choices = hardware_.va->copy_choices();
  Detiling out{.key = key_of(picture, look)};
  const bool cpu_too = active_.zero_copy != ZeroCopy::Require && copies_fit(agreement_);
  const Fastest::Ways possible = cpu_too ? kBoth : kGpuOnly;
  out.measured = cpu_too && !choices.decided(out.key, possible);
  out.by_gpu = choices.next(out.key, possible) == kGpu;
  return out;
}

void Decoder::took(const Detiling& detiling, std::chrono::nanoseconds time) {
  if (!detiling.measured) return;
  auto& choices = hardware_.va->copy_choices();
  choices.took(detiling.key, detiling.by_gpu ? kGpu : kCpu, time);
  report_gpu_copy(detiling.key);
  if (!choices.decided(detiling.key, kBoth)) return;
  const bool gpu = choices.next(detiling.key, kBoth) == kGpu;
  GST_INFO_OBJECT(&element_, "pictures are copied faster by the %s", gpu ? "device" : "CPU");
  // In system memory the CPU's copy goes where downstream wants it.
  if (!gpu && agreement_.takes_system) negotiate_again_ = true;
}

// The device's copy of the picture in the frame, or why not.
Reason Decoder::lend_gpu_copy(const decode::DecodedFrame& picture, const Detiling& detiling,
                              Reason reason, GstVideoCodecFrame& frame) {
  auto copied = std::exchange(gpu_copied_, std::nullopt);
  if (copied && copied->picture.number != picture.number) copied.reset();
  const bool at_negotiation = copied.has_value();
  const bool copy_is_possible = agreement_.takes_system || copies_fit(agreement_);
  surface::Pool* pool = gpu_copies_.pool();
  if (!copied && copy_is_possible && pool && !has_room(*pool)) return Reason::SurfacePoolEmpty;
  const auto started = std::chrono::steady_clock::now();
  if (!copied) copied = make_gpu_copy(picture, detiling.key, agreement_.taken);
  if (!copied) return reason;
  // Caps say one layout.
  if (copied->look.modifier != agreement_.modifier) return reason;
  const Reason refused = lend(copied->picture, copied->look, accel::Pixels::There, frame);
  if (refused == Reason::None && !at_negotiation)
    took(detiling, std::chrono::steady_clock::now() - started);
  return refused == Reason::None ? reason : refused;
}

}  // namespace dxva::gst
