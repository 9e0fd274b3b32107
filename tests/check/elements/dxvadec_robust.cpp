// SPDX-License-Identifier: LGPL-2.1-or-later
// The collection's broken streams: each ends by itself. The suite sanitize runs this too, and
// sees what reads beside its memory.
#include <cstdio>
#include <fstream>
#include <sstream>

#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"

using namespace dxva::test;

namespace {

std::string media_folder() {
  const char* folder = g_getenv("DXVA_MEDIA");
  if (!folder) folder = g_getenv("DXVA_DEFAULT_MEDIA");
  return folder ? folder : "";
}

// Files whose row says that they are broken.
std::vector<std::string> broken_files() {
  std::vector<std::string> out;
  std::ifstream rows(media_folder() + "/manifest.tsv");
  for (std::string row; std::getline(rows, row);)
    if (row.find("\trobust") != std::string::npos) out.push_back(row.substr(0, row.find('\t')));
  return out;
}

std::string pipeline_of(const std::string& file) {
  const std::string codec = file.substr(0, file.find('/'));
  const std::string ending = file.substr(file.rfind('.') + 1);
  std::string out = "filesrc location=\"" + media_folder() + "/" + file + "\" ! ";
  if (ending == "mp4") out += "qtdemux ! ";
  if (ending == "mts") out += "tsdemux ! ";
  if (ending == "webm") out += "matroskademux ! ";
  if (ending == "obu") out += "typefind force-caps=video/x-av1 ! ";
  if (codec == "h264") return out + "h264parse";
  if (codec == "hevc") return out + "h265parse";
  if (codec == "vp9") return out + "vp9parse";
  if (codec == "av1") return out + "av1parse";
  if (codec == "mpeg2") return out + "mpegvideoparse";
  if (codec == "jpeg") return out + "jpegparse";
  return "";
}

}  // namespace

// A hang is the case's time limit, a crash its signal; an error is an answer.
GST_START_TEST(broken_streams_end) {
  const auto files = broken_files();
  if (files.empty()) DXVA_SKIP("no collection of streams (DXVA_MEDIA names its folder)");
  uint64_t pictures = 0;
  for (const std::string& file : files) {
    const std::string from = pipeline_of(file);
    if (from.empty()) continue;
    const Decoded out = decode(from, "dxvadec");
    std::printf("# %s: %zu pictures; %s\n", file.c_str(), out.pictures.size(),
                out.error.c_str());
    pictures += out.pictures.size();
  }
  fail_unless(pictures > 0);  // some are only damaged
}
GST_END_TEST

static Suite* dxvadec_robust_suite() {
  Suite* suite = suite_create("dxvadec_robust");
  TCase* cases = tcase_create("broken streams");
  tcase_set_timeout(cases, 180);
  tcase_add_test(cases, broken_streams_end);
  suite_add_tcase(suite, cases);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_robust_suite(), "dxvadec_robust", __FILE__);
}
