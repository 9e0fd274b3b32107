// SPDX-License-Identifier: LGPL-2.1-or-later

// What elements tell is put together frame by frame, within bounds, and drawn.

#include <clocale>
#include <string>
#include <vector>

#include "lib/timeline/look.hpp"
#include "lib/timeline/recorder.hpp"
#include "lib/timeline/svg.hpp"
#include "lib/timeline/svg_text.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva::timeline;
using dxva::trace::Part;
using dxva::trace::Span;
using dxva::trace::Stage;
using dxva::trace::Time;

namespace {

Time at(int ms) {
  return Time(std::chrono::milliseconds(1000 + ms));
}

const int decoder_1 = 0, decoder_2 = 0, uploader = 0;  // for their addresses

Part decoded(uint64_t memory, const char* step, const char* reason,
             const std::vector<Span>& spans, int64_t surface = 3) {
  return {.element = &decoder_1,
          .element_name = "dxvadec0",
          .memory = memory,
          .surface = surface,
          .pts_ns = 40000000,
          .step = step,
          .reason = reason,
          .spans = spans};
}

Part uploaded(uint64_t memory, const char* step, const char* reason,
              const std::vector<Span>& spans) {
  return {.role = Part::Role::Uploader,
          .element = &uploader,
          .element_name = "dxvaglupload0",
          .memory = memory,
          .step = step,
          .reason = reason,
          .spans = spans};
}

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t i = text.find(what); i != std::string::npos; i = text.find(what, i + 1)) ++found;
  return found;
}

GST_START_TEST(both_parts_of_a_frame_meet_by_its_memory) {
  Recorder recorder(10);
  recorder.part(decoded(1, "exported", "none", {{Stage::Decode, at(0), at(2)}}));
  recorder.part(decoded(2, "exported", "none", {{Stage::Decode, at(2), at(3)}}));
  recorder.part(uploaded(2, "cpu-copy", "egl-bad-match", {{Stage::Upload, at(3), at(4)}}));
  recorder.part(uploaded(1, "egl", "none", {{Stage::Import, at(4), at(5)}}));
  recorder.fence(1, at(6), at(7));
  recorder.home(1, at(8));
  // The memory is lent again.
  recorder.part(decoded(1, "exported", "none", {{Stage::Decode, at(9), at(10)}}));

  const Streams streams = recorder.streams();
  fail_unless_equals_int(streams.size(), 1);
  const auto& frames = streams[0].frames;
  fail_unless_equals_int(frames.size(), 3);
  fail_unless_equals_string(frames[0].step(), "egl");
  fail_unless_equals_string(frames[1].step(), "cpu-copy");
  fail_unless_equals_string(frames[1].reason(), "egl-bad-match");
  fail_unless_equals_string(frames[2].step(), "exported");
  fail_unless_equals_int(frames[0].spans.size(), 3);
  fail_unless(frames[0].home == at(8));
  fail_unless(!frames[2].home.has_value());
}
GST_END_TEST;

GST_START_TEST(the_step_is_the_worse_of_both) {
  const auto step = [](const char* left, const char* up) {
    return std::string(Frame{.left_as = left, .went_up = up}.step());
  };
  fail_unless(step("exported", "memory-object") == "memory-object");
  fail_unless(step("gpu-copy", "egl") == "gpu-copy");
  fail_unless(step("gpu-copy", "cpu-copy") == "cpu-copy");
  fail_unless(step("cpu-copy", "egl") == "cpu-copy");
  fail_unless(step("software", "cpu-copy") == "software");
  fail_unless(step("exported", "dropped") == "dropped");
  fail_unless(step(nullptr, "egl") == "egl");
}
GST_END_TEST;

GST_START_TEST(a_foreign_producers_frames_are_the_uploaders) {
  Recorder recorder(10);
  for (int i = 0; i < 3; ++i) recorder.part(uploaded(5, "egl", "none", {}));
  recorder.part(uploaded(0, "egl", "none", {}));
  const Streams streams = recorder.streams();
  fail_unless_equals_int(streams.size(), 1);
  fail_unless_equals_string(streams[0].name.c_str(), "dxvaglupload0");
  fail_unless_equals_int(streams[0].frames.size(), 4);
}
GST_END_TEST;

GST_START_TEST(two_uploaders_of_one_frame_leave_the_worse_step) {
  Recorder recorder(10);
  recorder.part(decoded(1, "exported", "none", {}));
  recorder.part(uploaded(1, "cpu-copy", "egl-bad-match", {}));
  recorder.part(uploaded(1, "egl", "none", {}));
  const Streams streams = recorder.streams();
  fail_unless_equals_int(streams.size(), 1);
  fail_unless_equals_string(streams[0].frames[0].step(), "cpu-copy");
}
GST_END_TEST;

GST_START_TEST(elements_of_one_name_are_two_streams) {
  Recorder recorder(10);
  recorder.part(decoded(1, "exported", "none", {}));
  Part other = decoded(2, "exported", "none", {});
  other.element = &decoder_2;
  recorder.part(other);
  fail_unless_equals_int(recorder.streams().size(), 2);
}
GST_END_TEST;

GST_START_TEST(a_long_run_keeps_the_last_frames_and_counts_all) {
  Recorder recorder(8);
  for (uint64_t i = 0; i < 1000; ++i) {
    recorder.part(decoded(1 + i % 20, i < 3 ? "cpu-copy" : "exported",
                          i < 3 ? "export-failed" : "none", {}));
    recorder.part(uploaded(1 + i % 20, i < 3 ? "cpu-copy" : "egl", "none", {}));
    // About frames that are gone, whose memory may be another's now: ignored.
    recorder.fence(1 + (i + 1) % 20, at(0), at(1));
  }
  const Streams streams = recorder.streams();
  fail_unless_equals_int(streams.size(), 1);
  fail_unless_equals_int(streams[0].frames.size(), 8);
  fail_unless_equals_int(streams[0].frames.front().index, 992);
  fail_unless(streams[0].frames.back().spans.empty());
  const StreamLook look = look_at(streams[0]);
  fail_unless_equals_string(look.summary.c_str(),
                            "1000 frames: egl 997, cpu-copy 3 (export-failed 3)");
  fail_unless(draw(streams).find("Drawn are the last 8; the 992 before them") !=
              std::string::npos);
}
GST_END_TEST;

GST_START_TEST(a_stage_inside_another_is_counted_once) {
  Stream stream{.name = "dxvadec0"};
  stream.frames.push_back({.left_as = "exported",
                           .spans = {{Stage::Wait, at(2), at(5)},
                                     {Stage::Wait, at(4), at(6)},
                                     {Stage::Decode, at(0), at(10)},
                                     {Stage::Import, at(20), at(21)}}});
  const StreamLook look = look_at(stream);
  const auto ms = [&](Stage stage) { return look.frames[0].ms[static_cast<size_t>(stage)]; };
  fail_unless_equals_float(ms(Stage::Decode), 6);
  fail_unless_equals_float(ms(Stage::Wait), 5);
  fail_unless_equals_float(ms(Stage::Import), 1);
  fail_unless(look.frames[0].begin == at(0) && look.frames[0].end == at(21));
}
GST_END_TEST;

GST_START_TEST(what_is_worse_than_the_stream_can_stands_out) {
  Stream stream{.name = "dxvadec0"};
  for (int i = 0; i < 8; ++i)
    stream.frames.push_back({.index = static_cast<uint64_t>(i),
                             .surface = i % 4,
                             .left_as = i % 4 == 1 ? "cpu-copy" : "exported",
                             .left_for = i % 4 == 1 ? "export-failed" : "none",
                             .spans = {{Stage::Decode, at(i), at(i + 1)}}});
  const StreamLook look = look_at(stream);
  for (int i = 0; i < 8; ++i) fail_unless_equals_int(look.frames[i].bad, i % 4 == 1);
  const auto rows = rows_of(look);
  fail_unless_equals_int(rows.size(), 4);
  fail_unless_equals_string(rows[1].note.c_str(), "2 of 2: export-failed");
  fail_unless_equals_string(rows[0].note.c_str(), "");
  fail_unless_equals_int(count(draw({stream}), "data-bad=\"yes\""), 2);

  for (Frame& frame : stream.frames) frame.left_as = "cpu-copy";
  fail_unless_equals_int(count(draw({stream}), "data-bad=\"yes\""), 0);
  stream.frames[5].damaged = true;
  fail_unless_equals_int(count(draw({stream}), "data-bad=\"yes\""), 1);
}
GST_END_TEST;

GST_START_TEST(frames_without_a_surface_share_rows) {
  Stream stream{.name = "dxvadec0"};
  const auto add = [&](int from, int to) {
    stream.frames.push_back(
        {.left_as = "software", .spans = {{Stage::Copy, at(from), at(to)}}});
  };
  add(0, 10);
  add(5, 15);
  add(12, 20);
  fail_unless_equals_int(rows_of(look_at(stream)).size(), 2);
}
GST_END_TEST;

GST_START_TEST(a_slow_frame_does_not_flatten_the_others) {
  std::vector<FrameLook> frames(100);
  for (FrameLook& frame : frames) frame.total_ms = 2;
  fail_unless_equals_float(fair_top(frames), 2);
  frames[0].total_ms = 400;
  fail_unless(fair_top(frames) < 10);
  fail_unless_equals_float(line_distance(3.2, 4), 1);
  fail_unless_equals_float(line_distance(450, 4), 200);
}
GST_END_TEST;

GST_START_TEST(text_is_xml_whatever_is_in_it) {
  fail_unless(escaped("a<b>&\"c") == "a&lt;b&gt;&amp;&quot;c");
  fail_unless(escaped("\xc3\xa4 \xe2\x82\xac") == "\xc3\xa4 \xe2\x82\xac");
  for (const char* bad : {"\x01", "\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xef\xbf\xbf"})
    fail_unless(escaped(bad).find("\xef\xbf\xbd") == 0, "%s", bad);
  // A locale with commas is not SVG's.
  std::setlocale(LC_ALL, "de_DE.UTF-8");
  fail_unless(number(1.5) == "1.5");
  fail_unless(number(-0.0001) == "0");
  fail_unless(number(12) == "12");
}
GST_END_TEST;

GST_START_TEST(nothing_to_draw_is_said) {
  fail_unless(draw({}).find("No frame went through") != std::string::npos);
  fail_unless(draw({Stream{.name = "dxvadec0"}}).find("</svg>") != std::string::npos);
}
GST_END_TEST;

Suite* timeline_suite() {
  Suite* suite = suite_create("timeline");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, both_parts_of_a_frame_meet_by_its_memory);
  tcase_add_test(tcase, the_step_is_the_worse_of_both);
  tcase_add_test(tcase, a_foreign_producers_frames_are_the_uploaders);
  tcase_add_test(tcase, two_uploaders_of_one_frame_leave_the_worse_step);
  tcase_add_test(tcase, elements_of_one_name_are_two_streams);
  tcase_add_test(tcase, a_long_run_keeps_the_last_frames_and_counts_all);
  tcase_add_test(tcase, a_stage_inside_another_is_counted_once);
  tcase_add_test(tcase, what_is_worse_than_the_stream_can_stands_out);
  tcase_add_test(tcase, frames_without_a_surface_share_rows);
  tcase_add_test(tcase, a_slow_frame_does_not_flatten_the_others);
  tcase_add_test(tcase, text_is_xml_whatever_is_in_it);
  tcase_add_test(tcase, nothing_to_draw_is_said);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(timeline)
