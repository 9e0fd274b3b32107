// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures of two views: what dxvaglupload offers beside glviewconvert, which names every way
// to pack them, and what is in the textures then.

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "gst/common/gst_ptr.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_rig.hpp"

using dxva::gst::GstPtr;
using dxva::test::pattern;

namespace {

constexpr uint32_t kWidth = 64, kHeight = 32, kPixel = 4;
constexpr const char* kPicture = "video/x-raw,format=RGBA,width=64,height=32,framerate=25/1";

struct View {
  uint32_t x = 0, y = 0, width = 0, height = 0;  // in the picture
};
constexpr View kWhole = {0, 0, kWidth, kHeight};

uint8_t sent(uint32_t row, uint32_t byte) {
  return byte % kPixel == 3 ? 255 : pattern(1, 0, row, byte);
}

GstPtr<GstBuffer> picture() {
  GstBuffer* out = gst_buffer_new_allocate(nullptr, gsize{kWidth} * kHeight * kPixel, nullptr);
  std::vector<uint8_t> row(kWidth * kPixel);
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t i = 0; i < row.size(); ++i) row[i] = sent(y, i);
    gst_buffer_fill(out, gsize{y} * row.size(), row.data(), row.size());
  }
  GST_BUFFER_PTS(out) = 0;
  return GstPtr<GstBuffer>::adopt(out);
}

// What comes out at the end of `line` for one picture; null: nothing.
GstPtr<GstBuffer> through(const std::string& line, const std::string& caps) {
  GstHarness* harness = gst_harness_new_parse(line.c_str());
  gst_harness_set_src_caps_str(harness, caps.c_str());
  const GstFlowReturn flow = gst_harness_push(harness, picture().release());
  auto out = GstPtr<GstBuffer>::adopt(gst_harness_try_pull(harness));
  if (!out) g_printerr("# %s: %s\n", line.c_str(), gst_flow_get_name(flow));
  gst_harness_teardown(harness);
  return out;
}

uint32_t wrong_rows(GstBuffer* buffer, guint memory, const View& view) {
  GstMapInfo map;
  fail_unless(gst_memory_map(gst_buffer_peek_memory(buffer, memory), &map, GST_MAP_READ));
  const uint32_t row_bytes = view.width * kPixel;
  fail_unless_equals_uint64(map.size, uint64_t{row_bytes} * view.height);
  uint32_t wrong = 0;
  for (uint32_t y = 0; y < view.height; ++y)
    for (uint32_t i = 0; i < row_bytes; ++i)
      if (map.data[y * row_bytes + i] != sent(view.y + y, view.x * kPixel + i)) {
        ++wrong;
        break;
      }
  gst_memory_unmap(gst_buffer_peek_memory(buffer, memory), &map);
  return wrong;
}

void expect_views(const std::string& line, const std::string& caps, const View& left,
                  const View& right) {
  const auto out = through(line, caps);
  fail_unless(out, "%s", line.c_str());
  fail_unless_equals_int(gst_buffer_n_memory(out.get()), 2);
  fail_unless_equals_int(wrong_rows(out.get(), 0, left), 0);
  fail_unless_equals_int(wrong_rows(out.get(), 1, right), 0);
}

}  // namespace

// videoconvert takes what is asked for, and glviewconvert asks for views of their own first if
// those shall come out.
GST_START_TEST(a_converter_is_not_asked_for_views_that_are_refused) {
  for (const char* between : {"", "glcolorconvert ! "})
    expect_views(std::string("videoconvert ! dxvaglupload ! ") + between +
                     "glviewconvert output-mode-override=separated",
                 kPicture, kWhole, kWhole);
}
GST_END_TEST;

GST_START_TEST(packed_pictures_keep_their_mode) {
  constexpr struct {
    const char* mode;
    View left, right;
  } cases[] = {
      {"", kWhole, kWhole},
      {",multiview-mode=mono,views=1", kWhole, kWhole},
      {",multiview-mode=side-by-side",
       {0, 0, kWidth / 2, kHeight},
       {kWidth / 2, 0, kWidth / 2, kHeight}},
      {",multiview-mode=top-bottom",
       {0, 0, kWidth, kHeight / 2},
       {0, kHeight / 2, kWidth, kHeight / 2}},
  };
  for (const auto& one : cases)
    expect_views("dxvaglupload ! glviewconvert output-mode-override=separated",
                 std::string(kPicture) + one.mode, one.left, one.right);
}
GST_END_TEST;

GST_START_TEST(textures_of_two_views_pass_through) {
  const std::string separated =
      "dxvaglupload ! glviewconvert output-mode-override=separated ! ";
  expect_views(separated + "dxvaglupload", kPicture, kWhole, kWhole);
  const auto out =
      through(separated + "dxvaglupload ! glviewconvert output-mode-override=top-bottom",
              std::string(kPicture) + ",multiview-mode=top-bottom");
  fail_unless(out);
  fail_unless_equals_int(gst_buffer_n_memory(out.get()), 1);
  fail_unless_equals_int(wrong_rows(out.get(), 0, kWhole), 0);
}
GST_END_TEST;

GST_START_TEST(views_of_their_own_are_refused_with_the_caps) {
  GstHarness* harness = gst_harness_new("dxvaglupload");
  const auto accepts = [&](const char* more) {
    const auto caps =
        GstPtr<GstCaps>::adopt(gst_caps_from_string((std::string(kPicture) + more).c_str()));
    return gst_pad_query_accept_caps(GST_PAD_PEER(harness->srcpad), caps.get()) == TRUE;
  };
  fail_unless(accepts(""));
  fail_unless(accepts(",multiview-mode=frame-by-frame,views=2"));
  fail_unless(!accepts(",multiview-mode=separated,views=2"));
  gst_harness_teardown(harness);
}
GST_END_TEST;

int main(int argc, char** argv) {
  if (!dxva::test::set_up_gl_rig(&argc, &argv)) return 77;
  for (const char* name : {"glviewconvert", "glcolorconvert", "videoconvert"}) {
    GstElementFactory* factory = gst_element_factory_find(name);
    if (!factory) {
      std::printf("# SKIP %s is not installed\n", name);
      return 77;
    }
    gst_object_unref(factory);
  }
  Suite* suite = suite_create("dxvaglupload_views");
  TCase* tests = tcase_create("general");
  suite_add_tcase(suite, tests);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, a_converter_is_not_asked_for_views_that_are_refused);
  tcase_add_test(tests, packed_pictures_keep_their_mode);
  tcase_add_test(tests, textures_of_two_views_pass_through);
  tcase_add_test(tests, views_of_their_own_are_refused_with_the_caps);
  return gst_check_run_suite(suite, "dxvaglupload_views", __FILE__);
}
