// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/cuda/device.hpp"
#include "lib/decode/device_support.hpp"
#include "tools/doctor/probes.hpp"

namespace dxva::doctor {
namespace {

Json describe(const cuda::Device& device) {
  Json out = Json::object();
  out.set("node", device.id());
  out.set("vendor", device.name());
  out.set("uuid", uuid_text(device.uuid()));
  out.set("exports", device.exports_memory());
  Json codecs = Json::array(), profiles = Json::array();
  using enum decode::Codec;
  for (const decode::Codec codec : {H264, H265, Vp8, Vp9, Av1, Mpeg2, Jpeg}) {
    if (decode::device_decodes(device, codec)) codecs.add(decode::codec_name(codec));
    for (const uint32_t bits : {8u, 10u}) {
      const auto caps = device.decode_caps(decode::cuda_codec(codec), bits);
      if (!caps) continue;
      Json one = Json::object();
      one.set("codec", decode::codec_name(codec));
      one.set("bits", int64_t{bits});
      one.set("min-width", int64_t{caps->min_width});
      one.set("min-height", int64_t{caps->min_height});
      one.set("max-width", int64_t{caps->max_width});
      one.set("max-height", int64_t{caps->max_height});
      profiles.add(one);
    }
  }
  out.set("codecs", codecs);
  out.set("profiles", profiles);
  return out;
}

}  // namespace

Json probe_cuda() {
  Json devices = Json::array();
  for (uint32_t ordinal = 0; ordinal < cuda::Device::count(); ++ordinal) {
    const auto device = cuda::Device::open({.ordinal = ordinal, .uuid = std::nullopt});
    if (device) {
      devices.add(describe(**device));
      continue;
    }
    Json one = Json::object();
    one.set("node", "cuda:" + std::to_string(ordinal));
    one.set("error", device.error().describe());
    devices.add(one);
  }
  Json out = Json::object();
  out.set("devices", devices);
  return out;
}

}  // namespace dxva::doctor
