// SPDX-License-Identifier: LGPL-2.1-or-later

// The decoder's GPU and OpenGL's: which is tried first, when pictures cross, and what is said.

#include "lib/drm/gpu_match.hpp"

#include <string>
#include <vector>

#include "tests/check/support/check.hpp"

using namespace dxva;
using drm::Cause;
using drm::Device;
using drm::Placement;

namespace {

const Device kIntel{.id = {226, 128}, .render_node = "/dev/dri/renderD128", .driver = "i915"};
const Device kAmd{.id = {226, 129}, .render_node = "/dev/dri/renderD129", .driver = "amdgpu"};
const Device kVgem{.id = {226, 130}, .render_node = "/dev/dri/renderD130", .driver = ""};

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

GST_START_TEST(the_gpu_of_opengl_is_tried_first_and_the_others_after_it) {
  const std::vector<std::string> nodes = {"/dev/dri/renderD128", "/dev/dri/renderD129",
                                          "/dev/dri/renderD130"};
  fail_unless(drm::order_of_trial(nodes, "") == nodes);
  fail_unless(drm::order_of_trial(nodes, nodes[0]) == nodes);
  fail_unless(drm::order_of_trial(nodes, nodes[2]) ==
              std::vector<std::string>({nodes[2], nodes[0], nodes[1]}));
  // A node that the folder does not list can still be opened by its name.
  fail_unless(drm::order_of_trial({nodes[0]}, nodes[1]) ==
              std::vector<std::string>({nodes[1], nodes[0]}));
  fail_unless(drm::order_of_trial({}, "") == std::vector<std::string>());
}
GST_END_TEST;

GST_START_TEST(one_gpu_or_an_unknown_one_is_no_mismatch) {
  for (const Placement& placement :
       {Placement{.decoder = kIntel}, Placement{.decoder = kIntel, .renderer = kIntel},
        Placement{.decoder = kIntel,
        .renderer = Device{.id = kIntel.id, .render_node = "/somewhere/else"}}}) {
    fail_if(drm::crosses_gpus(placement));
    fail_unless(drm::describe_mismatch(placement).empty());
  }
}
GST_END_TEST;

GST_START_TEST(a_mismatch_names_both_gpus_and_who_asked_for_it) {
  const Placement placement{.decoder = kAmd,
                            .renderer = kIntel,
                            .cause = Cause::Asked,
                            .asked_by = "device=/dev/dri/card1"};
  fail_unless(drm::crosses_gpus(placement));
  const std::string text = drm::describe_mismatch(placement);
  fail_unless(has(text, "decoded on /dev/dri/renderD129 (amdgpu)"), "%s", text.c_str());
  fail_unless(has(text, "drawn on /dev/dri/renderD128 (i915)"), "%s", text.c_str());
  fail_unless(has(text, "device=/dev/dri/card1 says so"), "%s", text.c_str());
  fail_unless(has(text, "device=auto"), "%s", text.c_str());
  fail_if(has(text, "LIBVA_DRIVER_NAME"), "%s", text.c_str());
}
GST_END_TEST;

GST_START_TEST(an_environment_that_keeps_the_decoder_away_is_named) {
  const Placement placement{
      .decoder = kAmd, .renderer = kIntel, .cause = Cause::NoDriver, .va_driver = "radeonsi"};
  const std::string text = drm::describe_mismatch(placement);
  fail_unless(has(text, "No VA-API driver decodes on OpenGL's GPU"), "%s", text.c_str());
  fail_unless(has(text, "LIBVA_DRIVER_NAME=radeonsi"), "%s", text.c_str());
  fail_unless(has(text, "iHD"), "%s", text.c_str());
}
GST_END_TEST;

GST_START_TEST(a_gpu_that_was_known_too_late_is_named_as_the_remedy) {
  const std::string text =
      drm::describe_mismatch({.decoder = kIntel, .renderer = kVgem, .cause = Cause::Late});
  fail_unless(has(text, "drawn on /dev/dri/renderD130:"), "%s", text.c_str());
  fail_unless(has(text, "device=/dev/dri/renderD130 takes it"), "%s", text.c_str());
}
GST_END_TEST;

GST_START_TEST(a_gpu_without_a_render_node_is_named_by_its_number) {
  const std::string text = drm::describe_mismatch(
      {.decoder = kAmd, .renderer = Device{.id = {226, 2}}, .cause = Cause::NoDriver});
  fail_unless(has(text, "226:2"), "%s", text.c_str());
}
GST_END_TEST;

GST_START_TEST(only_drivers_that_are_known_not_to_fit_contradict) {
  const auto silent = [](const Device& device, const char* va_driver) {
    return drm::driver_contradiction(device, va_driver).empty();
  };
  fail_unless(silent(kIntel, ""));
  fail_unless(silent(kIntel, "iHD"));
  fail_unless(silent(kIntel, "i965"));
  fail_unless(silent(kIntel, "dxvasoft"));  // runs everywhere
  fail_unless(silent(kVgem, "radeonsi"));   // nothing is known of that GPU
  fail_unless(silent(Device{.driver = "v3d"}, "v4l2_request"));
  fail_if(silent(kIntel, "radeonsi"));
  fail_if(silent(kAmd, "iHD"));
}
GST_END_TEST;

Suite* drm_gpu_match_suite() {
  Suite* suite = suite_create("drm_gpu_match");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, the_gpu_of_opengl_is_tried_first_and_the_others_after_it);
  tcase_add_test(tcase, one_gpu_or_an_unknown_one_is_no_mismatch);
  tcase_add_test(tcase, a_mismatch_names_both_gpus_and_who_asked_for_it);
  tcase_add_test(tcase, an_environment_that_keeps_the_decoder_away_is_named);
  tcase_add_test(tcase, a_gpu_that_was_known_too_late_is_named_as_the_remedy);
  tcase_add_test(tcase, a_gpu_without_a_render_node_is_named_by_its_number);
  tcase_add_test(tcase, only_drivers_that_are_known_not_to_fit_contradict);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(drm_gpu_match)
