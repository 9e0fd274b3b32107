// SPDX-License-Identifier: LGPL-2.1-or-later

#include "lib/base/fourcc.hpp"

#include <drm_fourcc.h>

#include "tests/check/support/check.hpp"

using namespace dxva;

namespace {

// The names are libdrm's; the library has its own so that nothing needs libdrm's headers.
static_assert(format::kNV12 == DRM_FORMAT_NV12);
static_assert(format::kP010 == DRM_FORMAT_P010);
static_assert(format::kR8 == DRM_FORMAT_R8);
static_assert(format::kGR88 == DRM_FORMAT_GR88);
static_assert(format::kRG88 == DRM_FORMAT_RG88);
static_assert(format::kR16 == DRM_FORMAT_R16);
static_assert(format::kGR1616 == DRM_FORMAT_GR1616);
static_assert(kModifierLinear == DRM_FORMAT_MOD_LINEAR);
static_assert(kModifierInvalid == DRM_FORMAT_MOD_INVALID);

GST_START_TEST(codes_print_as_text_where_they_can) {
  fail_unless(fourcc_text(format::kNV12) == "NV12");
  fail_unless(fourcc_text(format::kR8) == "R8");
  fail_unless(fourcc_text(0) == "0x00000000");
  fail_unless(fourcc_text(0xff3231ffu) == "0xff3231ff");
}
GST_END_TEST;

GST_START_TEST(modifiers_print_as_words_or_numbers) {
  fail_unless(modifier_text(kModifierLinear) == "linear");
  fail_unless(modifier_text(kModifierInvalid) == "none given");
  fail_unless(modifier_text(0x0100000000000002) == "0x0100000000000002");
}
GST_END_TEST;

GST_START_TEST(compressed_modifiers_have_planes_of_their_own) {
  for (const uint64_t with :
       {I915_FORMAT_MOD_Y_TILED_CCS, I915_FORMAT_MOD_Yf_TILED_CCS,
        I915_FORMAT_MOD_Y_TILED_GEN12_RC_CCS, I915_FORMAT_MOD_Y_TILED_GEN12_MC_CCS,
        I915_FORMAT_MOD_Y_TILED_GEN12_RC_CCS_CC, I915_FORMAT_MOD_4_TILED_DG2_RC_CCS_CC,
        fourcc_mod_code(INTEL, 13) /* MTL_RC_CCS */,
        fourcc_mod_code(INTEL, 15) /* MTL_RC_CCS_CC */,
        static_cast<unsigned long long>(AMD_FMT_MOD | AMD_FMT_MOD_SET(TILE_VERSION, 2) |
                                        AMD_FMT_MOD_SET(DCC, 1))})
    fail_unless(has_aux_planes(with), "%s", modifier_text(with).c_str());
  for (const uint64_t without :
       {static_cast<unsigned long long>(DRM_FORMAT_MOD_LINEAR), DRM_FORMAT_MOD_INVALID,
        I915_FORMAT_MOD_X_TILED, I915_FORMAT_MOD_Y_TILED, I915_FORMAT_MOD_4_TILED,
        I915_FORMAT_MOD_4_TILED_DG2_RC_CCS, I915_FORMAT_MOD_4_TILED_DG2_MC_CCS,
        fourcc_mod_code(INTEL, 16) /* LNL_CCS */,
        static_cast<unsigned long long>(AMD_FMT_MOD | AMD_FMT_MOD_SET(TILE_VERSION, 2)),
        static_cast<unsigned long long>(AMD_FMT_MOD | AMD_FMT_MOD_SET(TILE_VERSION, 5) |
                                        AMD_FMT_MOD_SET(DCC, 1)),
        fourcc_mod_code(NVIDIA, 0x13)})
    fail_unless(!has_aux_planes(without), "%s", modifier_text(without).c_str());
}
GST_END_TEST;

Suite* base_fourcc_suite() {
  Suite* suite = suite_create("base_fourcc");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, codes_print_as_text_where_they_can);
  tcase_add_test(tcase, modifiers_print_as_words_or_numbers);
  tcase_add_test(tcase, compressed_modifiers_have_planes_of_their_own);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(base_fourcc)
