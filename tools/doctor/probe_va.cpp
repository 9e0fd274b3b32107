// SPDX-License-Identifier: LGPL-2.1-or-later
#include <va/va_str.h>

#include "lib/base/fourcc.hpp"
#include "lib/decode/device_support.hpp"
#include "lib/va/display.hpp"
#include "tools/doctor/probes.hpp"

namespace dxva::doctor {

Json probe_va(const std::string& device) {
  Json out = Json::object();
  out.set("device", device);
  const auto display = va::Display::open(va::DeviceChoice::parse(device));
  if (!display) {
    out.set("error", display.error().describe());
    return out;
  }
  out.set("vendor", (*display)->vendor());
  out.set("node", (*display)->node());
  out.set("software", (*display)->is_software());
  out.set("exports", (*display)->api().export_surface_handle != nullptr);
  Json profiles = Json::array();
  for (const VAProfile profile : (*display)->profiles()) {
    Json one = Json::object();
    one.set("profile", vaProfileStr(profile));
    if (const auto caps = (*display)->decode_caps(profile)) {
      one.set("max-width", int64_t{caps->max_width});
      one.set("max-height", int64_t{caps->max_height});
      one.set("exports", caps->exports_prime2);
      Json formats = Json::array();
      for (const uint32_t fourcc : caps->fourccs) formats.add(fourcc_text(fourcc));
      one.set("formats", formats);
    } else {
      one.set("error", caps.error().describe());
    }
    profiles.add(one);
  }
  out.set("profiles", profiles);
  Json codecs = Json::array();
  using enum decode::Codec;
  for (const decode::Codec codec : {H264, H265, Vp8, Vp9, Av1, Mpeg2, Jpeg})
    if (decode::device_decodes(**display, codec)) codecs.add(decode::codec_name(codec));
  out.set("codecs", codecs);
  return out;
}

}  // namespace dxva::doctor
