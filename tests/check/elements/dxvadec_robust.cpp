// SPDX-License-Identifier: LGPL-2.1-or-later
// Broken streams end by themselves: the collection's, and damaged ones of every codec. The
// suite sanitize runs this too, and sees what reads beside its memory.
#include <cstring>
#include <random>

#include "tests/check/support/broken_streams.hpp"

using namespace dxva::test;

namespace {

struct Codec {
  const char* file;
  const char* encoder;
  const char* from;  // what comes behind the file's source
};

constexpr Codec kCodecs[] = {
    {"damaged.h264", "-c:v libx264 -g 10 -bf 2 -threads 1", "h264parse"},
    {"damaged.h265", "-c:v libx265 -g 10 -preset fast -x265-params log-level=none:pools=1",
     "h265parse"},
    {"damaged8.ivf", "-c:v libvpx -g 10 -deadline realtime -cpu-used 8", "ivfparse"},
    {"damaged9.ivf", "-c:v libvpx-vp9 -g 10 -deadline realtime -cpu-used 8",
     "ivfparse ! vp9parse"},
    {"damaged1.ivf", "-c:v libaom-av1 -g 10 -usage realtime -cpu-used 8",
     "ivfparse ! av1parse"},
    {"damaged.m2v", "-c:v mpeg2video -g 10 -bf 2 -qscale:v 4", "mpegvideoparse"},
    {"damaged.mjpeg", "-c:v mjpeg -qscale:v 4", "jpegparse"},
};

// IVF's own headers say how long each picture is: without them the rest of the file is nothing.
void keep_ivf_headers(const std::string& good, std::string& broken) {
  constexpr size_t kFile = 32, kPicture = 12;  // bytes
  if (good.compare(0, 4, "DKIF") != 0) return;
  broken.replace(0, kFile, good, 0, kFile);
  for (size_t at = kFile; at + kPicture <= good.size();) {
    broken.replace(at, kPicture, good, at, kPicture);
    uint32_t bytes = 0;
    std::memcpy(&bytes, good.data() + at, sizeof bytes);
    at += kPicture + GUINT32_FROM_LE(bytes);
  }
}

std::string damaged(const std::string& good, unsigned seed) {
  constexpr size_t kFirst = 200;  // stay, or no parser finds a stream
  std::mt19937 random(seed);
  std::string out = good;
  for (unsigned i = 0; i < 4U << (2 * seed); ++i)
    out[kFirst + random() % (out.size() - kFirst)] = static_cast<char>(random());
  keep_ivf_headers(good, out);
  return out;
}

}  // namespace

GST_START_TEST(no_collection) {
  DXVA_SKIP("DXVA_MEDIA names no collection of streams");
}
GST_END_TEST

GST_START_TEST(a_broken_stream_ends) {
  play_broken_stream(broken_streams()[static_cast<size_t>(__i__)], "dxvadec");
}
GST_END_TEST

GST_START_TEST(a_damaged_stream_ends) {
  const Codec& codec = kCodecs[__i__];
  std::string good;
  {
    char* data = nullptr;
    gsize size = 0;
    fail_unless(g_file_get_contents(clip(codec.file, codec.encoder, "176x144", 30).c_str(),
                                    &data, &size, nullptr));
    good.assign(data, size);
    g_free(data);
  }
  const std::string file = make_folder("broken") + "/" + codec.file;
  size_t pictures = 0;
  for (unsigned seed = 0; seed < 5; ++seed) {
    const std::string bad = damaged(good, seed);
    fail_unless(g_file_set_contents(file.c_str(), bad.data(), static_cast<gssize>(bad.size()),
                                    nullptr));
    for (const char* caps : {"", kDmabufNv12}) {
      const Decoded out = decode(source(file, codec.from), "dxvadec", {.sink_caps = caps});
      std::printf("# %s, damage %u: %zu pictures; %s\n", codec.file, seed, out.pictures.size(),
                  out.error.c_str());
      pictures += out.pictures.size();
    }
  }
  fail_unless(pictures > 0);  // the decoder saw some of it
}
GST_END_TEST

static Suite* dxvadec_robust_suite() {
  Suite* suite = suite_create("dxvadec_robust");
  TCase* collection = tcase_create("the collection's");
  tcase_set_timeout(collection, 30);  // of each
  if (broken_streams().empty()) tcase_add_test(collection, no_collection);
  tcase_add_loop_test(collection, a_broken_stream_ends, 0,
                      static_cast<int>(broken_streams().size()));
  suite_add_tcase(suite, collection);
  TCase* made = tcase_create("damaged ones");
  tcase_set_timeout(made, 60);
  tcase_add_loop_test(made, a_damaged_stream_ends, 0, static_cast<int>(std::size(kCodecs)));
  suite_add_tcase(suite, made);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_robust_suite(), "dxvadec_robust", __FILE__);
}
