// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The rows of the collection (DXVA_MEDIA) that say "robust": streams with damage, without
// parameter sets, or that are none. Nothing is promised of their pictures; they have to end.

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"

namespace dxva::test {

struct BrokenStream {
  std::string file;  // within the collection
  std::string from;  // "filesrc … ! parser"
};

inline std::string collection_folder() {
  const char* folder = g_getenv("DXVA_MEDIA");
  if (!folder) folder = g_getenv("DXVA_DEFAULT_MEDIA");
  return folder ? folder : "";
}

// Empty where the file is of no codec of ours.
inline std::string parsed_source(const std::string& folder, const std::string& file) {
  const std::string codec = file.substr(0, file.find('/'));
  const std::string ending = file.substr(file.rfind('.') + 1);
  std::string out = "filesrc location=\"" + folder + "/" + file + "\" ! ";
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

// None when there is no collection.
inline const std::vector<BrokenStream>& broken_streams() {
  static const std::vector<BrokenStream> streams = [] {
    std::vector<BrokenStream> out;
    const std::string folder = collection_folder();
    std::ifstream rows(folder + "/manifest.tsv");
    for (std::string row; std::getline(rows, row);) {
      if (row.find("\trobust") == std::string::npos) continue;
      const std::string file = row.substr(0, row.find('\t'));
      if (const std::string from = parsed_source(folder, file); !from.empty())
        out.push_back({file, from});
    }
    return out;
  }();
  return streams;
}

// A hang is the case's time limit, a crash its signal; an error is an answer.
inline void play_broken_stream(const BrokenStream& stream, const std::string& decoder) {
  std::printf("# %s\n", stream.file.c_str());
  std::fflush(stdout);  // a process that is killed would take it along
  const Decoded out = decode(stream.from, decoder);
  std::printf("#   %zu pictures; %s\n", out.pictures.size(), out.error.c_str());
}

}  // namespace dxva::test
