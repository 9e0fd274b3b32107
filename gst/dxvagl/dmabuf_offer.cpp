// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/dmabuf_offer.hpp"

#include <algorithm>

#include "lib/gl/egl_importer.hpp"

namespace dxva::gst {
namespace {

bool contains(const std::vector<uint64_t>& all, uint64_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

void add_once(std::vector<uint64_t>& all, uint64_t one) {
  if (!contains(all, one)) all.push_back(one);
}

bool can_be_offered(uint64_t modifier) {
  return modifier != kModifierInvalid && !has_aux_planes(modifier);
}

DmabufOffer rank(uint32_t fourcc, const gl::ImportFormats& formats, bool samples_external) {
  using enum gl::ImportFormats::Sampling;
  DmabufOffer out{.fourcc = fourcc};
  std::vector<uint64_t> tiled_planes;
  bool linear = false;
  for (const uint64_t modifier :
       formats.common_modifiers(gl::plane_fourcc(fourcc, 0), gl::plane_fourcc(fourcc, 1))) {
    if (modifier == kModifierLinear)
      linear = true;
    else if (can_be_offered(modifier))
      add_once(tiled_planes, modifier);
  }
  bool linear_whole = false;
  for (const uint64_t modifier : formats.all_modifiers(fourcc)) {
    if (formats.sampling(fourcc, modifier) == External && !samples_external) continue;
    if (modifier == kModifierLinear)
      linear_whole = true;
    else if (can_be_offered(modifier))
      add_once(out.drawn_modifiers, modifier);
  }
  // Those known both ways first: one of two ways may still be refused for a size.
  std::stable_partition(out.drawn_modifiers.begin(), out.drawn_modifiers.end(),
                        [&](uint64_t modifier) { return contains(tiled_planes, modifier); });
  if (linear || linear_whole) out.drawn_modifiers.push_back(kModifierLinear);
  if (linear) out.modifiers.push_back(kModifierLinear);
  out.modifiers.insert(out.modifiers.end(), tiled_planes.begin(), tiled_planes.end());
  return out;
}

}  // namespace

bool DmabufOffer::has_planes(uint64_t modifier) const {
  return contains(modifiers, modifier);
}

bool DmabufOffer::is_drawn(uint64_t modifier) const {
  return contains(drawn_modifiers, modifier);
}

std::vector<uint64_t> DmabufOffer::for_rgb() const {
  std::vector<uint64_t> out = drawn_modifiers;
  for (const uint64_t modifier : modifiers) add_once(out, modifier);
  return out;
}

DmabufOffers rank_offers(const gl::ImportFormats& formats, bool samples_external) {
  DmabufOffers out;
  for (const uint32_t fourcc : {format::kNV12, format::kP010}) {
    DmabufOffer offer = rank(fourcc, formats, samples_external);
    if (!offer.modifiers.empty() || !offer.drawn_modifiers.empty())
      out.push_back(std::move(offer));
  }
  return out;
}

}  // namespace dxva::gst
