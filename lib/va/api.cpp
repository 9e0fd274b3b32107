// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/api.hpp"

#include <dlfcn.h>

namespace dxva::va {
namespace {

// The libva that we are linked to, whether or not its symbols are visible to the whole process:
// plugins and what they bring along are usually not.
void* loaded_libva() {
  void* handle = ::dlopen("libva.so.2", RTLD_LAZY | RTLD_NOLOAD);
  return handle ? handle : RTLD_DEFAULT;
}

template <typename Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

}  // namespace

Api Api::load() {
  // Never closed: it is a second reference to a library that stays anyway.
  static void* const libva = loaded_libva();
  return {
      .export_surface_handle = find<ExportSurfaceHandle>(libva, "vaExportSurfaceHandle"),
      .sync_surface2 = find<SyncSurface2>(libva, "vaSyncSurface2"),
      .copy = find<Copy>(libva, "vaCopy"),
  };
}

}  // namespace dxva::va
