// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/common/opaque_memory.hpp"

#include "gst/common/attached.hpp"
#include "gst/common/memory_identity.hpp"

namespace dxva::gst {
namespace {

constexpr const char* kDevice = "device-uuid";
constexpr const char* kDriver = "driver-uuid";

}  // namespace

void set_uuids(GstStructure* caps, const DeviceUuids& uuids) {
  gst_structure_set(caps, kDevice, G_TYPE_STRING, uuid_text(uuids.device).c_str(), kDriver,
                    G_TYPE_STRING, uuid_text(uuids.driver).c_str(), nullptr);
}

void remove_uuids(GstStructure* caps) {
  gst_structure_remove_fields(caps, kDevice, kDriver, nullptr);
}

std::optional<DeviceUuids> uuids_of(const GstStructure* caps) {
  const char* device = gst_structure_get_string(caps, kDevice);
  const char* driver = gst_structure_get_string(caps, kDriver);
  if (!device || !driver) return std::nullopt;
  const auto device_uuid = parse_uuid(device);
  const auto driver_uuid = parse_uuid(driver);
  if (!device_uuid || !driver_uuid) return std::nullopt;
  return DeviceUuids{.device = *device_uuid, .driver = *driver_uuid};
}

std::optional<BufferIdentity> opaque_identity(GstMemory* memory) {
  memory = whole_memory(memory);
  if (!gst_memory_is_type(memory, kOpaqueMemoryType)) return std::nullopt;
  return memory_identity(memory);
}

}  // namespace dxva::gst
