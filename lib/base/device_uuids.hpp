// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dxva {

// Who can read an opaque descriptor: Vulkan's VkPhysicalDeviceIDProperties and OpenGL's
// GL_DEVICE_UUID_EXT and GL_DRIVER_UUID_EXT (EXT_external_objects). Memory may be shared only
// where both are equal; nothing else says what such a descriptor is.
struct DeviceUuids {
  using Uuid = std::array<uint8_t, 16>;
  Uuid device{};
  Uuid driver{};

  // CUDA tells the device's only: its maker's memory goes to whatever driver the device has,
  // and that is the one that CUDA came with.
  [[nodiscard]] bool tells_driver() const { return driver != Uuid{}; }
  // Memory of `maker` is for readers of these.
  [[nodiscard]] bool read(const DeviceUuids& maker) const {
    return maker.tells_driver() ? maker == *this : maker.device == device;
  }

  friend bool operator==(const DeviceUuids&, const DeviceUuids&) = default;
};

// 32 digits of lower-case hexadecimal, as caps carry them.
[[nodiscard]] inline std::string uuid_text(const DeviceUuids::Uuid& uuid) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const uint8_t byte : uuid) {
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

// The other way; nothing when it is no such text.
[[nodiscard]] inline std::optional<DeviceUuids::Uuid> parse_uuid(std::string_view text) {
  DeviceUuids::Uuid out{};
  if (text.size() != out.size() * 2) return std::nullopt;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return std::nullopt;
    out[i / 2] = static_cast<uint8_t>(out[i / 2] << 4 | digit);
  }
  return out;
}

}  // namespace dxva
