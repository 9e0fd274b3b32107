// SPDX-License-Identifier: LGPL-2.1-or-later

// What the benchmarks run pipelines with: it counts frames, measures a window of them from
// inside the process, and prints one JSON object. Python starts it, several times and in turns.

#include <dirent.h>
#include <getopt.h>
#include <gst/gst.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/benchmarks/stream.hpp"

using namespace dxva::bench;

namespace {

constexpr unsigned kSecondsWithoutEnd = 300;  // a guard against hangs, no measure of speed

struct Options {
  StreamOptions stream;
  unsigned streams = 1;
  uint64_t started_ns = 0;  // CLOCK_MONOTONIC when whoever starts us did so
};

bool parse(int argc, char** argv, Options& options) {
  static const option kLong[] = {{"started", required_argument, nullptr, 's'},
                                 {"streams", required_argument, nullptr, 'n'},
                                 {"warm-up", required_argument, nullptr, 'w'},
                                 {"frames", required_argument, nullptr, 'f'},
                                 {"watch", required_argument, nullptr, 'e'},
                                 {"feed", required_argument, nullptr, 'p'},
                                 {"map-in-gl", no_argument, nullptr, 'g'},
                                 {"map-stand-in", no_argument, nullptr, 'i'},
                                 {}};
  for (int found; (found = ::getopt_long(argc, argv, "", kLong, nullptr)) != -1;) {
    switch (found) {
      case 's':
        options.started_ns = std::strtoull(optarg, nullptr, 10);
        break;
      case 'n':
        options.streams = static_cast<unsigned>(std::atoi(optarg));
        break;
      case 'w':
        options.stream.warm_up = std::strtoull(optarg, nullptr, 10);
        break;
      case 'f':
        options.stream.frames = std::strtoull(optarg, nullptr, 10);
        break;
      case 'e':
        options.stream.watch = optarg;
        break;
      case 'p':
        options.stream.feed.caps = optarg;
        break;
      case 'g':
        options.stream.map_in_gl = true;
        break;
      case 'i':
        options.stream.map_stand_in = true;
        break;
      default:
        return false;
    }
  }
  if (optind + 1 != argc) return false;
  options.stream.pipeline = argv[optind];
  return options.streams > 0 && options.stream.frames > options.stream.warm_up;
}

size_t count_descriptors() {
  size_t count = 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/fd"), ::closedir);
  while (folder && ::readdir(folder.get())) ++count;
  return count - 3;  // ".", ".." and the folder itself
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

void print(const char* name, uint64_t number) {
  std::printf(", \"%s\": %" PRIu64, name, number);
}

void print_counts(const Window& window) {
  if (!window.end().counts || !window.begin().counts) return;
  std::vector<uint64_t> before;
  for_each_count(*window.begin().counts,
                 [&](const char*, uint64_t count) { before.push_back(count); });
  std::printf(", \"counts\": {");
  size_t i = 0;
  for_each_count(*window.end().counts, [&](const char* name, uint64_t count) {
    std::printf("%s\"%s\": %" PRIu64, i ? ", " : "", name, count - before[i]);
    ++i;
  });
  // From the start: these are made before there are frames.
  std::printf("}, \"driver_starts\": %" PRIu64, window.end().counts->driver_starts);
}

void print_threads(const Window& window) {
  std::printf(", \"threads\": {");
  const char* separator = "";
  for (const auto& [name, end] : window.end().threads) {
    const auto before = window.begin().threads.find(name);
    const uint64_t begin = before == window.begin().threads.end() ? 0 : before->second;
    std::printf("%s%s: %" PRIu64, separator, quoted(name).c_str(),
                end > begin ? end - begin : 0);
    separator = ", ";
  }
  std::printf("}");
}

void report(const Options& options, const Window& window,
            const std::vector<std::unique_ptr<Stream>>& streams, size_t descriptors) {
  uint64_t watched = 0;
  uint64_t streaming = 0;
  for (const auto& stream : streams) {
    watched += stream->watched_ns();
    streaming += stream->streaming_ns();
  }
  std::printf("{\"frames\": %" PRIu64,
              (options.stream.frames - options.stream.warm_up) * options.streams);
  print("cpu_ns", window.end().cpu - window.begin().cpu);
  print("wall_ns", window.end().wall - window.begin().wall);
  print("watched_ns", watched);
  print("streaming_ns", streaming);
  print("first_frame_cpu_ns", window.first().cpu);
  if (options.started_ns) print("first_frame_ns", window.first().wall - options.started_ns);
  print("descriptors", descriptors);
  std::printf(", \"caps\": %s, \"caps_before\": %s, \"stats\": %s",
              quoted(streams.front()->caps()).c_str(),
              quoted(streams.front()->caps_before_watched()).c_str(),
              quoted(streams.front()->stats()).c_str());
  print_threads(window);
  print_counts(window);
  std::printf("}\n");
}

bool play(Window& window, const std::vector<std::unique_ptr<Stream>>& streams) {
  for (const auto& stream : streams)
    if (!stream->start()) std::fprintf(stderr, "a pipeline does not start\n");
  for (unsigned tenths = 0; !window.wait_until_over(100); ++tenths) {
    for (const auto& stream : streams)
      if (const std::string trouble = stream->trouble(); !trouble.empty()) {
        std::fprintf(stderr, "%s\n", trouble.c_str());
        return false;
      }
    if (tenths > kSecondsWithoutEnd * 10) {
      std::fprintf(stderr, "no end after %u seconds\n", kSecondsWithoutEnd);
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(nullptr, nullptr);
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "bench-player [--started NS] [--streams N] [--warm-up N] --frames N "
                 "[--watch ELEMENT] [--feed CAPS] [--map-in-gl|--map-stand-in] PIPELINE\n");
    return 2;
  }
  Window window(options.streams);
  std::vector<std::unique_ptr<Stream>> streams;
  for (unsigned i = 0; i < options.streams; ++i) {
    streams.push_back(Stream::create(options.stream, window));
    if (!streams.back()) return 1;
  }
  const bool played = play(window, streams);
  const size_t descriptors = count_descriptors();
  if (played) report(options, window, streams, descriptors);
  std::fflush(stdout);
  window.leave();
  streams.clear();
  return played ? 0 : 1;
}
