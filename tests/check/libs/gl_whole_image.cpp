// SPDX-License-Identifier: LGPL-2.1-or-later
// What EGL is told about a picture that goes as one image. A fake, because no software renderer
// takes one (llvmpipe: EGL_BAD_ALLOC).

#include "lib/gl/whole_image.hpp"

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
using video::Matrix;
using video::Range;
using Place = video::ChromaSiting::Place;

namespace {

constexpr uint64_t kTiled = 0x0100000000000002;
constexpr uint64_t kExternal = FakeGl::kExternalOnly;

struct Rig {
  Rig() : fd(memfd_create("frame", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    fail_unless(ftruncate(fd.get(), 64 * 72) == 0 &&
                fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK) == 0);
    FakeGl::reset();
    FakeGl::get().listed = {{format::kNV12, {kModifierLinear, kTiled, kExternal}},
                            {format::kP010, {kTiled}}};
    egl = FakeGl::import_api();
    egl.samples_external = true;
  }
  gl::WholeImageImporter importer() const {
    return {std::make_shared<test::FakeGlThread>(),
            std::make_shared<const gl::GlApi>(FakeGl::api()), egl,
            gl::ImportFormats::query(egl)};
  }
  gl::ImportRequest request(uint64_t modifier, uint32_t fourcc = format::kNV12) const {
    gl::ImportRequest out;
    out.image = {.fourcc = fourcc,
                 .width = fourcc == format::kNV12 ? 64u : 32u,
                 .height = 48,
                 .object_count = 1,
                 .plane_count = 2};
    out.image.objects[0].modifier = modifier;
    out.image.planes[0] = {.object = 0, .offset = 0, .pitch_bytes = 64};
    out.image.planes[1] = {.object = 0, .offset = 64 * 48, .pitch_bytes = 64};
    out.fds[0] = fd.get();
    return out;
  }
  UniqueFd fd;
  gl::DmabufImportApi egl;
};

void expect_refusal(const Rig& rig, const gl::ImportRequest& bad, Reason reason,
                    const video::Colorimetry& colours = {}) {
  const auto imported = rig.importer().import(bad, colours, {});
  fail_unless(!imported);
  fail_unless(imported.error().reason == reason, "%s, not %s",
              reason_name(imported.error().reason), reason_name(reason));
  fail_unless(FakeGl::get().images.empty(), "the driver was asked");
  fail_unless_equals_int(FakeGl::get().textures_alive, 0);
}

}  // namespace

GST_START_TEST(both_planes_go_into_one_image_with_their_modifier) {
  for (const auto& [fourcc, modifier] :
       {std::pair{format::kNV12, kTiled}, {format::kP010, kTiled}}) {
    Rig rig;
    const auto image = rig.importer().import(rig.request(modifier, fourcc), {}, {});
    fail_unless(static_cast<bool>(image));
    fail_unless_equals_int(FakeGl::get().images.size(), 1);
    const auto& told = FakeGl::get().images[0];
    fail_unless_equals_int(attribute(told, EGL_LINUX_DRM_FOURCC_EXT), fourcc);
    fail_unless_equals_int(attribute(told, EGL_WIDTH), fourcc == format::kNV12 ? 64 : 32);
    fail_unless_equals_int(attribute(told, EGL_HEIGHT), 48);
    fail_unless_equals_int(attribute(told, EGL_DMA_BUF_PLANE0_FD_EXT), rig.fd.get());
    fail_unless_equals_int(attribute(told, EGL_DMA_BUF_PLANE0_OFFSET_EXT), 0);
    fail_unless_equals_int(attribute(told, EGL_DMA_BUF_PLANE0_PITCH_EXT), 64);
    fail_unless_equals_int(attribute(told, EGL_DMA_BUF_PLANE1_FD_EXT), rig.fd.get());
    fail_unless_equals_int(attribute(told, EGL_DMA_BUF_PLANE1_OFFSET_EXT), 64 * 48);
    fail_unless_equals_int(attribute(told, EGL_DMA_BUF_PLANE1_PITCH_EXT), 64);
    // Mesa refuses planes of different modifiers; each plane says its own.
    fail_unless_equals_int(attribute(told, EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT), 2);
    fail_unless_equals_int(attribute(told, EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT), 0x01000000);
    fail_unless_equals_int(attribute(told, EGL_DMA_BUF_PLANE1_MODIFIER_LO_EXT), 2);
    fail_unless_equals_int(attribute(told, EGL_DMA_BUF_PLANE1_MODIFIER_HI_EXT), 0x01000000);
    fail_unless_equals_int(FakeGl::get().images_alive, 0);
    fail_unless_equals_int(image->texture->names().size(), 1);
  }
}
GST_END_TEST;

GST_START_TEST(the_driver_is_told_the_colours) {
  struct Case {
    video::Colorimetry colours;
    EGLint space, range;
  };
  for (const Case& one :
       {Case{{Matrix::Bt601, Range::Limited}, EGL_ITU_REC601_EXT, EGL_YUV_NARROW_RANGE_EXT},
        Case{{Matrix::Bt709, Range::Limited}, EGL_ITU_REC709_EXT, EGL_YUV_NARROW_RANGE_EXT},
        Case{{Matrix::Bt2020, Range::Limited}, EGL_ITU_REC2020_EXT, EGL_YUV_NARROW_RANGE_EXT},
        Case{{Matrix::Bt601, Range::Full}, EGL_ITU_REC601_EXT, EGL_YUV_FULL_RANGE_EXT}}) {
    Rig rig;
    fail_unless(static_cast<bool>(rig.importer().import(rig.request(kTiled), one.colours, {})));
    const auto& told = FakeGl::get().images[0];
    fail_unless_equals_int(attribute(told, EGL_YUV_COLOR_SPACE_HINT_EXT), one.space);
    fail_unless_equals_int(attribute(told, EGL_SAMPLE_RANGE_HINT_EXT), one.range);
  }
}
GST_END_TEST;

GST_START_TEST(chroma_siting_is_told_where_it_is_known) {
  Rig rig;
  const auto importer = rig.importer();
  fail_unless(static_cast<bool>(importer.import(
      rig.request(kTiled), {}, {.horizontal = Place::Cosited, .vertical = Place::Between})));
  fail_unless(static_cast<bool>(importer.import(rig.request(kTiled), {}, {})));
  const auto& known = FakeGl::get().images[0];
  fail_unless_equals_int(attribute(known, EGL_YUV_CHROMA_HORIZONTAL_SITING_HINT_EXT),
                         EGL_YUV_CHROMA_SITING_0_EXT);
  fail_unless_equals_int(attribute(known, EGL_YUV_CHROMA_VERTICAL_SITING_HINT_EXT),
                         EGL_YUV_CHROMA_SITING_0_5_EXT);
  const auto& unknown = FakeGl::get().images[1];
  fail_unless_equals_int(attribute(unknown, EGL_YUV_CHROMA_HORIZONTAL_SITING_HINT_EXT), -1);
  fail_unless_equals_int(attribute(unknown, EGL_YUV_CHROMA_VERTICAL_SITING_HINT_EXT), -1);
}
GST_END_TEST;

GST_START_TEST(external_only_images_are_external_textures) {
  Rig rig;
  const auto external = rig.importer().import(rig.request(kExternal), {}, {});
  fail_unless(external && external->target == gl::kTextureExternal);
  fail_unless_equals_int(FakeGl::get().image_target, gl::kTextureExternal);
  // The storage form makes 2D textures.
  fail_unless(FakeGl::get().calls == std::vector<std::string>{"target texture"});
  const auto plain = rig.importer().import(rig.request(kTiled), {}, {});
  fail_unless(plain && plain->target == GL_TEXTURE_2D);
  fail_unless_equals_int(FakeGl::get().image_target, GL_TEXTURE_2D);
}
GST_END_TEST;

GST_START_TEST(what_shaders_cannot_sample_is_not_tried) {
  Rig rig;
  rig.egl.samples_external = false;
  expect_refusal(rig, rig.request(kExternal), Reason::ModifierNotImportable);
  fail_unless(rig.importer().sampling(format::kNV12, kTiled) ==
              gl::ImportFormats::Sampling::Texture2D);
}
GST_END_TEST;

GST_START_TEST(unlisted_or_unknown_layouts_are_not_tried) {
  Rig rig;
  expect_refusal(rig, rig.request(0x0200000000000001), Reason::ModifierNotImportable);
  expect_refusal(rig, rig.request(kModifierInvalid), Reason::ModifierNotImportable);
  expect_refusal(rig, rig.request(kModifierLinear, format::kP010),
                 Reason::ModifierNotImportable);
  // A driver that cannot be asked.
  rig.egl.QueryModifiers = nullptr;
  expect_refusal(rig, rig.request(kModifierLinear), Reason::ModifierNotImportable);
}
GST_END_TEST;

GST_START_TEST(a_matrix_that_egl_cannot_name_is_not_guessed) {
  Rig rig;
  expect_refusal(rig, rig.request(kTiled), Reason::FormatUnsupported, {Matrix::Fcc});
  expect_refusal(rig, rig.request(kTiled), Reason::FormatUnsupported, {Matrix::Smpte240m});
}
GST_END_TEST;

GST_START_TEST(hostile_numbers_never_reach_the_driver_as_a_whole_either) {
  struct Case {
    Reason reason;
    void (*spoil)(gl::ImportRequest&);
  };
  for (const Case& bad :
       {Case{Reason::AuxPlane, [](auto& r) { r.image.plane_count = 4; }},
        Case{Reason::OffsetOutOfRange, [](auto& r) { r.image.planes[1].offset = 64 * 72; }},
        Case{Reason::ObjectTooSmall, [](auto& r) { r.image.planes[1].offset += 1; }},
        Case{Reason::PitchTooSmall, [](auto& r) { r.image.planes[1].pitch_bytes = 63; }},
        Case{Reason::SizeOutOfRange, [](auto& r) { r.image.height = 0; }},
        Case{Reason::NotADmabuf, [](auto& r) { r.fds[0] = STDIN_FILENO; }},
        Case{Reason::BadDescriptor, [](auto& r) { r.fds[0] = -1; }}}) {
    Rig rig;
    auto asked = rig.request(kTiled);
    bad.spoil(asked);
    expect_refusal(rig, asked, bad.reason);
  }
}
GST_END_TEST;

GST_START_TEST(a_driver_that_refuses_leaves_nothing_behind) {
  Rig rig;
  FakeGl::get().image_error = EGL_BAD_ALLOC;  // llvmpipe
  const auto refused = rig.importer().import(rig.request(kTiled), {}, {});
  fail_unless(!refused && refused.error().reason == Reason::EglBadAlloc);
  FakeGl::get().image_error = 0;
  FakeGl::get().error_of_target = FakeGl::get().error_of_storage_target = GL_INVALID_OPERATION;
  const auto unbound = rig.importer().import(rig.request(kTiled), {}, {});
  fail_unless(!unbound && unbound.error().reason == Reason::GlError);
  fail_unless_equals_int(FakeGl::get().images_alive, 0);
  fail_unless_equals_int(FakeGl::get().textures_alive, 0);
}
GST_END_TEST;

int main(int argc, char** argv) {
  setenv("GST_DXVA_TEST", "memfd", 1);
  gst_check_init(&argc, &argv);
  Suite* suite = suite_create("gl_whole_image");
  TCase* tests = tcase_create("general");
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, both_planes_go_into_one_image_with_their_modifier);
  tcase_add_test(tests, the_driver_is_told_the_colours);
  tcase_add_test(tests, chroma_siting_is_told_where_it_is_known);
  tcase_add_test(tests, external_only_images_are_external_textures);
  tcase_add_test(tests, what_shaders_cannot_sample_is_not_tried);
  tcase_add_test(tests, unlisted_or_unknown_layouts_are_not_tried);
  tcase_add_test(tests, a_matrix_that_egl_cannot_name_is_not_guessed);
  tcase_add_test(tests, hostile_numbers_never_reach_the_driver_as_a_whole_either);
  tcase_add_test(tests, a_driver_that_refuses_leaves_nothing_behind);
  return gst_check_run_suite(suite, "gl_whole_image", __FILE__);
}
