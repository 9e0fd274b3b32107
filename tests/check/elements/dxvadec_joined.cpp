// SPDX-License-Identifier: LGPL-2.1-or-later
// Streams that are joined in their middle, as a broadcast or a recording that was cut is: what
// is shown begins with the first picture that decoding can start at, and is then what the whole
// stream shows. Where no such picture comes, everything is shown, and says that it is corrupt.
#include <algorithm>
#include <cstdio>
#include <iterator>

#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"

using namespace dxva::test;

namespace {

constexpr int kPictures = 60;

// Where pictures may come from.
struct Way {
  const char* decoder;
  const char* caps;
  bool on_device;
};
constexpr Way kWays[] = {{"dxvadec", "", true},
                         {"dxvadec", kDmabufNv12, true},
                         {"dxvadec device=/dev/dri/renderD999", "", false}};

// Groups of 12 pictures that each but the first begin with a recovery point, three leading
// pictures behind it. In the order of coding it is the 9th packet, the 21st and so on.
const std::string kOpenGroups =
    "-c:v libx264 -threads 1 -x264-params "
    "open-gop=1:keyint=12:min-keyint=6:scenecut=0:bframes=3:b-adapt=0";
// One group without an end, in which a column of blocks without prediction moves on with each
// picture; 15 pictures are a round, and say so at their first.
const std::string kRefresh =
    "-c:v libx264 -threads 1 -x264-params intra-refresh=1:keyint=15:bframes=0:scenecut=0";
// Every picture is predicted from the one before.
const std::string kEndless =
    "-c:v libx264 -threads 1 -x264-params keyint=infinite:bframes=0:scenecut=0";

// The stream from packet `first` on, in the order of coding; what the headers say is in the
// container.
std::string joined(const char* name, const std::string& encoder, int first,
                   int pictures = kPictures, const std::string& filters = "") {
  const std::string file = std::string(name) + "-" + std::to_string(first) + ".mkv";
  return clip(
      file,
      encoder + " -bsf:v \"" + filters + "noise=drop='lt(n," + std::to_string(first) + ")'\"",
      "352x286", pictures);
}

// GstVideoDecoder's own words for a stream of which nothing was shown.
bool shows_nothing(const Decoded& out) {
  return out.pictures.empty() && out.error.find("No valid frames") == 0;
}

// libavcodec's elements of GStreamer 1.26 leave out more of what comes before a key frame.
bool begins_later() {
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  return minor >= 24;
}

std::vector<Picture> avdec(const std::string& from, const char* decoder) {
  const Decoded out = decode(from, decoder);
  fail_unless(out.error.empty() || shows_nothing(out), "%s", out.error.c_str());
  return out.pictures;
}

bool is_corrupt(const Picture& picture) {
  return (picture.flags & GST_BUFFER_FLAG_CORRUPTED) != 0;
}

std::vector<Picture> last_of(const std::vector<Picture>& all, size_t count) {
  fail_unless(count <= all.size());
  return {all.end() - static_cast<ptrdiff_t>(count), all.end()};
}

std::vector<Picture> whole(const char* name, const std::string& encoder) {
  return avdec(source(joined(name, encoder, 0)), "avdec_h264");
}

Decoded play(const Way& way, const std::string& from) {
  Decoded out = decode(from, way.decoder, {.sink_caps = way.caps});
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  const uint64_t in_software = out.step("software");
  fail_unless_equals_uint64(in_software, way.on_device ? 0 : out.pictures.size());
  return out;
}

// The last `count` pictures of the whole stream and no others, as libavcodec's element has it
// where it is told not to show the rest. That of GStreamer 1.26 begins later with some streams.
void expect_end_of(const std::vector<Picture>& all, size_t count, const std::string& from) {
  const std::vector<Picture> wanted = last_of(all, count);
  const auto theirs = avdec(from, "avdec_h264 output-corrupt=false");
  fail_unless(theirs.size() == count || (begins_later() && theirs.size() < count));
  expect_same(theirs, last_of(wanted, theirs.size()));
  for (const Way& way : kWays) {
    std::printf("# %s %s, the last %zu\n", way.decoder, way.caps, count);
    const Decoded out = play(way, from);
    expect_same(out.pictures, wanted);
    for (const Picture& picture : out.pictures) fail_if(is_corrupt(picture));
  }
}

// All `count` that there are, as libavcodec's element shows them; the last ones are those of
// `right`, and all others are marked.
void expect_all_with_marks(const std::string& from, size_t count,
                           const std::vector<Picture>& right) {
  const std::vector<Picture> wanted = avdec(from, "avdec_h264");
  fail_unless(wanted.size() == count || (begins_later() && wanted.size() < count));
  fail_unless(begins_later() || avdec(from, "avdec_h264 output-corrupt=false").empty());
  for (const Way& way : kWays) {
    std::printf("# %s %s, all %zu\n", way.decoder, way.caps, count);
    const Decoded out = play(way, from);
    fail_unless_equals_int(out.pictures.size(), count);
    fail_unless(std::all_of(out.pictures.begin(),
                            out.pictures.end() - static_cast<ptrdiff_t>(right.size()),
                            is_corrupt));
    if (!right.empty()) expect_same(last_of(out.pictures, right.size()), right);
    // A device has something else in the place of what is missing.
    if (!way.on_device && wanted.size() == count) expect_same(out.pictures, wanted);
  }
}

}  // namespace

GST_START_TEST(at_an_open_group) {
  const auto all = whole("open", kOpenGroups);
  fail_unless_equals_int(all.size(), kPictures);
  expect_end_of(all, kPictures - 12, source(joined("open", kOpenGroups, 9)));
  expect_end_of(all, kPictures - 24, source(joined("open", kOpenGroups, 21)));
}
GST_END_TEST

GST_START_TEST(within_an_open_group) {
  const auto all = whole("open", kOpenGroups);
  // Among the leading pictures, and behind them.
  for (const int first : {10, 11, 13, 17})
    expect_end_of(all, kPictures - 24, source(joined("open", kOpenGroups, first)));
}
GST_END_TEST

GST_START_TEST(where_blocks_are_refreshed_one_by_one) {
  const auto all = whole("refresh", kRefresh);
  // At a recovery point, and anywhere: a whole round must have gone by.
  for (const int first : {15, 16, 23}) {
    const std::string from = source(joined("refresh", kRefresh, first));
    const size_t shown = avdec(from, "avdec_h264 output-corrupt=false").size();
    std::printf("# from picture %d on %zu are whole\n", first, shown);
    fail_unless(shown >= 15 && shown < static_cast<size_t>(kPictures - first));
    expect_end_of(all, shown, from);
  }
}
GST_END_TEST

GST_START_TEST(where_no_picture_is_a_start) {
  for (const int first : {1, 30})
    expect_all_with_marks(source(joined("endless", kEndless, first)), kPictures - first, {});
}
GST_END_TEST

// Longer than the decoder waits for one.
GST_START_TEST(where_no_picture_is_a_start_for_long) {
  expect_all_with_marks(source(joined("endless-long", kEndless, 1, 140)), 139, {});
}
GST_END_TEST

// Pictures of which nobody says that they refer to nothing, among more references than
// libavcodec's guess trusts.
GST_START_TEST(where_no_start_is_announced) {
  const std::string encoder = kOpenGroups + ":ref=6";
  const std::string from =
      source(joined("unannounced", encoder, 13, kPictures, "filter_units=remove_types=6,"));
  const auto all = avdec(source(joined("unannounced", encoder, 0)), "avdec_h264");
  expect_all_with_marks(from, kPictures - 13, last_of(all, kPictures - 24));
}
GST_END_TEST

GST_START_TEST(corrupt_pictures_go_where_they_are_not_wanted) {
  const std::string from = source(joined("endless", kEndless, 1));
  fail_unless(shows_nothing(decode(from, "dxvadec discard-corrupted-frames=true")));
}
GST_END_TEST

// It begins again where the stream begins, or where the picture is whole.
GST_START_TEST(a_device_that_fails_then_costs_no_picture) {
  const std::string refreshed = source(joined("refresh", kRefresh, 15));
  const auto wanted = avdec(refreshed, "avdec_h264 output-corrupt=false");
  const std::string endless = source(joined("endless", kEndless, 1));
  // Before the first picture comes out, and behind it; the second stream is decoded twice.
  for (const int at : {3, 20, 40, 70, 110}) {
    std::printf("# endpicture:at=%d\n", at);
    g_setenv("DXVASOFT_FAULT", ("endpicture:at=" + std::to_string(at)).c_str(), TRUE);
    if (at < kPictures - 15) {
      const Decoded out = decode(refreshed, "dxvadec");
      fail_unless(out.error.empty(), "%s", out.error.c_str());
      fail_unless(out.step("software") > 0);
      expect_same(out.pictures, wanted);
    }
    const Decoded out = decode(endless, "dxvadec");
    fail_unless(out.error.empty(), "%s", out.error.c_str());
    fail_unless(out.step("software") > 0);
    fail_unless_equals_int(out.pictures.size(), kPictures - 1);
  }
}
GST_END_TEST

// The others, from a packet in their middle on: libavcodec's element shows as many pictures,
// and those that it marks or not are the same ones.
GST_START_TEST(other_codecs) {
  for (const CodecClip& codec : codec_clips())
    for (const int dropped : {1, 7}) {
      // FFmpeg writes no such file of it, and av1parse waits for a key frame.
      if (std::string(codec.reference) == "av1dec") continue;
      const std::string name =
          std::string("joined-") + std::to_string(dropped) + "-" + codec.file;
      const std::string file =
          clip(name,
               std::string(codec.encoder) + " -g 12 -bsf:v \"noise=drop='lt(n," +
                   std::to_string(dropped) + ")'\"",
               "352x286", 40);
      const std::string from = source(file, codec.parser);
      const auto wanted = avdec(from, codec.reference);
      fail_unless(!wanted.empty());
      for (const Way& way : kWays) {
        std::printf("# %s: %zu, %s %s\n", name.c_str(), wanted.size(), way.decoder, way.caps);
        const Decoded out = decode(from, way.decoder, {.sink_caps = way.caps});
        fail_unless(out.error.empty(), "%s", out.error.c_str());
        // That of GStreamer 1.26 leaves out pictures of H.265 everywhere.
        const bool all = out.pictures.size() == wanted.size();
        fail_unless(all || (begins_later() && out.pictures.size() > wanted.size()),
                    "%zu pictures", out.pictures.size());
        // From the second key frame on all are right.
        expect_same(last_of(out.pictures, 12),
                    last_of(all ? wanted : hashes_of_ffmpeg(file, 352, 286), 12));
        if (!way.on_device && all) expect_same(out.pictures, wanted);
      }
    }
}
GST_END_TEST

static Suite* dxvadec_joined_suite() {
  Suite* suite = suite_create("dxvadec_joined");
  TCase* tcase = tcase_create("general");
  tcase_set_timeout(tcase, 240);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, at_an_open_group);
  tcase_add_test(tcase, within_an_open_group);
  tcase_add_test(tcase, where_blocks_are_refreshed_one_by_one);
  tcase_add_test(tcase, where_no_picture_is_a_start);
  tcase_add_test(tcase, where_no_picture_is_a_start_for_long);
  tcase_add_test(tcase, where_no_start_is_announced);
  tcase_add_test(tcase, corrupt_pictures_go_where_they_are_not_wanted);
  tcase_add_test(tcase, a_device_that_fails_then_costs_no_picture);
  tcase_add_test(tcase, other_codecs);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_joined_suite(), "dxvadec_joined", __FILE__);
}
