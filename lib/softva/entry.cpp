// SPDX-License-Identifier: LGPL-2.1-or-later

// What libva sees: one exported function, which fills the table of calls. libva looks for the
// init function of its own minor version first and then for every older one down to 1_0, so
// this name serves all of libva 2.

#include <va/va_backend.h>
#include <va/va_backend_vpp.h>

#include <memory>
#include <string>
#include <utility>

#include "lib/softva/driver.hpp"
#include "lib/softva/export.hpp"
#include "lib/softva/video_processor.hpp"

namespace dxva::softva {
namespace {

// What a driver answers from its tables, or only frees; a GPU that is gone does not matter to
// it.
template <auto Function>
constexpr bool kNeedsDevice = true;
template <>
constexpr bool kNeedsDevice<query_config_profiles> = false;
template <>
constexpr bool kNeedsDevice<query_config_entrypoints> = false;
template <>
constexpr bool kNeedsDevice<get_config_attributes> = false;
template <>
constexpr bool kNeedsDevice<query_config_attributes> = false;
template <>
constexpr bool kNeedsDevice<query_image_formats> = false;
template <>
constexpr bool kNeedsDevice<query_surface_attributes> = false;
template <>
constexpr bool kNeedsDevice<destroy_config> = false;
template <>
constexpr bool kNeedsDevice<destroy_surfaces> = false;
template <>
constexpr bool kNeedsDevice<destroy_context> = false;
template <>
constexpr bool kNeedsDevice<destroy_buffer> = false;
template <>
constexpr bool kNeedsDevice<destroy_image> = false;
template <>
constexpr bool kNeedsDevice<unmap_buffer> = false;

// Turns `VAStatus f(Driver&, Args...)` into the C function that libva's table wants. A
// signature that differs from the table's does not compile.
template <auto Function>
struct Entry;
template <typename... Args, VAStatus (*Function)(Driver&, Args...)>
struct Entry<Function> {
  static VAStatus call(VADriverContextP context, Args... args) noexcept {
    Driver& driver = *static_cast<Driver*>(context->pDriverData);
    if (kNeedsDevice<Function> && driver.lost()) return VA_STATUS_ERROR_HW_BUSY;
    const VAStatus status = Function(driver, args...);
    // The call that lost it.
    return status != VA_STATUS_SUCCESS && kNeedsDevice<Function> && driver.lost()
               ? VA_STATUS_ERROR_HW_BUSY
               : status;
  }
};

VAStatus terminate(VADriverContextP context) noexcept {
  static_cast<Driver*>(context->pDriverData)->hang.end();
  delete static_cast<Driver*>(context->pDriverData);
  context->pDriverData = nullptr;
  return VA_STATUS_SUCCESS;
}

// Calls that libva insists on and this driver has no use for.
VAStatus put_surface(Driver&, VASurfaceID, void*, short, short, unsigned short, unsigned short,
                     short, short, unsigned short, unsigned short, VARectangle*, unsigned,
                     unsigned) {
  return VA_STATUS_ERROR_UNIMPLEMENTED;
}
VAStatus query_subpicture_formats(Driver&, VAImageFormat*, unsigned*, unsigned* count) {
  if (!count) return VA_STATUS_ERROR_INVALID_PARAMETER;
  *count = 0;
  return VA_STATUS_SUCCESS;
}
VAStatus create_subpicture(Driver&, VAImageID, VASubpictureID*) {
  return VA_STATUS_ERROR_UNIMPLEMENTED;
}
VAStatus destroy_subpicture(Driver&, VASubpictureID) {
  return VA_STATUS_ERROR_INVALID_SUBPICTURE;
}
VAStatus set_subpicture_image(Driver&, VASubpictureID, VAImageID) {
  return VA_STATUS_ERROR_INVALID_SUBPICTURE;
}
VAStatus set_subpicture_chromakey(Driver&, VASubpictureID, unsigned, unsigned, unsigned) {
  return VA_STATUS_ERROR_INVALID_SUBPICTURE;
}
VAStatus set_subpicture_global_alpha(Driver&, VASubpictureID, float) {
  return VA_STATUS_ERROR_INVALID_SUBPICTURE;
}
VAStatus associate_subpicture(Driver&, VASubpictureID, VASurfaceID*, int, short, short,
                              unsigned short, unsigned short, short, short, unsigned short,
                              unsigned short, unsigned) {
  return VA_STATUS_ERROR_INVALID_SUBPICTURE;
}
VAStatus deassociate_subpicture(Driver&, VASubpictureID, VASurfaceID*, int) {
  return VA_STATUS_ERROR_INVALID_SUBPICTURE;
}
VAStatus query_display_attributes(Driver&, VADisplayAttribute*, int* count) {
  if (!count) return VA_STATUS_ERROR_INVALID_PARAMETER;
  *count = 0;
  return VA_STATUS_SUCCESS;
}
VAStatus get_display_attributes(Driver&, VADisplayAttribute* list, int count) {
  if (count < 0 || (count > 0 && !list)) return VA_STATUS_ERROR_INVALID_PARAMETER;
  for (int i = 0; i < count; ++i) list[i].flags = VA_DISPLAY_ATTRIB_NOT_SUPPORTED;
  return VA_STATUS_SUCCESS;
}
VAStatus set_display_attributes(Driver&, VADisplayAttribute* list, int count) {
  if (count < 0 || (count > 0 && !list)) return VA_STATUS_ERROR_INVALID_PARAMETER;
  return VA_STATUS_ERROR_ATTR_NOT_SUPPORTED;
}

void fill_table(VADriverVTable& table) {
  table.vaTerminate = terminate;

  table.vaQueryConfigProfiles = Entry<query_config_profiles>::call;
  table.vaQueryConfigEntrypoints = Entry<query_config_entrypoints>::call;
  table.vaGetConfigAttributes = Entry<get_config_attributes>::call;
  table.vaCreateConfig = Entry<create_config>::call;
  table.vaDestroyConfig = Entry<destroy_config>::call;
  table.vaQueryConfigAttributes = Entry<query_config_attributes>::call;

  table.vaCreateSurfaces = Entry<create_surfaces>::call;
  table.vaCreateSurfaces2 = Entry<create_surfaces2>::call;
  table.vaDestroySurfaces = Entry<destroy_surfaces>::call;
  table.vaQuerySurfaceAttributes = Entry<query_surface_attributes>::call;
  table.vaSyncSurface = Entry<sync_surface>::call;
  table.vaSyncSurface2 = Entry<sync_surface2>::call;
  table.vaQuerySurfaceStatus = Entry<query_surface_status>::call;
  table.vaQuerySurfaceError = Entry<query_surface_error>::call;
  table.vaExportSurfaceHandle = Entry<export_surface>::call;

  table.vaCreateContext = Entry<create_context>::call;
  table.vaDestroyContext = Entry<destroy_context>::call;
  table.vaBeginPicture = Entry<begin_picture>::call;
  table.vaRenderPicture = Entry<render_picture>::call;
  table.vaEndPicture = Entry<end_picture>::call;

  table.vaCreateBuffer = Entry<create_buffer>::call;
  table.vaBufferSetNumElements = Entry<buffer_set_num_elements>::call;
  table.vaMapBuffer = Entry<map_buffer>::call;
  table.vaUnmapBuffer = Entry<unmap_buffer>::call;
  table.vaDestroyBuffer = Entry<destroy_buffer>::call;
  table.vaBufferInfo = Entry<buffer_info>::call;
  table.vaSyncBuffer = Entry<sync_buffer>::call;

  table.vaQueryImageFormats = Entry<query_image_formats>::call;
  table.vaCreateImage = Entry<create_image>::call;
  table.vaDeriveImage = Entry<derive_image>::call;
  table.vaDestroyImage = Entry<destroy_image>::call;
  table.vaSetImagePalette = Entry<set_image_palette>::call;
  table.vaGetImage = Entry<get_image>::call;
  table.vaPutImage = Entry<put_image>::call;

  table.vaPutSurface = Entry<put_surface>::call;
  table.vaQuerySubpictureFormats = Entry<query_subpicture_formats>::call;
  table.vaCreateSubpicture = Entry<create_subpicture>::call;
  table.vaDestroySubpicture = Entry<destroy_subpicture>::call;
  table.vaSetSubpictureImage = Entry<set_subpicture_image>::call;
  table.vaSetSubpictureChromakey = Entry<set_subpicture_chromakey>::call;
  table.vaSetSubpictureGlobalAlpha = Entry<set_subpicture_global_alpha>::call;
  table.vaAssociateSubpicture = Entry<associate_subpicture>::call;
  table.vaDeassociateSubpicture = Entry<deassociate_subpicture>::call;
  table.vaQueryDisplayAttributes = Entry<query_display_attributes>::call;
  table.vaGetDisplayAttributes = Entry<get_display_attributes>::call;
  table.vaSetDisplayAttributes = Entry<set_display_attributes>::call;

  table.vaCopy = Entry<copy_object>::call;
}

void fill_table(VADriverVTableVPP& table) {
  table.version = VA_DRIVER_VTABLE_VPP_VERSION;
  table.vaQueryVideoProcFilters = Entry<query_filters>::call;
  table.vaQueryVideoProcFilterCaps = Entry<query_filter_caps>::call;
  table.vaQueryVideoProcPipelineCaps = Entry<query_pipeline_caps>::call;
}

// A reason people see: vaInitialize itself can only say "failed".
VAStatus refuse(VADriverContextP context, const Error& error) {
  const std::string text = "dxvasoft: " + error.describe() + "\n";
  if (context->error_callback) context->error_callback(context, text.c_str());
  return VA_STATUS_ERROR_INVALID_PARAMETER;
}

VAStatus initialize(VADriverContextP context) {
  auto knobs = Knobs::from_environment();
  if (!knobs) return refuse(context, knobs.error());

  // Memory asked for by name is tried now, so that it fails here and not at the first surface.
  constexpr uint64_t kProbeBytes = 4096;
  Result<MemoryKind> memory = knobs->memory ? *knobs->memory : best_memory_kind();
  if (!memory) return refuse(context, memory.error());
  if (auto probe = Memory::allocate(*memory, kProbeBytes); !probe)
    return refuse(context, probe.error());

  std::shared_ptr<VgemFences> fences;
  if (knobs->vgem_fences) {
    auto opened = VgemFences::open();
    if (!opened) return refuse(context, opened.error());
    fences = std::move(*opened);
  }

  std::string vendor = knobs->vendor.empty()
                           ? std::string("dxvasoft software VA-API driver, surfaces in ") +
                                 memory_kind_name(*memory)
                           : knobs->vendor;
  auto driver = std::make_unique<Driver>(std::move(*knobs), *memory, std::move(vendor));
  driver->fences = std::move(fences);

  // libva sizes the lists that it hands to the query calls by these, and rejects zeros even
  // where a driver has nothing to list.
  context->version_major = VA_MAJOR_VERSION;
  context->version_minor = VA_MINOR_VERSION;
  context->max_profiles = static_cast<int>(FrameDecoder::profiles().size()) + 1;
  context->max_entrypoints = 1;
  context->max_attributes = kMaxConfigAttributes;
  context->max_image_formats = static_cast<int>(formats().size());
  context->max_subpic_formats = 1;
  context->max_display_attributes = 1;
  context->str_vendor = driver->vendor.c_str();
  fill_table(*context->vtable);
  if (context->vtable_vpp) fill_table(*context->vtable_vpp);
  context->pDriverData = driver.release();
  return VA_STATUS_SUCCESS;
}

}  // namespace
}  // namespace dxva::softva

extern "C" [[gnu::visibility("default")]] VAStatus __vaDriverInit_1_0(VADriverContextP context);

VAStatus __vaDriverInit_1_0(VADriverContextP context) {
  return dxva::softva::initialize(context);
}
