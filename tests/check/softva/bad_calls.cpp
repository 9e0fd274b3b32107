// SPDX-License-Identifier: LGPL-2.1-or-later

// Every call with ids that are dead, of another kind or never were, with null, with counts and
// sizes out of range: an error each time, and the driver works on.

#include <cstring>
#include <functional>

#include "tests/check/softva/client.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva::softva::test;

namespace {

// What a driver in use holds, so that an id can be valid but of the wrong kind.
struct World {
  Client client;
  VADisplay display = client.display();
  VASurfaceID surface = client.surface(64, 48);
  VAContextID context = client.context(64, 48);
  VAImage image = client.image(VA_FOURCC_NV12, 64, 48);
  VABufferID buffer = VA_INVALID_ID;

  World() {
    fail_unless_equals_int(
        vaCreateBuffer(display, context, VASliceDataBufferType, 16, 2, nullptr, &buffer),
        VA_STATUS_SUCCESS);
  }
};

struct Case {
  const char* what;
  VAStatus expected;
  std::function<VAStatus(World&)> call;
};

void run(const std::vector<Case>& cases) {
  World world;
  for (const Case& one : cases) {
    const VAStatus status = one.call(world);
    fail_unless(status == one.expected, "%s: %d (%s) instead of %d", one.what, status,
                vaErrorStr(status), one.expected);
  }
  // Nothing above may have hurt it.
  fail_unless_equals_int(world.client.decode(world.context, world.surface, {}),
                         VA_STATUS_SUCCESS);
}

constexpr VAGenericID kNever = 0x7fffffff;

// Every call that takes an id, with an id of each wrong sort.
std::vector<Case> with_bad_id(const char* what, VAStatus expected,
                              VAGenericID World::*other_kind,
                              const std::function<VAStatus(World&, VAGenericID)>& call) {
  std::vector<Case> cases;
  for (const VAGenericID id : {VAGenericID{0}, kNever, VAGenericID{VA_INVALID_ID}})
    cases.push_back({what, expected, [=](World& world) { return call(world, id); }});
  cases.push_back(
      {what, expected, [=](World& world) { return call(world, world.*other_kind); }});
  return cases;
}

void append(std::vector<Case>& all, std::vector<Case> more) {
  all.insert(all.end(), more.begin(), more.end());
}

VASurfaceAttrib integer(VASurfaceAttribType type, int value) {
  VASurfaceAttrib attribute{};
  attribute.type = type;
  attribute.flags = VA_SURFACE_ATTRIB_SETTABLE;
  attribute.value.type = VAGenericValueTypeInteger;
  attribute.value.value.i = value;
  return attribute;
}

VASurfaceAttrib pointer(VASurfaceAttribType type, void* value) {
  VASurfaceAttrib attribute{};
  attribute.type = type;
  attribute.flags = VA_SURFACE_ATTRIB_SETTABLE;
  attribute.value.type = VAGenericValueTypePointer;
  attribute.value.value.p = value;
  return attribute;
}

VAStatus create_surfaces(World& world, uint32_t rt_format, uint32_t width, uint32_t height,
                         uint32_t count, std::vector<VASurfaceAttrib> attributes = {}) {
  std::vector<VASurfaceID> ids(std::min(count, 8u) + 1, VA_INVALID_SURFACE);
  const VAStatus status =
      vaCreateSurfaces(world.display, rt_format, width, height, ids.data(), count,
                       attributes.data(), static_cast<uint32_t>(attributes.size()));
  if (status == VA_STATUS_SUCCESS)
    vaDestroySurfaces(world.display, ids.data(), static_cast<int>(count));
  return status;
}

GST_START_TEST(unknown_ids_are_errors) {
  std::vector<Case> cases;
  append(cases, with_bad_id("vaQuerySurfaceAttributes", VA_STATUS_ERROR_INVALID_CONFIG,
                            &World::surface, [](World& w, VAGenericID id) {
                              unsigned count = 0;
                              return vaQuerySurfaceAttributes(w.display, id, nullptr, &count);
                            }));
  append(cases,
         with_bad_id("vaDestroyConfig", VA_STATUS_ERROR_INVALID_CONFIG, &World::surface,
                     [](World& w, VAGenericID id) { return vaDestroyConfig(w.display, id); }));
  append(cases, with_bad_id("vaQueryConfigAttributes", VA_STATUS_ERROR_INVALID_CONFIG,
                            &World::surface, [](World& w, VAGenericID id) {
                              VAProfile profile;
                              VAEntrypoint entrypoint;
                              VAConfigAttrib list[32];
                              int count = 0;
                              return vaQueryConfigAttributes(w.display, id, &profile,
                                                             &entrypoint, list, &count);
                            }));
  append(cases, with_bad_id("vaCreateContext: config", VA_STATUS_ERROR_INVALID_CONFIG,
                            &World::surface, [](World& w, VAGenericID id) {
                              VAContextID out;
                              return vaCreateContext(w.display, id, 64, 48, 0, nullptr, 0,
                                                     &out);
                            }));
  append(cases, with_bad_id("vaCreateContext: target", VA_STATUS_ERROR_INVALID_SURFACE,
                            &World::context, [](World& w, VAGenericID id) {
                              VAContextID out;
                              VASurfaceID targets[] = {w.surface, id};
                              return vaCreateContext(w.display, w.client.config(), 64, 48, 0,
                                                     targets, 2, &out);
                            }));
  append(cases,
         with_bad_id("vaDestroyContext", VA_STATUS_ERROR_INVALID_CONTEXT, &World::surface,
                     [](World& w, VAGenericID id) { return vaDestroyContext(w.display, id); }));
  append(cases, with_bad_id("vaDestroySurfaces", VA_STATUS_ERROR_INVALID_SURFACE,
                            &World::context, [](World& w, VAGenericID id) {
                              return vaDestroySurfaces(w.display, &id, 1);
                            }));
  append(cases, with_bad_id("vaCreateBuffer", VA_STATUS_ERROR_INVALID_CONTEXT, &World::surface,
                            [](World& w, VAGenericID id) {
                              VABufferID out;
                              return vaCreateBuffer(w.display, id, VASliceDataBufferType, 1, 1,
                                                    nullptr, &out);
                            }));
  append(cases, with_bad_id("vaBufferSetNumElements", VA_STATUS_ERROR_INVALID_BUFFER,
                            &World::surface, [](World& w, VAGenericID id) {
                              return vaBufferSetNumElements(w.display, id, 1);
                            }));
  append(cases, with_bad_id("vaMapBuffer", VA_STATUS_ERROR_INVALID_BUFFER, &World::surface,
                            [](World& w, VAGenericID id) {
                              void* data;
                              return vaMapBuffer(w.display, id, &data);
                            }));
  append(cases,
         with_bad_id("vaUnmapBuffer", VA_STATUS_ERROR_INVALID_BUFFER, &World::surface,
                     [](World& w, VAGenericID id) { return vaUnmapBuffer(w.display, id); }));
  append(cases,
         with_bad_id("vaDestroyBuffer", VA_STATUS_ERROR_INVALID_BUFFER, &World::surface,
                     [](World& w, VAGenericID id) { return vaDestroyBuffer(w.display, id); }));
  append(cases,
         with_bad_id("vaSyncBuffer", VA_STATUS_ERROR_INVALID_BUFFER, &World::surface,
                     [](World& w, VAGenericID id) { return vaSyncBuffer(w.display, id, 0); }));
  append(cases, with_bad_id("vaBeginPicture: context", VA_STATUS_ERROR_INVALID_CONTEXT,
                            &World::surface, [](World& w, VAGenericID id) {
                              return vaBeginPicture(w.display, id, w.surface);
                            }));
  append(cases, with_bad_id("vaBeginPicture: target", VA_STATUS_ERROR_INVALID_SURFACE,
                            &World::buffer, [](World& w, VAGenericID id) {
                              return vaBeginPicture(w.display, w.context, id);
                            }));
  append(cases, with_bad_id("vaRenderPicture: context", VA_STATUS_ERROR_INVALID_CONTEXT,
                            &World::surface, [](World& w, VAGenericID id) {
                              return vaRenderPicture(w.display, id, &w.buffer, 1);
                            }));
  append(cases, with_bad_id("vaRenderPicture: buffer", VA_STATUS_ERROR_INVALID_BUFFER,
                            &World::surface, [](World& w, VAGenericID id) {
                              vaBeginPicture(w.display, w.context, w.surface);
                              return vaRenderPicture(w.display, w.context, &id, 1);
                            }));
  append(cases,
         with_bad_id("vaEndPicture", VA_STATUS_ERROR_INVALID_CONTEXT, &World::surface,
                     [](World& w, VAGenericID id) { return vaEndPicture(w.display, id); }));
  append(cases,
         with_bad_id("vaSyncSurface", VA_STATUS_ERROR_INVALID_SURFACE, &World::context,
                     [](World& w, VAGenericID id) { return vaSyncSurface(w.display, id); }));
  append(cases, with_bad_id(
                    "vaSyncSurface2", VA_STATUS_ERROR_INVALID_SURFACE, &World::context,
                    [](World& w, VAGenericID id) { return vaSyncSurface2(w.display, id, 0); }));
  append(cases, with_bad_id("vaQuerySurfaceStatus", VA_STATUS_ERROR_INVALID_SURFACE,
                            &World::context, [](World& w, VAGenericID id) {
                              VASurfaceStatus status;
                              return vaQuerySurfaceStatus(w.display, id, &status);
                            }));
  append(cases, with_bad_id("vaQuerySurfaceError", VA_STATUS_ERROR_INVALID_SURFACE,
                            &World::context, [](World& w, VAGenericID id) {
                              void* info;
                              return vaQuerySurfaceError(w.display, id,
                                                         VA_STATUS_ERROR_DECODING_ERROR, &info);
                            }));
  append(cases, with_bad_id("vaExportSurfaceHandle", VA_STATUS_ERROR_INVALID_SURFACE,
                            &World::context, [](World& w, VAGenericID id) {
                              VADRMPRIMESurfaceDescriptor out;
                              return vaExportSurfaceHandle(
                                  w.display, id, VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2,
                                  VA_EXPORT_SURFACE_READ_ONLY, &out);
                            }));
  append(cases, with_bad_id("vaDeriveImage", VA_STATUS_ERROR_INVALID_SURFACE, &World::context,
                            [](World& w, VAGenericID id) {
                              VAImage image;
                              return vaDeriveImage(w.display, id, &image);
                            }));
  append(cases,
         with_bad_id("vaDestroyImage", VA_STATUS_ERROR_INVALID_IMAGE, &World::surface,
                     [](World& w, VAGenericID id) { return vaDestroyImage(w.display, id); }));
  append(cases, with_bad_id("vaSetImagePalette", VA_STATUS_ERROR_INVALID_IMAGE, &World::surface,
                            [](World& w, VAGenericID id) {
                              return vaSetImagePalette(w.display, id, nullptr);
                            }));
  append(cases, with_bad_id("vaGetImage: surface", VA_STATUS_ERROR_INVALID_SURFACE,
                            &World::context, [](World& w, VAGenericID id) {
                              return vaGetImage(w.display, id, 0, 0, 64, 48, w.image.image_id);
                            }));
  append(cases, with_bad_id("vaGetImage: image", VA_STATUS_ERROR_INVALID_IMAGE, &World::context,
                            [](World& w, VAGenericID id) {
                              return vaGetImage(w.display, w.surface, 0, 0, 64, 48, id);
                            }));
  append(cases, with_bad_id("vaPutImage: surface", VA_STATUS_ERROR_INVALID_SURFACE,
                            &World::context, [](World& w, VAGenericID id) {
                              return vaPutImage(w.display, id, w.image.image_id, 0, 0, 64, 48,
                                                0, 0, 64, 48);
                            }));
  append(cases, with_bad_id("vaPutImage: image", VA_STATUS_ERROR_INVALID_IMAGE, &World::context,
                            [](World& w, VAGenericID id) {
                              return vaPutImage(w.display, w.surface, id, 0, 0, 64, 48, 0, 0,
                                                64, 48);
                            }));
  run(cases);
}
GST_END_TEST;

GST_START_TEST(dead_ids_are_errors) {
  World world;
  vaDestroySurfaces(world.display, &world.surface, 1);
  vaDestroyContext(world.display, world.context);
  vaDestroyImage(world.display, world.image.image_id);
  // Newer objects do not answer to the old names.
  const VASurfaceID fresh = world.client.surface(64, 48);
  fail_if(fresh == world.surface);
  fail_unless_equals_int(vaSyncSurface(world.display, world.surface),
                         VA_STATUS_ERROR_INVALID_SURFACE);
  fail_unless_equals_int(vaDestroySurfaces(world.display, &world.surface, 1),
                         VA_STATUS_ERROR_INVALID_SURFACE);
  fail_unless_equals_int(vaBeginPicture(world.display, world.context, fresh),
                         VA_STATUS_ERROR_INVALID_CONTEXT);
  void* data = nullptr;
  fail_unless_equals_int(vaMapBuffer(world.display, world.image.buf, &data),
                         VA_STATUS_ERROR_INVALID_BUFFER);
}
GST_END_TEST;

GST_START_TEST(null_pointers_are_errors) {
  constexpr VAStatus kBad = VA_STATUS_ERROR_INVALID_PARAMETER;
  run({
      {"vaQueryConfigProfiles", kBad,
       [](World& w) { return vaQueryConfigProfiles(w.display, nullptr, nullptr); }},
      {"vaQueryConfigEntrypoints", kBad,
       [](World& w) {
         return vaQueryConfigEntrypoints(w.display, VAProfileH264High, nullptr, nullptr);
       }},
      {"vaGetConfigAttributes", kBad,
       [](World& w) {
         return vaGetConfigAttributes(w.display, VAProfileH264High, VAEntrypointVLD, nullptr,
                                      3);
       }},
      {"vaCreateConfig: id", kBad,
       [](World& w) {
         return vaCreateConfig(w.display, VAProfileH264High, VAEntrypointVLD, nullptr, 0,
                               nullptr);
       }},
      {"vaCreateConfig: attributes", kBad,
       [](World& w) {
         VAConfigID id;
         return vaCreateConfig(w.display, VAProfileH264High, VAEntrypointVLD, nullptr, 2, &id);
       }},
      {"vaQueryConfigAttributes", kBad,
       [](World& w) {
         return vaQueryConfigAttributes(w.display, w.client.config(), nullptr, nullptr, nullptr,
                                        nullptr);
       }},
      {"vaQuerySurfaceAttributes", kBad,
       [](World& w) {
         return vaQuerySurfaceAttributes(w.display, w.client.config(), nullptr, nullptr);
       }},
      {"vaCreateSurfaces: ids", kBad,
       [](World& w) {
         return vaCreateSurfaces(w.display, VA_RT_FORMAT_YUV420, 64, 48, nullptr, 1, nullptr,
                                 0);
       }},
      {"vaCreateSurfaces: attributes", kBad,
       [](World& w) {
         VASurfaceID id;
         return vaCreateSurfaces(w.display, VA_RT_FORMAT_YUV420, 64, 48, &id, 1, nullptr, 2);
       }},
      {"vaDestroySurfaces", kBad,
       [](World& w) { return vaDestroySurfaces(w.display, nullptr, 1); }},
      {"vaCreateContext: id", kBad,
       [](World& w) {
         return vaCreateContext(w.display, w.client.config(), 64, 48, 0, nullptr, 0, nullptr);
       }},
      {"vaCreateContext: targets", kBad,
       [](World& w) {
         VAContextID id;
         return vaCreateContext(w.display, w.client.config(), 64, 48, 0, nullptr, 2, &id);
       }},
      {"vaCreateBuffer", kBad,
       [](World& w) {
         return vaCreateBuffer(w.display, w.context, VASliceDataBufferType, 1, 1, nullptr,
                               nullptr);
       }},
      {"vaMapBuffer", kBad, [](World& w) { return vaMapBuffer(w.display, w.buffer, nullptr); }},
      {"vaRenderPicture", kBad,
       [](World& w) {
         vaBeginPicture(w.display, w.context, w.surface);
         return vaRenderPicture(w.display, w.context, nullptr, 1);
       }},
      {"vaQuerySurfaceStatus", kBad,
       [](World& w) { return vaQuerySurfaceStatus(w.display, w.surface, nullptr); }},
      {"vaQuerySurfaceError", kBad,
       [](World& w) {
         return vaQuerySurfaceError(w.display, w.surface, VA_STATUS_ERROR_DECODING_ERROR,
                                    nullptr);
       }},
      {"vaExportSurfaceHandle", kBad,
       [](World& w) {
         return vaExportSurfaceHandle(w.display, w.surface,
                                      VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2,
                                      VA_EXPORT_SURFACE_READ_ONLY, nullptr);
       }},
      {"vaQueryImageFormats", kBad,
       [](World& w) { return vaQueryImageFormats(w.display, nullptr, nullptr); }},
      {"vaCreateImage: format", kBad,
       [](World& w) {
         VAImage image;
         return vaCreateImage(w.display, nullptr, 64, 48, &image);
       }},
      {"vaCreateImage: image", kBad,
       [](World& w) {
         VAImageFormat format{};
         format.fourcc = VA_FOURCC_NV12;
         return vaCreateImage(w.display, &format, 64, 48, nullptr);
       }},
      {"vaDeriveImage", kBad,
       [](World& w) { return vaDeriveImage(w.display, w.surface, nullptr); }},
  });
}
GST_END_TEST;

GST_START_TEST(counts_and_sizes_out_of_range_are_errors) {
  constexpr VAStatus kBad = VA_STATUS_ERROR_INVALID_PARAMETER;
  constexpr VAStatus kSize = VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED;
  constexpr uint32_t kYuv = VA_RT_FORMAT_YUV420;
  run({
      {"no surfaces", kBad, [](World& w) { return create_surfaces(w, kYuv, 64, 48, 0); }},
      {"too many surfaces", VA_STATUS_ERROR_MAX_NUM_EXCEEDED,
       [](World& w) { return create_surfaces(w, kYuv, 64, 48, 1u << 30); }},
      {"width 0", kSize, [](World& w) { return create_surfaces(w, kYuv, 0, 48, 1); }},
      {"height 0", kSize, [](World& w) { return create_surfaces(w, kYuv, 64, 0, 1); }},
      {"width 8193", kSize, [](World& w) { return create_surfaces(w, kYuv, 8193, 48, 1); }},
      {"height -1", kSize,
       [](World& w) { return create_surfaces(w, kYuv, 64, UINT32_MAX, 1); }},
      {"vaDestroySurfaces: -1", kBad,
       [](World& w) { return vaDestroySurfaces(w.display, &w.surface, -1); }},
      {"vaGetConfigAttributes: -1", kBad,
       [](World& w) {
         VAConfigAttrib attribute{};
         return vaGetConfigAttributes(w.display, VAProfileH264High, VAEntrypointVLD, &attribute,
                                      -1);
       }},
      {"vaCreateContext: width 0", kSize,
       [](World& w) {
         VAContextID id;
         return vaCreateContext(w.display, w.client.config(), 0, 48, 0, nullptr, 0, &id);
       }},
      {"vaCreateContext: height -1", kSize,
       [](World& w) {
         VAContextID id;
         return vaCreateContext(w.display, w.client.config(), 64, -1, 0, nullptr, 0, &id);
       }},
      {"vaCreateContext: targets -1", kBad,
       [](World& w) {
         VAContextID id;
         return vaCreateContext(w.display, w.client.config(), 64, 48, 0, &w.surface, -1, &id);
       }},
      {"vaCreateBuffer: size 0", kBad,
       [](World& w) {
         VABufferID id;
         return vaCreateBuffer(w.display, w.context, VASliceDataBufferType, 0, 1, nullptr, &id);
       }},
      {"vaCreateBuffer: no elements", kBad,
       [](World& w) {
         VABufferID id;
         return vaCreateBuffer(w.display, w.context, VASliceDataBufferType, 1, 0, nullptr, &id);
       }},
      {"vaCreateBuffer: 16 EiB", VA_STATUS_ERROR_ALLOCATION_FAILED,
       [](World& w) {
         VABufferID id;
         return vaCreateBuffer(w.display, w.context, VASliceDataBufferType, UINT32_MAX,
                               UINT32_MAX, nullptr, &id);
       }},
      {"vaBufferSetNumElements: none", kBad,
       [](World& w) { return vaBufferSetNumElements(w.display, w.buffer, 0); }},
      {"vaBufferSetNumElements: more than made", kBad,
       [](World& w) { return vaBufferSetNumElements(w.display, w.buffer, 3); }},
      {"vaRenderPicture: none", kBad,
       [](World& w) {
         vaBeginPicture(w.display, w.context, w.surface);
         return vaRenderPicture(w.display, w.context, &w.buffer, 0);
       }},
      {"vaRenderPicture: -1", kBad,
       [](World& w) {
         vaBeginPicture(w.display, w.context, w.surface);
         return vaRenderPicture(w.display, w.context, &w.buffer, -1);
       }},
      {"vaCreateImage: 0", kSize,
       [](World& w) {
         VAImageFormat format{};
         format.fourcc = VA_FOURCC_NV12;
         VAImage image;
         return vaCreateImage(w.display, &format, 0, 48, &image);
       }},
      {"vaCreateImage: 65537", kSize,
       [](World& w) {
         VAImageFormat format{};
         format.fourcc = VA_FOURCC_NV12;
         VAImage image;
         return vaCreateImage(w.display, &format, 64, 65537, &image);
       }},
      {"vaGetImage: left of it", kBad,
       [](World& w) {
         return vaGetImage(w.display, w.surface, -1, 0, 8, 8, w.image.image_id);
       }},
      {"vaGetImage: beyond the right edge", kBad,
       [](World& w) {
         return vaGetImage(w.display, w.surface, 60, 0, 8, 8, w.image.image_id);
       }},
      {"vaGetImage: nothing", kBad,
       [](World& w) { return vaGetImage(w.display, w.surface, 0, 0, 0, 8, w.image.image_id); }},
      {"vaGetImage: width that wraps", kBad,
       [](World& w) {
         return vaGetImage(w.display, w.surface, 8, 0, UINT32_MAX - 4, 8, w.image.image_id);
       }},
      {"vaPutImage: beyond the lower edge", kBad,
       [](World& w) {
         return vaPutImage(w.display, w.surface, w.image.image_id, 0, 0, 8, 8, 0, 44, 8, 8);
       }},
      {"vaPutImage: beyond the image", kBad,
       [](World& w) {
         return vaPutImage(w.display, w.surface, w.image.image_id, 60, 0, 8, 8, 0, 0, 8, 8);
       }},
      {"vaPutImage: scaling", kBad,
       [](World& w) {
         return vaPutImage(w.display, w.surface, w.image.image_id, 0, 0, 8, 8, 0, 0, 16, 16);
       }},
  });
}
GST_END_TEST;

GST_START_TEST(formats_and_attributes_nobody_has_are_errors) {
  constexpr uint32_t kYuv = VA_RT_FORMAT_YUV420;
  uint64_t tiled = 1;
  VADRMFormatModifierList only_tiled{.num_modifiers = 1, .modifiers = &tiled};
  VADRMFormatModifierList empty{};
  run({
      {"RT format nobody has", VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT,
       [](World& w) { return create_surfaces(w, VA_RT_FORMAT_RGB32, 64, 48, 1); }},
      {"two RT formats", VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT,
       [](World& w) {
         return create_surfaces(w, VA_RT_FORMAT_YUV420 | VA_RT_FORMAT_YUV420_10, 64, 48, 1);
       }},
      {"pixel format nobody has", VA_STATUS_ERROR_INVALID_IMAGE_FORMAT,
       [](World& w) {
         return create_surfaces(w, kYuv, 64, 48, 1,
                                {integer(VASurfaceAttribPixelFormat, 0x12345678)});
       }},
      {"pixel format of images only", VA_STATUS_ERROR_INVALID_IMAGE_FORMAT,
       [](World& w) {
         return create_surfaces(w, kYuv, 64, 48, 1,
                                {integer(VASurfaceAttribPixelFormat, VA_FOURCC_I420)});
       }},
      {"pixel format of another RT format", VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT,
       [](World& w) {
         return create_surfaces(w, kYuv, 64, 48, 1,
                                {integer(VASurfaceAttribPixelFormat, VA_FOURCC_P010)});
       }},
      {"pixel format as a pointer", VA_STATUS_ERROR_INVALID_PARAMETER,
       [](World& w) {
         return create_surfaces(w, kYuv, 64, 48, 1, {pointer(VASurfaceAttribPixelFormat, &w)});
       }},
      {"memory type nobody has", VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE,
       [](World& w) {
         return create_surfaces(
             w, kYuv, 64, 48, 1,
             {integer(VASurfaceAttribMemoryType, VA_SURFACE_ATTRIB_MEM_TYPE_USER_PTR)});
       }},
      {"import without a descriptor", VA_STATUS_ERROR_INVALID_PARAMETER,
       [](World& w) {
         return create_surfaces(
             w, kYuv, 64, 48, 1,
             {integer(VASurfaceAttribMemoryType, VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2)});
       }},
      {"limit as a wish", VA_STATUS_ERROR_ATTR_NOT_SUPPORTED,
       [](World& w) {
         return create_surfaces(w, kYuv, 64, 48, 1, {integer(VASurfaceAttribMaxWidth, 64)});
       }},
      {"modifiers without linear", VA_STATUS_ERROR_ATTR_NOT_SUPPORTED,
       [&](World& w) {
         return create_surfaces(w, kYuv, 64, 48, 1,
                                {pointer(VASurfaceAttribDRMFormatModifiers, &only_tiled)});
       }},
      {"no modifiers", VA_STATUS_ERROR_ATTR_NOT_SUPPORTED,
       [&](World& w) {
         return create_surfaces(w, kYuv, 64, 48, 1,
                                {pointer(VASurfaceAttribDRMFormatModifiers, &empty)});
       }},
      {"profile nobody has", VA_STATUS_ERROR_UNSUPPORTED_PROFILE,
       [](World& w) {
         VAConfigID id;
         return vaCreateConfig(w.display, VAProfileVC1Main, VAEntrypointVLD, nullptr, 0, &id);
       }},
      {"entrypoint nobody has", VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT,
       [](World& w) {
         VAConfigID id;
         return vaCreateConfig(w.display, VAProfileH264High, VAEntrypointEncSlice, nullptr, 0,
                               &id);
       }},
      {"config's RT format nobody has", VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT,
       [](World& w) {
         VAConfigAttrib attribute{.type = VAConfigAttribRTFormat, .value = VA_RT_FORMAT_RGB32};
         VAConfigID id;
         return vaCreateConfig(w.display, VAProfileH264High, VAEntrypointVLD, &attribute, 1,
                               &id);
       }},
      {"config attribute nobody has", VA_STATUS_ERROR_ATTR_NOT_SUPPORTED,
       [](World& w) {
         VAConfigAttrib attribute{.type = VAConfigAttribRateControl, .value = VA_RC_CBR};
         VAConfigID id;
         return vaCreateConfig(w.display, VAProfileH264High, VAEntrypointVLD, &attribute, 1,
                               &id);
       }},
      {"buffer type of encoders", VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE,
       [](World& w) {
         VABufferID id;
         return vaCreateBuffer(w.display, w.context, VAEncCodedBufferType, 1, 1, nullptr, &id);
       }},
      {"rendering an image's buffer", VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE,
       [](World& w) {
         vaBeginPicture(w.display, w.context, w.surface);
         return vaRenderPicture(w.display, w.context, &w.image.buf, 1);
       }},
      {"image format nobody has", VA_STATUS_ERROR_INVALID_IMAGE_FORMAT,
       [](World& w) {
         VAImageFormat format{};
         format.fourcc = VA_FOURCC_ARGB;
         VAImage image;
         return vaCreateImage(w.display, &format, 64, 48, &image);
       }},
      {"surface into an image of another depth", VA_STATUS_ERROR_INVALID_IMAGE_FORMAT,
       [](World& w) {
         const VAImage deep = w.client.image(VA_FOURCC_P010, 64, 48);
         return vaGetImage(w.display, w.surface, 0, 0, 64, 48, deep.image_id);
       }},
      {"export as another memory type", VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE,
       [](World& w) {
         VADRMPRIMESurfaceDescriptor out;
         return vaExportSurfaceHandle(w.display, w.surface,
                                      VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME,
                                      VA_EXPORT_SURFACE_READ_ONLY, &out);
       }},
      {"export both separate and composed", VA_STATUS_ERROR_INVALID_PARAMETER,
       [](World& w) {
         VADRMPRIMESurfaceDescriptor out;
         return vaExportSurfaceHandle(
             w.display, w.surface, VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2,
             VA_EXPORT_SURFACE_SEPARATE_LAYERS | VA_EXPORT_SURFACE_COMPOSED_LAYERS, &out);
       }},
      {"a surface of another depth as target", VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT,
       [](World& w) {
         return vaBeginPicture(w.display, w.context, w.client.surface(64, 48, VA_FOURCC_P010));
       }},
  });
}
GST_END_TEST;

GST_START_TEST(calls_out_of_order_are_errors) {
  constexpr VAStatus kFailed = VA_STATUS_ERROR_OPERATION_FAILED;
  run({
      {"vaRenderPicture before vaBeginPicture", kFailed,
       [](World& w) { return vaRenderPicture(w.display, w.context, &w.buffer, 1); }},
      {"vaEndPicture before vaBeginPicture", kFailed,
       [](World& w) { return vaEndPicture(w.display, w.context); }},
      {"vaUnmapBuffer before vaMapBuffer", kFailed,
       [](World& w) { return vaUnmapBuffer(w.display, w.buffer); }},
      {"a picture without anything in it", VA_STATUS_ERROR_DECODING_ERROR,
       [](World& w) {
         vaBeginPicture(w.display, w.context, w.surface);
         return vaEndPicture(w.display, w.context);
       }},
      {"a picture ended twice", kFailed,
       [](World& w) {
         w.client.decode(w.context, w.surface, {});
         return vaEndPicture(w.display, w.context);
       }},
  });
}
GST_END_TEST;

GST_START_TEST(calls_of_other_drivers_are_unimplemented) {
  constexpr VAStatus kNone = VA_STATUS_ERROR_UNIMPLEMENTED;
  run({
      {"vaCreateSubpicture", kNone,
       [](World& w) {
         VASubpictureID id;
         return vaCreateSubpicture(w.display, w.image.image_id, &id);
       }},
      {"vaSetImagePalette", kNone,
       [](World& w) {
         unsigned char palette[4]{};
         return vaSetImagePalette(w.display, w.image.image_id, palette);
       }},
      {"vaAcquireBufferHandle", kNone,
       [](World& w) {
         VABufferInfo info{};
         return vaAcquireBufferHandle(w.display, w.image.buf, &info);
       }},
  });
}
GST_END_TEST;

Suite* softva_bad_calls_suite() {
  Suite* suite = suite_create("softva_bad_calls");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, unknown_ids_are_errors);
  tcase_add_test(tcase, dead_ids_are_errors);
  tcase_add_test(tcase, null_pointers_are_errors);
  tcase_add_test(tcase, counts_and_sizes_out_of_range_are_errors);
  tcase_add_test(tcase, formats_and_attributes_nobody_has_are_errors);
  tcase_add_test(tcase, calls_out_of_order_are_errors);
  tcase_add_test(tcase, calls_of_other_drivers_are_unimplemented);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(softva_bad_calls)
