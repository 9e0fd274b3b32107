// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/layout.hpp"

#include "tests/check/support/check.hpp"

using namespace dxva::softva;

namespace {

constexpr LayoutKind kKinds[] = {LayoutKind::Tight, LayoutKind::Padded, LayoutKind::Gap,
                                 LayoutKind::TwoObjects, LayoutKind::DupFds};

GST_START_TEST(planes_never_overlap_and_never_leave_their_object) {
  for (const Format& format : formats())
    for (const LayoutKind kind : kKinds)
      for (const uint32_t align : {1u, 2u, 7u, 64u, 256u, 4096u})
        for (const uint32_t width : {1u, 2u, 3u, 63u, 64u, 65u, 1918u, 8192u})
          for (const uint32_t height : {1u, 2u, 3u, 31u, 1078u, 8192u}) {
            const auto layout = plan_layout(format, width, height, kind, align);
            fail_unless(bool(layout));
            uint64_t end[kMaxObjects] = {};  // of the planes before
            uint64_t problems = 0;
            for (uint32_t i = 0; i < format.plane_count; ++i) {
              const PlaneLayout& plane = layout->planes[i];
              problems += plane.object >= layout->object_count;
              problems += plane.pitch < format.row_bytes(i, width);
              problems += plane.pitch % format.sample_bytes != 0;
              problems += plane.offset % format.sample_bytes != 0;
              problems += plane.offset < end[plane.object];
              end[plane.object] = plane.offset + uint64_t{plane.pitch} * format.rows(i, height);
            }
            for (uint32_t i = 0; i < layout->object_count; ++i) {
              problems += end[i] > layout->object_bytes[i];
              problems += layout->object_bytes[i] % 4096 != 0;
            }
            fail_unless(problems == 0, "%ux%u align %u", width, height, align);
          }
}
GST_END_TEST;

GST_START_TEST(even_alignment_of_even_formats_is_kept) {
  const auto layout =
      plan_layout(*find_format(VA_FOURCC_P010), 100, 100, LayoutKind::Tight, 256);
  fail_unless_equals_int(layout->planes[0].pitch, 256);
  fail_unless_equals_int(layout->planes[1].offset, 256 * 100);
}
GST_END_TEST;

GST_START_TEST(sizes_that_make_no_surface_are_refused) {
  const Format& nv12 = *find_format(VA_FOURCC_NV12);
  fail_if(bool(plan_layout(nv12, 0, 16, LayoutKind::Tight, 64)));
  fail_if(bool(plan_layout(nv12, 16, 0, LayoutKind::Tight, 64)));
  fail_if(bool(plan_layout(nv12, UINT32_MAX, 16, LayoutKind::Tight, 64)));
  fail_if(bool(plan_layout(nv12, 16, UINT32_MAX, LayoutKind::Tight, 64)));
  fail_if(bool(plan_layout(nv12, 1 << 20, 1 << 20, LayoutKind::Padded, 4096)));
}
GST_END_TEST;

GST_START_TEST(layouts_have_names) {
  fail_unless(layout_kind("tight") == LayoutKind::Tight);
  fail_unless(layout_kind("dup-fds") == LayoutKind::DupFds);
  fail_if(layout_kind("").has_value());
  fail_if(layout_kind("TIGHT").has_value());
}
GST_END_TEST;

Suite* softva_layout_suite() {
  Suite* suite = suite_create("softva_layout");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, planes_never_overlap_and_never_leave_their_object);
  tcase_add_test(tcase, even_alignment_of_even_formats_is_kept);
  tcase_add_test(tcase, sizes_that_make_no_surface_are_refused);
  tcase_add_test(tcase, layouts_have_names);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(softva_layout)
