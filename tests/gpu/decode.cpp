// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Clips through dxvadec and dxvaglupload, as many at a time as asked for, with nobody who looks
// at the pictures: how fast, by which way, for how much CPU, and whether descriptors and device
// memory grow with the pictures. One line per run; exit 1 where a run failed, or where they do.
//
//   gpu_decode [--streams N] [--branches N] [--device D] [--zero-copy W] [--import I] [--flat]
//   [--raw FILE] CLIP
//
// --branches puts a tee behind each decoder, with so many uploaders behind it.
// --raw reads the textures back and writes every picture's visible rows, plane by plane; those
// of a tee's second branch into FILE.1, and so on.
// --flat samples descriptors and memory while it runs; the clip should be a long one.

#include <dirent.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "gst/common/gst_ptr.hpp"
#include "lib/cuda/device.hpp"
#include "tests/gpu/parsers.hpp"

namespace dxva::gpu {
namespace {

struct Options {
  unsigned streams = 1;
  unsigned branches = 1;
  std::string device = "cuda";
  std::string zero_copy = "auto";
  std::string import = "auto";
  bool flat = false;
  std::string raw;
  std::string clip;
};

struct Sample {
  unsigned descriptors = 0;
  uint64_t free_bytes = 0;
};

Sample sample(const cuda::Device* device) {
  Sample out;
  if (DIR* folder = opendir("/proc/self/fd")) {
    while (readdir(folder)) ++out.descriptors;
    closedir(folder);
  }
  if (device)
    if (const auto memory = device->memory()) out.free_bytes = memory->free_bytes;
  return out;
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

using gst::GstPtr;

// "exported 60, cpu-copy 2": the numbers of a structure in `stats` that are not zero.
void add_counts(GstElement* element, const char* field, std::vector<uint64_t>& counts,
                std::vector<std::string>& names) {
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  if (!stats) return;
  if (const GValue* value = gst_structure_get_value(stats, field);
      value && GST_VALUE_HOLDS_STRUCTURE(value)) {
    const GstStructure* inner = gst_value_get_structure(value);
    for (gint i = 0; i < gst_structure_n_fields(inner); ++i) {
      const char* name = gst_structure_nth_field_name(inner, static_cast<guint>(i));
      guint64 count = 0;
      if (!gst_structure_get_uint64(inner, name, &count) || count == 0) continue;
      auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) {
        names.emplace_back(name);
        counts.push_back(0);
        found = names.end() - 1;
      }
      counts[static_cast<size_t>(found - names.begin())] += count;
    }
  }
  gst_structure_free(stats);
}

// Counts what reaches the sinks, from the moment when each stream has had its first pictures
// until the first stream has no more. Streaming threads.
class Meter {
 public:
  explicit Meter(size_t streams) : seen_(streams, 0) {}

  void picture(size_t stream) {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    if (++seen_[stream] == kFirst && ++warm_ == seen_.size()) {
      begun_ = std::chrono::steady_clock::now();
      cpu_before_ = cpu_seconds();
    } else if (warm_ == seen_.size()) {
      ++pictures_;
      now_ = std::chrono::steady_clock::now();
      cpu_ = cpu_seconds();
    }
  }
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  [[nodiscard]] double per_second() const {
    const std::chrono::duration<double> taken = now_ - begun_;
    return pictures_ > 0 ? static_cast<double>(pictures_) / taken.count() : 0;
  }
  [[nodiscard]] double cpu_ms() const {
    return pictures_ > 0 ? (cpu_ - cpu_before_) * 1000 / static_cast<double>(pictures_) : 0;
  }

 private:
  static constexpr uint64_t kFirst = 8;
  mutable std::mutex mutex_;
  std::vector<uint64_t> seen_;
  size_t warm_ = 0;
  bool ended_ = false;
  uint64_t pictures_ = 0;
  std::chrono::steady_clock::time_point begun_, now_;
  double cpu_before_ = 0;
  double cpu_ = 0;
};

// Each with a bus of its own; they share the process's device and nothing else.
struct Stream {
  GstElement* pipeline = nullptr;
  bool ended = false;
  Meter* meter = nullptr;
  size_t number = 0;
};

// Every row of a picture that lies in textures; a failure to read one back is told at the end.
class RawWriter {
 public:
  explicit RawWriter(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {}
  RawWriter(const RawWriter&) = delete;
  RawWriter& operator=(const RawWriter&) = delete;
  ~RawWriter() {
    if (file_) std::fclose(file_);
  }
  [[nodiscard]] bool good() const { return file_ && good_; }

  void picture(GstPad* pad, GstBuffer* buffer) {
    auto caps = GstPtr<GstCaps>::adopt(gst_pad_get_current_caps(pad));
    GstVideoInfo info;
    GstVideoFrame frame;
    if (!file_ || !caps || !gst_video_info_from_caps(&info, caps.get()) ||
        !gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) {
      good_ = false;
      return;
    }
    for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); ++p) {
      const auto* rows = static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p));
      const auto pitch = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p);
      // NV12's and P010's second plane has two samples in a column.
      const auto bytes = static_cast<size_t>(GST_VIDEO_FRAME_COMP_WIDTH(&frame, p)) *
                         static_cast<size_t>(GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, p));
      for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, p); ++y)
        good_ &= std::fwrite(rows + std::ptrdiff_t{y} * pitch, 1, bytes, file_) == bytes;
    }
    gst_video_frame_unmap(&frame);
  }

 private:
  FILE* file_;
  bool good_ = true;
};

GstPadProbeReturn on_raw(GstPad* pad, GstPadProbeInfo* info, gpointer data) {
  static_cast<RawWriter*>(data)->picture(pad, GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn on_data(GstPad*, GstPadProbeInfo* info, gpointer data) {
  auto* stream = static_cast<Stream*>(data);
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    stream->meter->picture(stream->number);
  else if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_EOS)
    stream->meter->end();
  return GST_PAD_PROBE_OK;
}

std::string line_of(const Options& options) {
  std::string line = "filesrc location=\"" + options.clip +
                     "\" ! parsebin ! dxvadec name=d device=" + options.device +
                     " zero-copy=" + options.zero_copy;
  if (options.branches > 1) line += " ! tee name=t";
  for (unsigned i = 0; i < options.branches; ++i) {
    const std::string number = std::to_string(i);
    line += options.branches > 1 ? " t. ! queue max-size-buffers=2" : "";
    line += " ! dxvaglupload name=u" + number + " import=" + options.import +
            " ! fakesink sync=false name=s" + number;
  }
  return line;
}

GstPtr<GstElement> element(GstElement* pipeline, const std::string& name) {
  return GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(pipeline), name.c_str()));
}

int run(const Options& options) {
  use_all_parsers();
  const std::string line = line_of(options);
  const auto opened = cuda::Device::open({});
  const cuda::Device* device = opened ? opened->get() : nullptr;
  std::vector<Stream> streams(options.streams);
  Meter meter(streams.size());
  std::deque<RawWriter> raw;  // of each branch
  for (unsigned i = 0; i < options.branches && !options.raw.empty(); ++i)
    raw.emplace_back(options.raw + (i > 0 ? "." + std::to_string(i) : ""));
  for (Stream& stream : streams) {
    stream.meter = &meter;
    stream.number = static_cast<size_t>(&stream - streams.data());
    GError* error = nullptr;
    stream.pipeline = gst_parse_launch(line.c_str(), &error);
    if (!stream.pipeline || error) {
      std::fprintf(stderr, "gpu_decode: %s\n", error ? error->message : "no pipeline");
      return 1;
    }
    for (unsigned i = 0; i < options.branches; ++i) {
      const auto sink = element(stream.pipeline, "s" + std::to_string(i));
      auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(sink.get(), "sink"));
      if (i == 0)
        gst_pad_add_probe(pad.get(),
                          static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER |
                                                       GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
                          on_data, &stream, nullptr);
      if (!raw.empty())
        gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, on_raw, &raw[i], nullptr);
    }
  }
  bool failed = false;
  for (const Stream& stream : streams)
    failed |=
        gst_element_set_state(stream.pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE;
  std::vector<Sample> samples;
  size_t left = streams.size();
  while (left > 0 && !failed) {
    for (Stream& stream : streams) {
      if (stream.ended) continue;
      auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(stream.pipeline));
      GstMessage* message = gst_bus_timed_pop_filtered(
          bus.get(), 50 * GST_MSECOND / streams.size(),
          static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
      if (!message) continue;
      if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
        GError* error = nullptr;
        gchar* debug = nullptr;
        gst_message_parse_error(message, &error, &debug);
        std::fprintf(stderr, "gpu_decode: %s (%s)\n", error->message, debug ? debug : "");
        g_clear_error(&error);
        g_free(debug);
        failed = true;
      }
      gst_message_unref(message);
      stream.ended = true;
      --left;
    }
    if (options.flat) samples.push_back(sample(device));
  }

  std::vector<uint64_t> left_counts, step_counts, reason_counts;
  std::vector<std::string> left_names, step_names, reason_names;
  uint64_t frames = 0;
  for (const Stream& stream : streams) {
    const auto decoder = element(stream.pipeline, "d");
    add_counts(decoder.get(), "steps", left_counts, left_names);
    add_counts(decoder.get(), "reasons", reason_counts, reason_names);
    for (unsigned i = 0; i < options.branches; ++i) {
      const auto uploader = element(stream.pipeline, "u" + std::to_string(i));
      add_counts(uploader.get(), "steps", step_counts, step_names);
      add_counts(uploader.get(), "reasons", reason_counts, reason_names);
    }
  }
  for (const uint64_t count : step_counts) frames += count;
  const auto text = [](const std::vector<std::string>& names,
                       const std::vector<uint64_t>& counts) {
    std::string out;
    for (size_t i = 0; i < names.size(); ++i)
      out += (i > 0 ? ", " : "") + names[i] + " " + std::to_string(counts[i]);
    return out.empty() ? std::string("-") : out;
  };
  const size_t slash = options.clip.rfind('/');
  std::printf("%s | %u | %s %s %s | %" PRIu64 " | %.1f | %.2f | %s; %s; %s\n",
              options.clip.c_str() + (slash == std::string::npos ? 0 : slash + 1),
              options.streams, options.device.c_str(), options.zero_copy.c_str(),
              options.import.c_str(), frames, meter.per_second(), meter.cpu_ms(),
              text(left_names, left_counts).c_str(), text(step_names, step_counts).c_str(),
              text(reason_names, reason_counts).c_str());
  for (Stream& stream : streams) {
    gst_element_set_state(stream.pipeline, GST_STATE_NULL);
    gst_object_unref(stream.pipeline);
  }
  if (failed || frames == 0 || !std::ranges::all_of(raw, &RawWriter::good)) return 1;
  if (!options.flat) return 0;
  if (samples.size() < 8) {
    std::printf("# too short to say whether anything grows: %zu samples\n", samples.size());
    return 1;
  }
  // After a quarter everything that a stream needs has been made.
  const Sample& first = samples[samples.size() / 4];
  const Sample& last = samples[samples.size() - 2];
  const auto grown =
      static_cast<int64_t>(first.free_bytes) - static_cast<int64_t>(last.free_bytes);
  std::printf("descriptors %u, then %u; device memory grown by %" PRId64 " bytes\n",
              first.descriptors, last.descriptors, grown);
  // A place for a picture is made when the first picture needs it; what is lost with each
  // picture would be hundreds by now.
  constexpr unsigned kPlaces = 8;
  constexpr int64_t kPlaceBytes = 8 << 20;
  return last.descriptors > first.descriptors + kPlaces || grown > kPlaces * kPlaceBytes ? 1
                                                                                         : 0;
}

bool parse(int argc, char** argv, Options& out) {
  for (int i = 1; i < argc; ++i) {
    const auto value = [&](const char* name, std::string& to) {
      if (std::strcmp(argv[i], name) != 0 || i + 1 >= argc) return false;
      to = argv[++i];
      return true;
    };
    std::string number;
    if (value("--streams", number))
      out.streams = static_cast<unsigned>(std::max(1, std::atoi(number.c_str())));
    else if (value("--branches", number))
      out.branches = static_cast<unsigned>(std::max(1, std::atoi(number.c_str())));
    else if (std::strcmp(argv[i], "--flat") == 0)
      out.flat = true;
    else if (!value("--device", out.device) && !value("--zero-copy", out.zero_copy) &&
             !value("--import", out.import) && !value("--raw", out.raw))
      out.clip = argv[i];
  }
  return !out.clip.empty();
}

}  // namespace
}  // namespace dxva::gpu

int main(int argc, char** argv) {
  dxva::gpu::Options options;
  if (!dxva::gpu::parse(argc, argv, options)) {
    std::fprintf(stderr, "gpu_decode: no clip; see the first lines of decode.cpp\n");
    return 2;
  }
  gst_init(nullptr, nullptr);
  return dxva::gpu::run(options);
}
