// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <cstdint>

namespace dxva::va {

// Entry points that an older libva lacks, looked up with dlsym in the libva that is loaded:
// linking to them would keep the whole plugin from loading there. Null = absent.
struct Api {
  using ExportSurfaceHandle = VAStatus (*)(VADisplay, VASurfaceID, uint32_t mem_type,
                                           uint32_t flags, void* descriptor);
  using SyncSurface2 = VAStatus (*)(VADisplay, VASurfaceID, uint64_t timeout_ns);
  using Copy = VAStatus (*)(VADisplay, VACopyObject* target, VACopyObject* source,
                            VACopyOption);

  ExportSurfaceHandle export_surface_handle = nullptr;  // libva 2.1
  SyncSurface2 sync_surface2 = nullptr;                 // libva 2.9
  Copy copy = nullptr;                                  // libva 2.10

  [[nodiscard]] static Api load();
};

}  // namespace dxva::va
