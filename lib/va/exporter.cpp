// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/exporter.hpp"

#include <va/va_drmcommon.h>

#include "lib/dmabuf/opaque_surface.hpp"
#include "lib/va/opaque_descriptor.hpp"
#include "lib/va/prime_descriptor.hpp"

namespace dxva::va {
namespace {

constexpr const char* kCall = "vaExportSurfaceHandle";

// "Never" rather than "not this time": asking again is no use.
bool means_unsupported(VAStatus status) {
  return status == VA_STATUS_ERROR_UNIMPLEMENTED ||
         status == VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE;
}

// Memory that no dma-buf names. Only the bundled driver knows the type.
Result<dmabuf::ExternalFrame> export_opaque(const Display& display, VASurfaceID surface) {
  dmabuf::OpaqueSurfaceDescriptor descriptor{};
  descriptor.version = dmabuf::OpaqueSurfaceDescriptor::kVersion;
  for (auto& object : descriptor.objects) object.fd = -1;
  const VAStatus status =
      display.api().export_surface_handle(display.get(), surface, dmabuf::kOpaqueFdMemoryType,
                                          VA_EXPORT_SURFACE_READ_ONLY, &descriptor);
  if (status == VA_STATUS_SUCCESS) return adopt_opaque_descriptor(descriptor);
  Error error = va_error(status, kCall);
  error.reason = means_unsupported(status) ? Reason::ExportUnsupported : Reason::ExportFailed;
  return error;
}

}  // namespace

Result<dmabuf::ExternalFrame> export_surface(const Display& display, VASurfaceID surface) {
  if (!display.api().export_surface_handle)
    return Error{.code = ErrorCode::Unsupported,
                 .call = kCall,
                 .text = "not in this libva",
                 .reason = Reason::ExportUnsupported};

  VADRMPRIMESurfaceDescriptor descriptor{};
  // What the driver does not write must not look like descriptor 0, which is somebody's.
  for (auto& object : descriptor.objects) object.fd = -1;
  const VAStatus status = display.api().export_surface_handle(
      display.get(), surface, VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2,
      VA_EXPORT_SURFACE_READ_ONLY | VA_EXPORT_SURFACE_SEPARATE_LAYERS, &descriptor);
  if (status == VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE) return export_opaque(display, surface);
  if (status != VA_STATUS_SUCCESS) {
    Error error = va_error(status, kCall);
    error.reason = means_unsupported(status) ? Reason::ExportUnsupported : Reason::ExportFailed;
    return error;
  }
  return adopt_descriptor(descriptor);
}

}  // namespace dxva::va
