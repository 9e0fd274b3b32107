// SPDX-License-Identifier: LGPL-2.1-or-later
// What the driver is told about a dma-buf, and what it is never told. A fake EGL writes it
// down.

#include "lib/gl/egl_importer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/fourcc.hpp"
#include "lib/base/unique_fd.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/fake_gl.hpp"

using namespace dxva;
using test::attribute;
using test::FakeGl;

namespace {

constexpr uint64_t kTiled = 0x0100000000000002;
constexpr uint64_t kSize = 64 * 72;

UniqueFd sealed_memfd(uint64_t size) {
  UniqueFd fd{memfd_create("frame", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  fail_unless(fd.valid() && ftruncate(fd.get(), static_cast<off_t>(size)) == 0 &&
              fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  return fd;
}

gl::ImportRequest request(int fd, uint32_t fourcc = format::kNV12) {
  gl::ImportRequest out;
  out.image = {
      .fourcc = fourcc, .width = 64, .height = 48, .object_count = 1, .plane_count = 2};
  out.image.planes[0] = {.object = 0, .offset = 0, .pitch_bytes = 64};
  out.image.planes[1] = {.object = 0, .offset = 64 * 48, .pitch_bytes = 64};
  out.fds[0] = fd;
  return out;
}

struct Rig {
  Rig() {
    FakeGl::reset();
    FakeGl::get().listed = {{format::kR8, {kModifierLinear, kTiled, 99}},
                            {format::kGR88, {kModifierLinear, kTiled}},
                            {format::kR16, {kModifierLinear}},
                            {format::kGR1616, {kModifierLinear}}};
  }
  gl::EglImporter importer(const gl::DmabufImportApi& egl = FakeGl::import_api()) {
    return {std::make_shared<test::FakeGlThread>(),
            std::make_shared<const gl::GlApi>(FakeGl::api()), egl,
            gl::ImportFormats::query(egl)};
  }
  UniqueFd fd = sealed_memfd(kSize);
};

// Refused with this reason, and the driver heard nothing of it.
void expect_refusal(const gl::EglImporter& importer, const gl::ImportRequest& bad,
                    Reason reason) {
  const auto imported = importer.import(bad);
  fail_unless(!imported);
  fail_unless(imported.error().reason == reason, "%s, not %s",
              reason_name(imported.error().reason), reason_name(reason));
  fail_unless(FakeGl::get().images.empty(), "the driver was asked");
  fail_unless_equals_int(FakeGl::get().textures_alive, 0);
}

}  // namespace

GST_START_TEST(each_plane_is_an_image_with_its_modifier_said) {
  Rig rig;
  auto asked = request(rig.fd.get());
  const auto textures = rig.importer().import(asked);
  fail_unless(static_cast<bool>(textures));
  fail_unless_equals_int((*textures)->names().size(), 2);
  const auto& images = FakeGl::get().images;
  fail_unless_equals_int(images.size(), 2);
  fail_unless_equals_int(attribute(images[0], EGL_LINUX_DRM_FOURCC_EXT), format::kR8);
  fail_unless_equals_int(attribute(images[1], EGL_LINUX_DRM_FOURCC_EXT), format::kGR88);
  fail_unless_equals_int(attribute(images[0], EGL_WIDTH), 64);
  fail_unless_equals_int(attribute(images[1], EGL_WIDTH), 32);
  fail_unless_equals_int(attribute(images[1], EGL_HEIGHT), 24);
  fail_unless_equals_int(attribute(images[1], EGL_DMA_BUF_PLANE0_OFFSET_EXT), 64 * 48);
  fail_unless_equals_int(attribute(images[1], EGL_DMA_BUF_PLANE0_PITCH_EXT), 64);
  fail_unless_equals_int(attribute(images[1], EGL_DMA_BUF_PLANE0_FD_EXT), rig.fd.get());
  // LINEAR is 0, and 0 was said: without the attribute it would be -1 here.
  fail_unless_equals_int(attribute(images[0], EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT), 0);
  fail_unless_equals_int(attribute(images[0], EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT), 0);
  fail_unless_equals_int(FakeGl::get().images_alive, 0);
}
GST_END_TEST;

GST_START_TEST(odd_sizes_round_chroma_up) {
  Rig rig;
  auto asked = request(rig.fd.get());
  asked.image.width = 61;
  asked.image.height = 47;
  fail_unless(static_cast<bool>(rig.importer().import(asked)));
  fail_unless_equals_int(attribute(FakeGl::get().images[1], EGL_WIDTH), 31);
  fail_unless_equals_int(attribute(FakeGl::get().images[1], EGL_HEIGHT), 24);
}
GST_END_TEST;

GST_START_TEST(ten_bit_planes_are_r16_and_gr32) {
  Rig rig;
  auto asked = request(rig.fd.get(), format::kP010);
  asked.image.width = 32;
  fail_unless(static_cast<bool>(rig.importer().import(asked)));
  fail_unless_equals_int(attribute(FakeGl::get().images[0], EGL_LINUX_DRM_FOURCC_EXT),
                         format::kR16);
  fail_unless_equals_int(attribute(FakeGl::get().images[1], EGL_LINUX_DRM_FOURCC_EXT),
                         format::kGR1616);
}
GST_END_TEST;

GST_START_TEST(a_driver_without_modifiers_is_told_none) {
  Rig rig;
  gl::DmabufImportApi egl = FakeGl::import_api();
  egl.QueryFormats = nullptr;
  egl.QueryModifiers = nullptr;
  fail_unless(static_cast<bool>(rig.importer(egl).import(request(rig.fd.get()))));
  fail_unless_equals_int(attribute(FakeGl::get().images[0], EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT),
                         -1);
}
GST_END_TEST;

GST_START_TEST(only_listed_modifiers_reach_the_driver) {
  Rig rig;
  auto asked = request(rig.fd.get());
  asked.image.objects[0].modifier = 0x0200000000000001;
  expect_refusal(rig.importer(), asked, Reason::ModifierNotImportable);
  // Listed for luma as external only, and for chroma not at all.
  asked.image.objects[0].modifier = 99;
  expect_refusal(rig.importer(), asked, Reason::ModifierNotImportable);
}
GST_END_TEST;

GST_START_TEST(a_tiled_plane_at_an_offset_is_not_cut_out) {
  Rig rig;
  auto asked = request(rig.fd.get());
  asked.image.objects[0].modifier = kTiled;
  expect_refusal(rig.importer(), asked, Reason::TiledPlaneOffset);
}
GST_END_TEST;

GST_START_TEST(tiled_planes_in_buffers_of_their_own_go_through) {
  Rig rig;
  const UniqueFd chroma_fd = sealed_memfd(kSize);
  auto asked = request(rig.fd.get());
  asked.image.object_count = 2;
  asked.image.objects[0].modifier = asked.image.objects[1].modifier = kTiled;
  asked.image.planes[1] = {.object = 1, .offset = 0, .pitch_bytes = 64};
  asked.fds[1] = chroma_fd.get();
  fail_unless(static_cast<bool>(rig.importer().import(asked)));
  const auto& chroma = FakeGl::get().images[1];
  fail_unless_equals_int(attribute(chroma, EGL_DMA_BUF_PLANE0_FD_EXT), chroma_fd.get());
  fail_unless_equals_int(attribute(chroma, EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT), 2);
  fail_unless_equals_int(attribute(chroma, EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT), 0x01000000);
}
GST_END_TEST;

GST_START_TEST(hostile_numbers_never_reach_the_driver) {
  struct Case {
    Reason reason;
    void (*spoil)(gl::ImportRequest&);
  };
  const Case cases[] = {
      {Reason::OffsetOutOfRange, [](auto& r) { r.image.planes[0].offset = 1 << 20; }},
      {Reason::OffsetOutOfRange, [](auto& r) { r.image.planes[0].offset = 0x7fffffff; }},
      {Reason::OffsetOutOfRange, [](auto& r) { r.image.planes[0].offset = UINT64_MAX - 63; }},
      {Reason::OffsetOutOfRange, [](auto& r) { r.image.planes[0].offset = UINT64_MAX - 4095; }},
      {Reason::OffsetOutOfRange, [](auto& r) { r.image.planes[1].offset = kSize; }},
      {Reason::OffsetOutOfRange,
       [](auto& r) { r.image.planes[1].offset = (uint64_t{1} << 32) + 64 * 48; }},
      {Reason::ObjectTooSmall, [](auto& r) { r.image.planes[1].offset += 1; }},
      {Reason::ObjectTooSmall, [](auto& r) { r.image.planes[0].pitch_bytes = 1 << 20; }},
      {Reason::PitchOutOfRange, [](auto& r) { r.image.planes[0].pitch_bytes = 0x7fffffff; }},
      {Reason::PitchOutOfRange, [](auto& r) { r.image.planes[0].pitch_bytes = UINT64_MAX; }},
      {Reason::PitchTooSmall, [](auto& r) { r.image.planes[0].pitch_bytes = 63; }},
      {Reason::PitchTooSmall, [](auto& r) { r.image.planes[1].pitch_bytes = 1; }},
      {Reason::PitchTooSmall, [](auto& r) { r.image.planes[1].pitch_bytes = 0; }},
      {Reason::ObjectTooSmall, [](auto& r) { r.image.height = 4096; }},
      {Reason::SizeOutOfRange, [](auto& r) { r.image.width = 20000; }},
      {Reason::SizeOutOfRange, [](auto& r) { r.image.width = 65536; }},
      {Reason::SizeOutOfRange, [](auto& r) { r.image.height = 100000; }},
      {Reason::SizeOutOfRange, [](auto& r) { r.image.width = 0; }},
      {Reason::SizeOutOfRange, [](auto& r) { r.image.height = 0; }},
      {Reason::PlaneCount, [](auto& r) { r.image.plane_count = 1; }},
      {Reason::AuxPlane, [](auto& r) { r.image.plane_count = 3; }},
      {Reason::FormatUnsupported, [](auto& r) { r.image.fourcc = fourcc('X', 'R', '2', '4'); }},
      {Reason::DescriptorInvalid, [](auto& r) { r.image.planes[1].object = 3; }},
      {Reason::PlaneCount, [](auto& r) { r.image.object_count = 9; }},
      {Reason::BadDescriptor, [](auto& r) { r.fds[0] = -1; }},
      {Reason::BadDescriptor, [](auto& r) { r.fds[0] = 9999; }},
      {Reason::NotADmabuf, [](auto& r) { r.fds[0] = STDIN_FILENO; }},
  };
  for (const Case& bad : cases) {
    Rig rig;
    auto asked = request(rig.fd.get());
    // A number in the request is nobody's word: the importer measures.
    asked.image.objects[0].size_bytes = UINT64_MAX;
    bad.spoil(asked);
    expect_refusal(rig.importer(), asked, bad.reason);
  }
}
GST_END_TEST;

GST_START_TEST(a_picture_above_the_texture_limit_is_not_tried) {
  Rig rig;
  const UniqueFd large = sealed_memfd(9000 * 3);
  auto asked = request(large.get());
  asked.image.width = 9000;  // the fake's GL_MAX_TEXTURE_SIZE is 8192
  asked.image.height = 2;
  asked.image.planes[0].pitch_bytes = asked.image.planes[1].pitch_bytes = 9000;
  asked.image.planes[1].offset = 18000;
  expect_refusal(rig.importer(), asked, Reason::TextureTooLarge);
}
GST_END_TEST;

GST_START_TEST(every_egl_error_has_its_reason_and_leaves_nothing_behind) {
  for (const auto& [error, reason] : {std::pair{EGL_BAD_MATCH, Reason::EglBadMatch},
                                      {EGL_BAD_ALLOC, Reason::EglBadAlloc},
                                      {EGL_BAD_ACCESS, Reason::EglBadAccess},
                                      {EGL_BAD_PARAMETER, Reason::EglBadParameter},
                                      {EGL_NOT_INITIALIZED, Reason::EglError}}) {
    for (const int works_before : {0, 1}) {
      Rig rig;
      FakeGl::get().image_error = error;
      FakeGl::get().images_before_error = works_before;
      const auto imported = rig.importer().import(request(rig.fd.get()));
      fail_unless(!imported && imported.error().reason == reason);
      fail_unless_equals_int(FakeGl::get().images_alive, 0);
      fail_unless_equals_int(FakeGl::get().textures_alive, 0);
    }
  }
}
GST_END_TEST;

GST_START_TEST(errors_of_others_are_not_ours) {
  Rig rig;
  FakeGl::get().errors = {0x506, GL_INVALID_ENUM};
  fail_unless(static_cast<bool>(rig.importer().import(request(rig.fd.get()))));
}
GST_END_TEST;

GST_START_TEST(storage_is_tried_first_and_the_older_form_after_it) {
  Rig rig;
  FakeGl::get().error_of_storage_target = GL_INVALID_OPERATION;
  fail_unless(static_cast<bool>(rig.importer().import(request(rig.fd.get()))));
  fail_unless(FakeGl::get().calls[0] == "target storage");
  fail_unless(FakeGl::get().calls[1] == "target texture");
}
GST_END_TEST;

GST_START_TEST(a_texture_that_refuses_the_image_is_said) {
  Rig rig;
  FakeGl::get().error_of_storage_target = GL_INVALID_OPERATION;
  FakeGl::get().error_of_target = GL_INVALID_OPERATION;
  const auto imported = rig.importer().import(request(rig.fd.get()));
  fail_unless(!imported && imported.error().reason == Reason::GlError);
  fail_unless_equals_int(FakeGl::get().textures_alive, 0);
  fail_unless_equals_int(FakeGl::get().images_alive, 0);
}
GST_END_TEST;

GST_START_TEST(what_the_driver_does_not_write_is_not_external) {
  Rig rig;
  FakeGl::get().writes_external_only = false;  // llvmpipe's way
  const auto formats = gl::ImportFormats::query(FakeGl::import_api());
  fail_unless(formats.lists(format::kR8, kModifierLinear));
  fail_unless(formats.lists(format::kGR88, kTiled));
  fail_unless(!formats.lists(format::kNV12, kModifierLinear));
}
GST_END_TEST;

GST_START_TEST(common_modifiers_are_those_of_both_planes) {
  Rig rig;
  const auto formats = gl::ImportFormats::query(FakeGl::import_api());
  const auto common = formats.common_modifiers(format::kR8, format::kGR88);
  fail_unless(common == std::vector<uint64_t>({kModifierLinear, kTiled}));
}
GST_END_TEST;

int main(int argc, char** argv) {
  setenv("GST_DXVA_TEST", "memfd", 1);
  gst_check_init(&argc, &argv);
  Suite* suite = suite_create("gl_egl_importer");
  TCase* tests = tcase_create("general");
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, each_plane_is_an_image_with_its_modifier_said);
  tcase_add_test(tests, odd_sizes_round_chroma_up);
  tcase_add_test(tests, ten_bit_planes_are_r16_and_gr32);
  tcase_add_test(tests, a_driver_without_modifiers_is_told_none);
  tcase_add_test(tests, only_listed_modifiers_reach_the_driver);
  tcase_add_test(tests, a_tiled_plane_at_an_offset_is_not_cut_out);
  tcase_add_test(tests, tiled_planes_in_buffers_of_their_own_go_through);
  tcase_add_test(tests, hostile_numbers_never_reach_the_driver);
  tcase_add_test(tests, a_picture_above_the_texture_limit_is_not_tried);
  tcase_add_test(tests, every_egl_error_has_its_reason_and_leaves_nothing_behind);
  tcase_add_test(tests, errors_of_others_are_not_ours);
  tcase_add_test(tests, storage_is_tried_first_and_the_older_form_after_it);
  tcase_add_test(tests, a_texture_that_refuses_the_image_is_said);
  tcase_add_test(tests, what_the_driver_does_not_write_is_not_external);
  tcase_add_test(tests, common_modifiers_are_those_of_both_planes);
  return gst_check_run_suite(suite, "gl_egl_importer", __FILE__);
}
