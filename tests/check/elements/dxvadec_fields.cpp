// SPDX-License-Identifier: LGPL-2.1-or-later
// What the pictures of interlaced streams say of their fields: libavcodec's own element is the
// witness, picture by picture, for frames coded as two fields, fields coded apart, frames that
// mix both, and film with repeated fields.
#include <cstdio>
#include <cstring>

#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"

using namespace dxva::test;

namespace {

// A frame that is not interlaced has an order of fields too, because film is shown as two and
// three of them in turn. The witness is silent about that, and about the repetition.
guint field_flags(const Picture& picture) {
  guint mask = GST_VIDEO_BUFFER_FLAG_INTERLACED | GST_VIDEO_BUFFER_FLAG_ONEFIELD;
  if (picture.flags & GST_VIDEO_BUFFER_FLAG_INTERLACED)
    mask |= GST_VIDEO_BUFFER_FLAG_TFF | GST_VIDEO_BUFFER_FLAG_RFF;
  return picture.flags & mask;
}

struct Kinds {
  int interlaced = 0;
  int top_first = 0;
};

std::string mode_of(const std::string& caps) {
  const size_t at = caps.find("interlace-mode=(string)");
  if (at == std::string::npos) return "progressive";
  const size_t begin = at + std::strlen("interlace-mode=(string)");
  return caps.substr(begin, caps.find_first_of(",;", begin) - begin);
}

// The pictures and their flags equal those of `reference`; how many have which.
Kinds check(const std::string& from, const char* reference) {
  const Decoded wanted = decode(from, reference);
  fail_unless(wanted.error.empty(), "%s", wanted.error.c_str());
  Kinds kinds;
  for (const char* caps : {"", kDmabufNv12}) {
    const Decoded got = decode(from, "dxvadec", {.sink_caps = caps});
    fail_unless(got.error.empty(), "%s", got.error.c_str());
    fail_unless_equals_uint64(got.step("software"), 0);
    fail_unless_equals_uint64(got.stat("errors"), 0);
    expect_same(got.pictures, wanted.pictures);
    kinds = {};
    for (size_t i = 0; i < got.pictures.size(); ++i) {
      const guint flags = field_flags(got.pictures[i]);
      const guint witness = field_flags(wanted.pictures[i]);
      fail_unless(flags == witness, "picture %zu: flags 0x%x, wanted 0x%x", i, flags, witness);
      kinds.interlaced += (flags & GST_VIDEO_BUFFER_FLAG_INTERLACED) != 0;
      kinds.top_first += (flags & GST_VIDEO_BUFFER_FLAG_TFF) != 0;
    }
    const std::string mode = mode_of(got.caps.back());
    const std::string wanted_mode = mode_of(wanted.caps.back());
    // Ours says of every stream with fields that its pictures tell; avdec guesses one of the others
    // for some of H.264's.
    fail_unless(mode == "mixed" || mode == wanted_mode, "%s, avdec says %s", mode.c_str(),
                wanted_mode.c_str());
  }
  return kinds;
}

std::string collected(const char* name) {
  const char* folder = g_getenv("DXVA_MEDIA");
  if (!folder) folder = g_getenv("DXVA_DEFAULT_MEDIA");
  const std::string path = std::string(folder ? folder : ".") + "/h264/" + name;
  return g_file_test(path.c_str(), G_FILE_TEST_EXISTS) ? path : "";
}

// Bits of the film's picture i: 3:2 pulldown, in its four combinations.
bool film_top_first(size_t i) {
  return (i & 2) != 0;
}
bool film_repeats(size_t i) {
  return (i & 1) != 0;
}

// Progressive frames in a sequence that may be interlaced, every second one with a field that
// is shown twice: how film comes at 60 fields a second (ISO/IEC 13818-2 6.3.10).
std::string film() {
  const std::string plain = clip("film-frames.m2v", "-c:v mpeg2video -bf 0 -g 12", "352x288");
  char* data = nullptr;
  gsize size = 0;
  fail_unless(g_file_get_contents(plain.c_str(), &data, &size, nullptr));
  size_t picture = 0;
  for (gsize i = 0; i + 9 < size; ++i) {
    auto* code = reinterpret_cast<guint8*>(data) + i;
    if (code[0] != 0 || code[1] != 0 || code[2] != 1 || code[3] != 0xb5) continue;
    if (code[4] >> 4 == 1) code[5] &= static_cast<guint8>(~0x08);  // progressive_sequence
    if (code[4] >> 4 != 8) continue;
    code[7] = static_cast<guint8>((code[7] & ~0x82) | (film_top_first(picture) ? 0x80 : 0) |
                                  (film_repeats(picture) ? 0x02 : 0));
    ++picture;
  }
  const std::string path = make_folder("film") + "/film.m2v";
  fail_unless(g_file_set_contents(path.c_str(), data, static_cast<gssize>(size), nullptr));
  g_free(data);
  return path;
}

}  // namespace

GST_START_TEST(mpeg2_frames_of_two_fields) {
  for (const char* top : {"1", "0"}) {
    const std::string file =
        clip(std::string("fields-") + top + ".m2v",
             std::string("-c:v mpeg2video -bf 2 -g 12 -flags +ildct+ilme -top ") + top,
             "352x288", 20);
    const Kinds kinds = check(source(file, "mpegvideoparse"), "avdec_mpeg2video");
    fail_unless_equals_int(kinds.interlaced, 20);
    fail_unless_equals_int(kinds.top_first, *top == '1' ? 20 : 0);
  }
}
GST_END_TEST

GST_START_TEST(mpeg2_fields_coded_apart) {
  const std::string file = make_folder("fields") + "/apart.m2v";
  const std::string command =
      std::string("python3 ") + g_getenv("DXVA_FIELD_WRITER") + " \"" + file + "\"";
  gint status = 0;
  fail_unless(g_spawn_command_line_sync(command.c_str(), nullptr, nullptr, &status, nullptr) &&
              status == 0);
  const Kinds kinds = check(source(file, "mpegvideoparse"), "avdec_mpeg2video");
  fail_unless(kinds.interlaced > 0);
  fail_unless(kinds.top_first > 0);
}
GST_END_TEST

GST_START_TEST(mpeg2_film_repeats_fields) {
  const std::string from = source(film(), "mpegvideoparse");
  fail_unless_equals_int(check(from, "avdec_mpeg2video").interlaced, 0);
  const Decoded got = decode(from, "dxvadec");
  fail_unless_equals_int(got.pictures.size(), 60);
  for (size_t i = 0; i < got.pictures.size(); ++i) {
    const guint flags = got.pictures[i].flags;
    fail_unless(((flags & GST_VIDEO_BUFFER_FLAG_TFF) != 0) == film_top_first(i),
                "picture %zu: 0x%x", i, flags);
    fail_unless(((flags & GST_VIDEO_BUFFER_FLAG_RFF) != 0) == film_repeats(i),
                "picture %zu: 0x%x", i, flags);
  }
}
GST_END_TEST

GST_START_TEST(h264_frames_that_mix_macroblocks_of_fields) {
  for (const char* order : {"tff", "bff"}) {
    const std::string file = clip(
        std::string("mbaff-") + order + ".h264",
        std::string("-vf setfield=") + order + " -c:v libx264 -threads 1 -flags +ildct+ilme",
        "352x288", 20);
    const Kinds kinds = check(source(file), "avdec_h264");
    fail_unless_equals_int(kinds.interlaced, 20);
    fail_unless_equals_int(kinds.top_first, *order == 't' ? 20 : 0);
  }
}
GST_END_TEST

// No encoder here makes them.
GST_START_TEST(h264_fields_coded_apart) {
  int played = 0;
  for (const char* name : {"jvt-frext-HCAFF1_HHI.264", "jvt-frext-HPCAMAPALQ_BRCM_B.264",
                           "jvt-frext-freh11.264", "jvt-frext-freh4.264"}) {
    const std::string file = collected(name);
    if (file.empty()) continue;
    std::printf("# %s\n", name);
    fail_unless(check(source(file), "avdec_h264").interlaced > 0);
    ++played;
  }
  if (played == 0) DXVA_SKIP("no collection of streams (DXVA_MEDIA names its folder)");
}
GST_END_TEST

static Suite* dxvadec_fields_suite() {
  Suite* suite = suite_create("dxvadec_fields");
  TCase* cases = tcase_create("fields");
  tcase_set_timeout(cases, 180);
  tcase_add_test(cases, mpeg2_frames_of_two_fields);
  tcase_add_test(cases, mpeg2_fields_coded_apart);
  tcase_add_test(cases, mpeg2_film_repeats_fields);
  tcase_add_test(cases, h264_frames_that_mix_macroblocks_of_fields);
  tcase_add_test(cases, h264_fields_coded_apart);
  suite_add_tcase(suite, cases);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_fields_suite(), "dxvadec_fields", __FILE__);
}
