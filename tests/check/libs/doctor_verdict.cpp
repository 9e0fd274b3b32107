// SPDX-License-Identifier: LGPL-2.1-or-later
// dxva-doctor's sentences for machines that are not here: two GPUs, refused nodes, missing
// drivers.

#include <algorithm>
#include <string>

#include "tests/check/support/check.hpp"
#include "tools/doctor/verdict.hpp"

using dxva::doctor::Json;
using dxva::doctor::Outcome;
using dxva::doctor::Verdict;

namespace {

// A machine where all is well; tests spoil one thing.
constexpr const char* kWell = R"json({
  "environment": {},
  "drm": [{"node": "/dev/dri/renderD128", "primary": "/dev/dri/card0", "driver": "amdgpu"},
          {"node": "/dev/dri/renderD129", "primary": "/dev/dri/card1", "driver": "i915"}],
  "va": [{"device": "/dev/dri/renderD128", "node": "/dev/dri/renderD128",
          "codecs": ["h264", "vp9"]}],
  "gl": {"platform": "egl", "renderer": "AMD", "node": "/dev/dri/renderD128", "imports": true},
  "decode": {"sent": 8, "frames": 8, "wrong-bytes": 0,
             "decoder": {"device": "Mesa (/dev/dri/renderD128)", "steps": {"exported": 8}},
             "uploader": {"steps": {"egl": 8}}},
  "ranks": {"h264": [{"element": "dxvadec", "rank": 258}]}
})json";

Json machine() {
  return *Json::parse(kWell);
}

Verdict judged(const Json& findings) {
  return dxva::doctor::judge(findings);
}

bool says(const Verdict& verdict, const std::string& id) {
  return std::any_of(verdict.problems.begin(), verdict.problems.end(),
                     [&](const auto& problem) { return problem.id == id; });
}

const dxva::doctor::Problem& only(const Verdict& verdict, const std::string& id) {
  ck_assert_msg(verdict.problems.size() == 1 && verdict.problems[0].id == id,
                "%zu problems, first %s, wanted %s", verdict.problems.size(),
                verdict.problems.empty() ? "-" : verdict.problems[0].id.c_str(), id.c_str());
  return verdict.problems[0];
}

Json with_steps(const char* text) {
  return *Json::parse(text);
}

}  // namespace

GST_START_TEST(a_machine_without_a_fault_has_no_sentence) {
  const Verdict verdict = judged(machine());
  ck_assert(verdict.outcome == Outcome::ZeroCopy);
  ck_assert_msg(verdict.problems.empty(), "%s", verdict.json().to_text().c_str());
}
GST_END_TEST

GST_START_TEST(two_gpus_are_both_named) {
  Json findings = machine();
  findings.at("gl").set("node", "/dev/dri/renderD129");
  const auto verdict = judged(findings);
  const auto problem = only(verdict, "two-gpus");
  ck_assert(problem.what.find("/dev/dri/renderD128") != std::string::npos);
  ck_assert(problem.what.find("/dev/dri/renderD129") != std::string::npos);
  ck_assert(problem.remedy.find("GST_DXVA_DEVICE=/dev/dri/renderD129") != std::string::npos);
}
GST_END_TEST

GST_START_TEST(two_nodes_of_one_gpu_are_no_two_gpus) {
  Json findings = machine();
  findings.at("gl").set("node", "/dev/dri/card0");
  ck_assert(judged(findings).problems.empty());
  ck_assert(dxva::doctor::gpu_match(findings) == "same");
}
GST_END_TEST

GST_START_TEST(whether_gpus_match_is_unknown_without_two_names) {
  Json findings = machine();
  ck_assert(dxva::doctor::gpu_match(findings) == "same");
  findings.at("gl").set("node", "/dev/dri/card1");
  ck_assert(dxva::doctor::gpu_match(findings) == "different");
  findings.at("gl").set("node", "");
  ck_assert(dxva::doctor::gpu_match(findings) == "unknown");
  findings = machine();
  findings.at("decode/decoder").set("device", "gst-dxva software driver (software)");
  ck_assert(dxva::doctor::gpu_match(findings) == "unknown");
}
GST_END_TEST

GST_START_TEST(a_node_that_may_not_be_opened_is_named_with_the_group) {
  Json findings = machine();
  findings.at("drm").items()[1].set("error", "Permission denied");
  const auto verdict = judged(findings);
  const auto problem = only(verdict, "node-not-openable");
  ck_assert(problem.what.find("/dev/dri/renderD129") != std::string::npos);
  ck_assert(problem.remedy.find("render") != std::string::npos);
}
GST_END_TEST

GST_START_TEST(a_missing_driver_is_named_by_the_kernels_driver) {
  for (const auto& [kernel, package] :
       {std::pair{"amdgpu", "mesa-va-drivers"}, std::pair{"xe", "intel-media-va-driver"}}) {
    Json findings = machine();
    findings.at("drm").items()[0].set("driver", kernel);
    findings.at("va").items()[0].set("error", "vaInitialize: unknown libva error");
    findings.at("decode/decoder").set("steps", with_steps(R"({"software": 8})"));
    findings.at("decode/uploader").set("steps", with_steps(R"({"cpu-copy": 8})"));
    const auto verdict = judged(findings);
    ck_assert(verdict.outcome == Outcome::Software);
    ck_assert(only(verdict, "va-driver-broken").remedy.find(package) != std::string::npos);
  }
}
GST_END_TEST

GST_START_TEST(a_forced_driver_is_the_first_suspect) {
  Json findings = machine();
  findings.at("va").items()[0].set("error", "vaInitialize: unknown libva error");
  findings.at("environment").set("LIBVA_DRIVER_NAME", "iHD");
  ck_assert(judged(findings).problems[0].remedy.find("LIBVA_DRIVER_NAME=iHD") !=
            std::string::npos);
}
GST_END_TEST

GST_START_TEST(a_device_that_was_asked_for_is_named_with_its_error) {
  Json findings = machine();
  findings.set("asked",
               with_steps(R"({"device": "/dev/dri/renderD255", "advice": "Name one."})"));
  findings.at("va").add(with_steps(R"({"device": "/dev/dri/renderD255",
                                       "error": "open device: /dev/dri/renderD255: gone"})"));
  const auto problem = only(judged(findings), "asked-device");
  ck_assert(problem.what.find("/dev/dri/renderD255: gone") != std::string::npos);
  ck_assert(problem.remedy == "Name one.");

  findings = machine();
  findings.set("asked", with_steps(R"({"device": "cuda:3", "advice": "Install it."})"));
  ck_assert(judged(findings).problems.empty());
  findings.at("decode/decoder").set("device-error", "dlopen: libcuda.so.1");
  const auto cuda = only(judged(findings), "asked-device");
  ck_assert(cuda.what.find("cuda:3") != std::string::npos);
  ck_assert(cuda.what.find("libcuda.so.1") != std::string::npos);
  ck_assert(cuda.remedy == "Install it.");
}
GST_END_TEST

GST_START_TEST(a_setting_of_the_bundled_driver_is_blamed_before_libvas_variable) {
  Json findings = machine();
  findings.at("va").items()[0].set(
      "error", "vaInitialize: invalid: dxvasoft: DXVASOFT_LAYOUT: cannot read \"x\"");
  findings.at("environment").set("LIBVA_DRIVER_NAME", "dxvasoft");
  const auto problem = only(judged(findings), "va-driver-broken");
  ck_assert(problem.remedy.find("DXVASOFT_LAYOUT") != std::string::npos);
  ck_assert(problem.remedy.find("LIBVA_DRIVER_NAME") == std::string::npos);
}
GST_END_TEST

GST_START_TEST(settings_that_nobody_understands_are_named) {
  for (const auto& [name, value] :
       {std::pair{"GST_DXVA_ZEROCOPY", "no"}, std::pair{"GST_DXVA_TEST", "memfs"},
        std::pair{"GST_DXVA_ZERO_COPY", "0"}}) {
    Json findings = machine();
    findings.at("environment").set(name, value);
    const auto problem = only(judged(findings), "not-understood");
    ck_assert_msg(problem.what.find(name) != std::string::npos, "%s", problem.what.c_str());
    ck_assert(!problem.remedy.empty());
  }
  Json findings = machine();
  findings.set("tracers", with_steps(R"({"ignored": ["frames=many"]})"));
  const auto problem = only(judged(findings), "not-understood");
  ck_assert(problem.what.find("frames=many") != std::string::npos);
  ck_assert(problem.remedy.find("100000") != std::string::npos);
}
GST_END_TEST

GST_START_TEST(the_test_switch_is_told_by_what_it_does) {
  const auto told = [](const char* words) {
    Json findings = machine();
    findings.at("environment").set("GST_DXVA_TEST", words);
    return only(judged(findings), "test-switch");
  };
  ck_assert(told("memfd").what.find("loosens safety") != std::string::npos);
  ck_assert(told("software-import,verify").what.find("loosens safety") != std::string::npos);
  ck_assert(told("verify").what.find("loosens safety") == std::string::npos);
  for (const char* words : {"upload-ring", "read-in-place"})
    ck_assert(told(words).what.find("slower") != std::string::npos);
  for (const char* words : {"memfd", "verify"})
    ck_assert(told(words).remedy.find("Unset GST_DXVA_TEST") != std::string::npos);
}
GST_END_TEST

GST_START_TEST(a_tiled_layout_is_named_as_far_as_it_has_a_name) {
  const auto told = [](const char* modifier) {
    Json findings = machine();
    findings.at("decode/decoder").set("modifier", modifier);
    findings.at("decode/uploader").set("steps", with_steps(R"({"cpu-copy": 8})"));
    findings.at("decode/decoder").set("reasons", with_steps(R"({"modifier-not-linear": 8})"));
    return only(judged(findings), "tiled-only").what;
  };
  ck_assert(told("0x0100000000000002").find("(modifier 0x0100000000000002)") !=
            std::string::npos);
  ck_assert(told("none given").find("a layout without a name") != std::string::npos);
  ck_assert(told("").find("in a tiled layout that") != std::string::npos);
}
GST_END_TEST

GST_START_TEST(surfaces_that_stay_tiled_for_another_gpu_are_its_fault_alone) {
  Json findings = machine();
  findings.at("gl").set("node", "/dev/dri/renderD129");
  findings.at("decode/decoder").set("steps", with_steps(R"({"cpu-copy": 8})"));
  findings.at("decode/decoder").set("reasons", with_steps(R"({"modifier-not-linear": 8})"));
  findings.at("decode/uploader").set("steps", with_steps(R"({"cpu-copy": 8})"));
  (void)only(judged(findings), "two-gpus");
}
GST_END_TEST

GST_START_TEST(a_crash_is_told_as_one) {
  Json findings = machine();
  findings.set("decode", with_steps(R"({"error": "crashed: Segmentation fault"})"));
  const auto verdict = judged(findings);
  ck_assert(verdict.outcome == Outcome::Broken);
  ck_assert(only(verdict, "decoding-crashes").what.find("Segmentation fault") !=
            std::string::npos);
}
GST_END_TEST

GST_START_TEST(a_wrong_picture_is_broken_whatever_the_way) {
  Json findings = machine();
  findings.at("decode").set("wrong-bytes", int64_t{1});
  const auto verdict = judged(findings);
  ck_assert(verdict.outcome == Outcome::Broken);
  ck_assert(says(verdict, "wrong-picture"));
}
GST_END_TEST

GST_START_TEST(glx_names_its_remedy) {
  Json findings = machine();
  findings.at("gl").set("platform", "glx");
  findings.at("decode/uploader").set("steps", with_steps(R"({"cpu-copy": 8})"));
  const auto verdict = judged(findings);
  ck_assert(verdict.outcome == Outcome::Copies);
  ck_assert(only(verdict, "glx").remedy.find("GST_GL_PLATFORM=egl") != std::string::npos);
}
GST_END_TEST

GST_START_TEST(a_part_that_is_copied_is_counted_with_its_reason) {
  for (const int64_t copied : {2, 4, 6}) {
    Json findings = machine();
    Json left = Json::object(), why = Json::object(), became = Json::object();
    left.set("exported", 8 - copied);
    left.set("cpu-copy", copied);
    why.set("export-failed", copied);
    became.set("egl", 8 - copied);
    became.set("cpu-copy", copied);
    findings.at("decode/decoder").set("steps", left);
    findings.at("decode/decoder").set("reasons", why);
    findings.at("decode/uploader").set("steps", became);
    findings.at("decode/uploader").set("reasons", with_steps(R"({"system-memory": 2})"));
    const auto verdict = judged(findings);
    ck_assert(verdict.outcome == Outcome::Copies);
    ck_assert_int_eq(verdict.copies.copied, copied);
    ck_assert_int_eq(verdict.copies.by_cpu, copied);
    const auto problem = only(verdict, "export-fails");
    ck_assert(problem.what.find(std::to_string(copied) + " of 8") != std::string::npos);
    ck_assert(!problem.remedy.empty());
  }
}
GST_END_TEST

GST_START_TEST(a_copy_on_the_gpu_is_one_although_it_is_imported) {
  Json findings = machine();
  findings.at("decode/decoder").set("steps", with_steps(R"({"gpu-copy": 4, "cpu-copy": 4})"));
  findings.at("decode/decoder").set("reasons", with_steps(R"({"modifier-not-linear": 8})"));
  findings.at("decode/uploader").set("steps", with_steps(R"({"egl": 4, "cpu-copy": 4})"));
  const auto verdict = judged(findings);
  ck_assert(verdict.outcome == Outcome::Copies);
  ck_assert_int_eq(verdict.copies.copied, 8);
  ck_assert_int_eq(verdict.copies.by_gpu, 4);
  ck_assert_int_eq(verdict.copies.by_cpu, 4);
  ck_assert(!only(verdict, "tiled-only").remedy.empty());
  findings.at("decode/decoder").set("steps", with_steps(R"({"gpu-copy": 8})"));
  findings.at("decode/uploader").set("steps", with_steps(R"({"egl": 8})"));
  ck_assert(judged(findings).outcome == Outcome::Copies);
}
GST_END_TEST

GST_START_TEST(what_is_uploaded_from_where_it_lies_is_copied_by_nobody_before) {
  Json findings = machine();
  findings.at("decode/decoder").set("steps", with_steps(R"({"cpu-copy": 8})"));
  findings.at("decode/decoder").set("read-in-place", int64_t{6});
  findings.at("decode/decoder").set("reasons", with_steps(R"({"export-unsupported": 8})"));
  findings.at("decode/uploader").set("steps", with_steps(R"({"cpu-copy": 8})"));
  const auto verdict = judged(findings);
  ck_assert_int_eq(verdict.copies.copied, 8);
  ck_assert_int_eq(verdict.copies.by_cpu, 2);
  ck_assert_int_eq(verdict.copies.uploaded, 8);
}
GST_END_TEST

GST_START_TEST(a_reason_without_a_sentence_is_named) {
  Json findings = machine();
  findings.at("decode/uploader").set("steps", with_steps(R"({"egl": 7, "cpu-copy": 1})"));
  findings.at("decode/uploader").set("reasons", with_steps(R"({"egl-bad-alloc": 1})"));
  const auto verdict = judged(findings);
  ck_assert(verdict.outcome == Outcome::Copies);
  ck_assert_int_eq(verdict.copies.copied, 1);
  const auto problem = only(verdict, "copied-frames");
  ck_assert(problem.what.find("egl-bad-alloc 1") != std::string::npos);
  ck_assert(!problem.remedy.empty());
}
GST_END_TEST

GST_START_TEST(who_forbids_the_cpu_hears_that_it_is_why_nothing_plays) {
  Json findings = machine();
  findings.at("environment").set("GST_DXVA_SOFTWARE_FALLBACK", "0");
  ck_assert(judged(findings).problems.empty());
  findings.set(
      "decode",
      with_steps(R"({"error": "No device for device=auto, and software-fallback is off.",
                              "sent": 8, "frames": 0, "decoder": {"device": "none"}})"));
  auto verdict = judged(findings);
  ck_assert(verdict.outcome == Outcome::Broken);
  ck_assert(only(verdict, "software-fallback-off").remedy.find("Unset it") !=
            std::string::npos);

  // playbin goes on.
  findings.at("ranks/h264").add(with_steps(R"({"element": "avdec_h264", "rank": 256})"));
  verdict = judged(findings);
  ck_assert(verdict.outcome == Outcome::Software);
  ck_assert_str_eq(verdict.left_to.c_str(), "avdec_h264");
  ck_assert(only(verdict, "software-fallback-off").remedy.find("avdec_h264") !=
            std::string::npos);

  // A device that starts and then fails ends playback.
  findings.at("decode/decoder").set("device", "Mesa (/dev/dri/renderD128)");
  verdict = judged(findings);
  ck_assert(verdict.outcome == Outcome::Broken);
  ck_assert(!only(verdict, "software-fallback-off").remedy.empty());
}
GST_END_TEST

GST_START_TEST(what_was_left_out_because_of_what_hangs_is_no_fault_of_its_own) {
  const std::string hangs = "hangs: no answer in 60 seconds";
  const std::string left_out = dxva::doctor::kNotTried + hangs;
  Json findings = machine();
  findings.at("environment").set("GST_DXVA_SOFTWARE_FALLBACK", "0");
  findings.set("tracers", Json::object());
  findings.at("tracers").set("error", hangs);
  for (const char* probe : {"decode", "gl", "ranks"}) {
    findings.set(probe, Json::object());
    findings.at(probe).set("error", left_out);
  }
  const Verdict verdict = judged(findings);
  ck_assert(verdict.outcome == Outcome::Broken);
  const auto problem = only(verdict, "gstreamer-broken");
  ck_assert(problem.what.find(hangs) != std::string::npos && !problem.remedy.empty());
}
GST_END_TEST

GST_START_TEST(what_does_not_come_out_has_a_remedy) {
  Json findings = machine();
  findings.at("decode").set("frames", int64_t{3});
  ck_assert(!only(judged(findings), "frames-missing").remedy.empty());
  findings.at("decode").set("timed-out", true);
  const auto slow = only(judged(findings), "frames-missing");
  ck_assert(slow.what.find("3 of 8") != std::string::npos);
  ck_assert(slow.remedy.find("LIBVA_DRIVER_NAME") != std::string::npos);
  findings.at("environment").set("DXVASOFT_DECODE_DELAY_MS", "3000");
  ck_assert(only(judged(findings), "frames-missing").remedy.find("DXVASOFT_DECODE_DELAY_MS") !=
            std::string::npos);

  findings = machine();
  findings.at("decode").set("error", "Internal data stream error.");
  ck_assert(!only(judged(findings), "decoding-fails").remedy.empty());

  findings = machine();
  findings.at("decode/decoder").set("steps", with_steps(R"({"cpu-copy": 8})"));
  findings.at("decode/decoder").set("reasons", with_steps(R"({"not-a-dmabuf": 8})"));
  findings.at("decode/uploader").set("steps", with_steps(R"({"cpu-copy": 8})"));
  ck_assert(!only(judged(findings), "export-no-dmabuf").remedy.empty());
}
GST_END_TEST

GST_START_TEST(a_picture_that_cannot_be_read_back_is_told_from_one_that_is_not_finished) {
  Json findings = machine();
  findings.at("decode/decoder").set("steps", with_steps(R"({"software": 8})"));
  findings.at("decode/decoder").set("reasons", with_steps(R"({"read-back-failed": 8})"));
  const auto unreadable = only(judged(findings), "device-fails");
  ck_assert(unreadable.what.find("cannot be read back") != std::string::npos);
  ck_assert(!unreadable.remedy.empty());
  findings.at("decode/decoder").set("reasons", with_steps(R"({"sync-failed": 8})"));
  const auto unfinished = only(judged(findings), "device-fails");
  ck_assert(unfinished.what.find("does not finish") != std::string::npos);
  ck_assert(unfinished.what.find("read back") == std::string::npos);
}
GST_END_TEST

GST_START_TEST(a_name_that_is_none_of_cudas_is_told_once) {
  Json findings = machine();
  findings.set("asked", with_steps(R"({"device": "cuda:x", "advice": "Name one."})"));
  findings.at("va").add(with_steps(R"({"device": "cuda:x", "error": "stat: cuda:x: gone"})"));
  findings.at("decode/decoder").set("device-error", "stat: cuda:x: gone");
  ck_assert(!only(judged(findings), "asked-device").remedy.empty());
}
GST_END_TEST

GST_START_TEST(a_codec_the_device_lacks_is_expected_in_software) {
  const Json findings = machine();
  ck_assert(dxva::doctor::expected_step(findings, "vp9") == "egl");
  ck_assert(dxva::doctor::expected_step(findings, "av1") == "software");
}
GST_END_TEST

GST_START_TEST(findings_of_nothing_are_no_crash) {
  ck_assert(judged(Json()).outcome == Outcome::Broken);
  ck_assert(judged(*Json::parse(R"({"drm": 5, "va": {"x": []}, "decode": []})")).outcome ==
            Outcome::Broken);
}
GST_END_TEST

int main(int argc, char** argv) {
  gst_check_init(&argc, &argv);
  Suite* suite = suite_create("doctor_verdict");
  TCase* cases = tcase_create("general");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, a_machine_without_a_fault_has_no_sentence);
  tcase_add_test(cases, two_gpus_are_both_named);
  tcase_add_test(cases, two_nodes_of_one_gpu_are_no_two_gpus);
  tcase_add_test(cases, whether_gpus_match_is_unknown_without_two_names);
  tcase_add_test(cases, a_node_that_may_not_be_opened_is_named_with_the_group);
  tcase_add_test(cases, a_missing_driver_is_named_by_the_kernels_driver);
  tcase_add_test(cases, a_forced_driver_is_the_first_suspect);
  tcase_add_test(cases, a_device_that_was_asked_for_is_named_with_its_error);
  tcase_add_test(cases, a_setting_of_the_bundled_driver_is_blamed_before_libvas_variable);
  tcase_add_test(cases, settings_that_nobody_understands_are_named);
  tcase_add_test(cases, the_test_switch_is_told_by_what_it_does);
  tcase_add_test(cases, a_tiled_layout_is_named_as_far_as_it_has_a_name);
  tcase_add_test(cases, surfaces_that_stay_tiled_for_another_gpu_are_its_fault_alone);
  tcase_add_test(cases, a_crash_is_told_as_one);
  tcase_add_test(cases, a_wrong_picture_is_broken_whatever_the_way);
  tcase_add_test(cases, glx_names_its_remedy);
  tcase_add_test(cases, a_part_that_is_copied_is_counted_with_its_reason);
  tcase_add_test(cases, a_copy_on_the_gpu_is_one_although_it_is_imported);
  tcase_add_test(cases, what_is_uploaded_from_where_it_lies_is_copied_by_nobody_before);
  tcase_add_test(cases, a_reason_without_a_sentence_is_named);
  tcase_add_test(cases, who_forbids_the_cpu_hears_that_it_is_why_nothing_plays);
  tcase_add_test(cases, what_was_left_out_because_of_what_hangs_is_no_fault_of_its_own);
  tcase_add_test(cases, what_does_not_come_out_has_a_remedy);
  tcase_add_test(cases,
                 a_picture_that_cannot_be_read_back_is_told_from_one_that_is_not_finished);
  tcase_add_test(cases, a_name_that_is_none_of_cudas_is_told_once);
  tcase_add_test(cases, a_codec_the_device_lacks_is_expected_in_software);
  tcase_add_test(cases, findings_of_nothing_are_no_crash);
  return gst_check_run_suite(suite, "doctor_verdict", __FILE__);
}
