// SPDX-License-Identifier: LGPL-2.1-or-later

// The copies that a driver makes by itself: its video processor, and vaCopy.

#include <va/va.h>
#include <va/va_vpp.h>

#include <array>
#include <functional>

#include "tests/check/softva/client.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva::softva::test;

namespace {

constexpr uint64_t kTiled = 0x7f00000000000001;

VASurfaceAttrib attribute(VASurfaceAttribType type) {
  VASurfaceAttrib out{};
  out.type = type;
  out.flags = VA_SURFACE_ATTRIB_SETTABLE;
  out.value.type = VAGenericValueTypeInteger;
  return out;
}

// A surface that lists linear memory, for `usage`.
VASurfaceID linear_surface(const Client& client, uint32_t width, uint32_t height,
                           uint32_t fourcc, uint32_t usage) {
  uint64_t linear = 0;
  VADRMFormatModifierList list{.num_modifiers = 1, .modifiers = &linear};
  std::array<VASurfaceAttrib, 3> attributes{attribute(VASurfaceAttribPixelFormat),
                                            attribute(VASurfaceAttribUsageHint),
                                            attribute(VASurfaceAttribDRMFormatModifiers)};
  attributes[0].value.value.i = static_cast<int>(fourcc);
  attributes[1].value.value.i = static_cast<int>(usage);
  attributes[2].value.type = VAGenericValueTypePointer;
  attributes[2].value.value.p = &list;
  VASurfaceID id = VA_INVALID_SURFACE;
  const VAStatus status = vaCreateSurfaces(
      client.display(), fourcc == VA_FOURCC_P010 ? VA_RT_FORMAT_YUV420_10 : VA_RT_FORMAT_YUV420,
      width, height, &id, 1, attributes.data(), attributes.size());
  fail_unless_equals_int(status, VA_STATUS_SUCCESS);
  return id;
}
constexpr uint32_t kCopyUsage =
    VA_SURFACE_ATTRIB_USAGE_HINT_VPP_WRITE | VA_SURFACE_ATTRIB_USAGE_HINT_EXPORT;

// A video processor's context.
class Processor {
 public:
  explicit Processor(const Client& client) : display_(client.display()) {
    VAStatus status =
        vaCreateConfig(display_, VAProfileNone, VAEntrypointVideoProc, nullptr, 0, &config_);
    fail_unless_equals_int(status, VA_STATUS_SUCCESS);
    status = vaCreateContext(display_, config_, 0, 0, 0, nullptr, 0, &context_);
    fail_unless_equals_int(status, VA_STATUS_SUCCESS);
  }
  [[nodiscard]] VAContextID context() const { return context_; }

  VAStatus run(VASurfaceID target, VAProcPipelineParameterBuffer pipeline) const {
    VABufferID buffer = VA_INVALID_ID;
    VAStatus status = vaCreateBuffer(display_, context_, VAProcPipelineParameterBufferType,
                                     sizeof pipeline, 1, &pipeline, &buffer);
    if (status != VA_STATUS_SUCCESS) return status;
    status = vaBeginPicture(display_, context_, target);
    if (status == VA_STATUS_SUCCESS) status = vaRenderPicture(display_, context_, &buffer, 1);
    if (status == VA_STATUS_SUCCESS) status = vaEndPicture(display_, context_);
    vaDestroyBuffer(display_, buffer);
    return status;
  }
  VAStatus copy(VASurfaceID target, VASurfaceID source) const {
    VAProcPipelineParameterBuffer pipeline{};
    pipeline.surface = source;
    return run(target, pipeline);
  }

 private:
  VADisplay display_;
  VAConfigID config_ = VA_INVALID_ID;
  VAContextID context_ = VA_INVALID_ID;
};

VAStatus copy_object(const Client& client, VASurfaceID target, VASurfaceID source) {
  VACopyObject to{};
  to.obj_type = VACopyObjectSurface;
  to.object.surface_id = target;
  VACopyObject from = to;
  from.object.surface_id = source;
  return vaCopy(client.display(), &to, &from, VACopyOption{});
}

void expect_tiles_copied_into_rows(VAProfile profile, uint32_t fourcc) {
  const ScopedEnvironment layout("DXVASOFT_LAYOUT", "tiled");
  const ScopedEnvironment modifiers("DXVASOFT_MODIFIERS", "not-decoded");
  Client client(profile);
  const Processor processor(client);
  uint32_t seed = 1;
  for (const auto& [width, height] :
       {std::pair{64u, 48u}, {61u, 47u}, {1u, 1u}, {320u, 240u}}) {
    const FakeOrder order{.width = width,
                          .height = height,
                          .bit_depth = fourcc == VA_FOURCC_P010 ? 10u : 8u,
                          .seed = ++seed};
    const VASurfaceID source =
        linear_surface(client, width, height, fourcc, VA_SURFACE_ATTRIB_USAGE_HINT_DECODER);
    const VAContextID context = client.context(width, height);
    fail_unless_equals_int(client.decode(context, source, order), VA_STATUS_SUCCESS);
    {
      const Export tiles(client, source);
      fail_unless_equals_uint64(tiles.descriptor().objects[0].drm_format_modifier, kTiled);
    }
    const std::function<VAStatus(VASurfaceID)> ways[] = {
        [&](VASurfaceID target) { return processor.copy(target, source); },
        [&](VASurfaceID target) { return copy_object(client, target, source); }};
    for (const auto& way : ways) {
      const VASurfaceID target = linear_surface(client, width, height, fourcc, kCopyUsage);
      fail_unless_equals_int(way(target), VA_STATUS_SUCCESS);
      const Export rows(client, target);
      fail_unless_equals_uint64(rows.descriptor().objects[0].drm_format_modifier, 0);
      fail_unless(shows(rows, order, fourcc, width, height), "%ux%u", width, height);
    }
  }
}

}  // namespace

GST_START_TEST(tiles_are_copied_into_rows) {
  expect_tiles_copied_into_rows(VAProfileH264High, VA_FOURCC_NV12);
  expect_tiles_copied_into_rows(VAProfileHEVCMain10, VA_FOURCC_P010);
}
GST_END_TEST;

GST_START_TEST(a_part_of_a_picture_goes_where_it_is_wanted) {
  Client client;
  const Processor processor(client);
  const VASurfaceID source = client.surface(64, 48);
  const VASurfaceID target = client.surface(64, 48);
  const VAContextID context = client.context(64, 48);
  const FakeOrder one{.width = 64, .height = 48, .seed = 3};
  const FakeOrder other{.width = 64, .height = 48, .seed = 90};
  fail_unless_equals_int(client.decode(context, source, one), VA_STATUS_SUCCESS);
  fail_unless_equals_int(client.decode(context, target, other), VA_STATUS_SUCCESS);
  VARectangle from{.x = 8, .y = 4, .width = 16, .height = 10};
  VARectangle to{.x = 32, .y = 20, .width = 16, .height = 10};
  VAProcPipelineParameterBuffer pipeline{};
  pipeline.surface = source;
  pipeline.surface_region = &from;
  pipeline.output_region = &to;
  fail_unless_equals_int(processor.run(target, pipeline), VA_STATUS_SUCCESS);
  const Export pixels(client, target);
  for (uint32_t y = 0; y < 48; ++y)
    for (uint32_t x = 0; x < 64; ++x) {
      const bool inside = x >= 32 && x < 48 && y >= 20 && y < 30;
      const uint8_t wanted = inside ? expected_byte(one, VA_FOURCC_NV12, 0, x - 24, y - 16)
                                    : expected_byte(other, VA_FOURCC_NV12, 0, x, y);
      fail_unless_equals_int(pixels.row(0, y)[x], wanted);
    }
}
GST_END_TEST;

GST_START_TEST(what_it_cannot_do_is_refused) {
  Client client;
  const Processor processor(client);
  const VASurfaceID source = client.surface(64, 48);
  const VASurfaceID target = client.surface(64, 48);
  const VASurfaceID larger = client.surface(128, 96);
  VAProcPipelineParameterBuffer pipeline{};
  const auto refused = [&](VAStatus wanted, VASurfaceID into) {
    fail_unless_equals_int(processor.run(into, pipeline), wanted);
  };
  pipeline.surface = 0xbad;
  refused(VA_STATUS_ERROR_INVALID_SURFACE, target);
  pipeline.surface = source;
  refused(VA_STATUS_ERROR_UNIMPLEMENTED, larger);  // scaling
  refused(VA_STATUS_ERROR_INVALID_PARAMETER, source);
  VARectangle outside{.x = 60, .y = 0, .width = 16, .height = 16};
  VARectangle inside{.x = 0, .y = 0, .width = 16, .height = 16};
  pipeline.surface_region = &outside;
  pipeline.output_region = &inside;
  refused(VA_STATUS_ERROR_INVALID_PARAMETER, target);
  outside = {.x = -1, .y = 0, .width = 16, .height = 16};
  refused(VA_STATUS_ERROR_INVALID_PARAMETER, target);
  pipeline.surface_region = pipeline.output_region = nullptr;
  pipeline.num_filters = 1;
  refused(VA_STATUS_ERROR_UNSUPPORTED_FILTER, target);
  pipeline.num_filters = 0;
  pipeline.rotation_state = VA_ROTATION_90;
  refused(VA_STATUS_ERROR_UNIMPLEMENTED, target);
  // A decoder's parameters are none of a video processor's.
  VABufferID slice = VA_INVALID_ID;
  char bytes[8] = {};
  fail_unless_equals_int(vaCreateBuffer(client.display(), processor.context(),
                                        VASliceDataBufferType, sizeof bytes, 1, bytes, &slice),
                         VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaBeginPicture(client.display(), processor.context(), target),
                         VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaRenderPicture(client.display(), processor.context(), &slice, 1),
                         VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaEndPicture(client.display(), processor.context()),
                         VA_STATUS_ERROR_INVALID_PARAMETER);

  fail_unless_equals_int(copy_object(client, larger, source),
                         VA_STATUS_ERROR_INVALID_PARAMETER);
  fail_unless_equals_int(copy_object(client, source, source),
                         VA_STATUS_ERROR_INVALID_PARAMETER);
  fail_unless_equals_int(copy_object(client, 0xbad, source), VA_STATUS_ERROR_INVALID_SURFACE);
  VAConfigID config = VA_INVALID_ID;
  fail_unless_equals_int(
      vaCreateConfig(client.display(), VAProfileNone, VAEntrypointVLD, nullptr, 0, &config),
      VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT);
}
GST_END_TEST;

GST_START_TEST(each_way_of_copying_can_be_broken_alone) {
  const ScopedEnvironment fault("DXVASOFT_FAULT", "vpp:at=2,copy:at=3,endpicture:at=2");
  Client client;
  const Processor processor(client);
  const VASurfaceID source = client.surface(64, 48);
  const VASurfaceID target = client.surface(64, 48);
  for (int number = 1; number <= 4; ++number) {
    fail_unless_equals_int(processor.copy(target, source),
                           number == 2 ? VA_STATUS_ERROR_OPERATION_FAILED : VA_STATUS_SUCCESS);
    fail_unless_equals_int(copy_object(client, target, source),
                           number == 3 ? VA_STATUS_ERROR_OPERATION_FAILED : VA_STATUS_SUCCESS);
  }
}
GST_END_TEST;

static Suite* softva_video_processor_suite() {
  Suite* suite = suite_create("softva_video_processor");
  TCase* tcase = tcase_create("copies");
  tcase_add_test(tcase, tiles_are_copied_into_rows);
  tcase_add_test(tcase, a_part_of_a_picture_goes_where_it_is_wanted);
  tcase_add_test(tcase, what_it_cannot_do_is_refused);
  tcase_add_test(tcase, each_way_of_copying_can_be_broken_alone);
  suite_add_tcase(suite, tcase);
  return suite;
}

GST_CHECK_MAIN(softva_video_processor)
