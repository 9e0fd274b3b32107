// SPDX-License-Identifier: LGPL-2.1-or-later
//
// dxva-play: the program behind ./dev play. Decodes a file through dxvadec and dxvaglupload,
// and says on which step of the ladder its frames came; on demand it proves that they are
// right.
#include <gst/gst.h>

#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "lib/base/output_file.hpp"
#include "lib/base/translation.hpp"
#include "lib/drm/device_advice.hpp"
#include "tools/play/options.hpp"
#include "tools/play/pipeline.hpp"
#include "tools/play/readback.hpp"
#include "tools/play/reference.hpp"
#include "tools/play/sheet.hpp"
#include "tools/play/summary.hpp"
#include "tools/play/timeline.hpp"

namespace dxva::play {
namespace {

struct Close {
  void operator()(FILE* file) const {
    if (file != stdout) std::fclose(file);
  }
};
using File = std::unique_ptr<FILE, Close>;

// What is done with each frame; asks for a read-back only where one is needed.
class FrameWork {
 public:
  FrameWork(const Options& options, File md5_list, std::optional<OutputFile> sheet_file)
      : md5_list_(std::move(md5_list)),
        with_sheet_(sheet_file.has_value()),
        sheet_file_(std::move(sheet_file)),
        hold_(options.hold) {
    if (options.check) reference_.emplace(options.media);
  }

  Status take(GstSample* sample, const Pipeline& pipeline) {
    const uint64_t index = frames_++;
    if (hold_) held_.emplace_back(gst_sample_ref(sample));
    const bool whole = reference_ || md5_list_;
    const bool small = with_sheet_ && sheet_.wants(index);
    if (!whole && !small) return Done{};
    const auto mapped = MappedFrame::map(sample);
    if (!mapped) return mapped.error();
    if (small)
      if (auto added = sheet_.add(*mapped); !added) return added.error();
    if (!whole) return Done{};
    const TightFrame tight = tighten(*mapped);
    if (md5_list_) {
      const Owned<char> md5(
          g_compute_checksum_for_data(G_CHECKSUM_MD5, tight.bytes.data(), tight.bytes.size()));
      std::fprintf(md5_list_.get(), "%s\n", md5.get());
    }
    if (!reference_) return Done{};
    const bool damaged =
        GST_BUFFER_FLAG_IS_SET(gst_sample_get_buffer(sample), GST_BUFFER_FLAG_CORRUPTED);
    return reference_->compare(
        tight, {.one_thread = !pipeline.decodes_in_software(), .damaged = damaged});
  }

  void finish(const Options& options, Summary& summary) {
    summary.frames = frames_;
    if (md5_list_)
      if (auto flushed =
              flush(md5_list_.get(), options.framemd5 == "-" ? "stdout" : options.framemd5);
          !flushed)
        summary.lost_output = flushed.error();
    if (reference_) {
      reference_->finish();
      summary.mismatches = reference_->mismatches();
      summary.first_mismatch = reference_->first_mismatch();
      summary.damaged = reference_->damaged();
      summary.first_damaged = reference_->first_damaged();
    }
    if (with_sheet_ && frames_ > 0) {
      if (auto written = sheet_.write(*sheet_file_); written)
        summary.sheet = options.sheet;
      else
        summary.lost_output = written.error();
    }
  }

 private:
  File md5_list_;
  bool with_sheet_;
  std::optional<OutputFile> sheet_file_;
  bool hold_;
  std::vector<Owned<GstSample>> held_;
  std::optional<Reference> reference_;
  ContactSheet sheet_;
  uint64_t frames_ = 0;
};

volatile std::sig_atomic_t interrupted = 0;

// So that Ctrl-C ends the run and not its timeline; the second one ends the program.
void write_when_interrupted() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
}

uint64_t open_descriptors() {
  std::error_code ignored;
  const std::filesystem::directory_iterator folder("/proc/self/fd", ignored);
  return static_cast<uint64_t>(std::distance(begin(folder), end(folder)));
}

// What can be done about a device that does not start.
std::string advice_about(const Options& options, const std::string& error) {
  const char* variable = g_getenv("GST_DXVA_DEVICE");
  const std::string asked = !options.device.empty() ? options.device : variable ? variable : "";
  if (std::string advice = drm::device_advice(asked, error); !advice.empty()) return advice;
  const std::string command = asked.empty() ? "dxva-doctor" : "dxva-doctor --device " + asked;
  return fill(_("%s says more."), command);
}

Result<Summary> play(const Options& options) {
  // GstGL would say that EGL is not initialized, or draw into a window that nobody sees.
  const char* gl_window = g_getenv("GST_GL_WINDOW");
  if (options.window && !g_getenv("DISPLAY") && !g_getenv("WAYLAND_DISPLAY") &&
      (!gl_window || std::strcmp(gl_window, "egl-device") == 0))
    return Error{.code = ErrorCode::Failed,
                 .call = "",
                 .text = "no display: --window needs DISPLAY or WAYLAND_DISPLAY"};
  std::optional<OutputFile> sheet_file;
  if (options.sheet != "none") {
    auto opened = OutputFile::open(options.sheet, OutputFile::Kind::Png, options.media);
    if (!opened) return opened.error();
    sheet_file.emplace(std::move(*opened));
  }
  std::optional<Timeline> timeline;
  if (!options.timeline.empty()) {
    if (auto may = OutputFile::check(options.timeline, OutputFile::Kind::Svg, options.media);
        !may)
      return may.error();
    auto started = Timeline::start(options.timeline);
    if (!started) return started.error();
    timeline.emplace(std::move(*started));
    write_when_interrupted();
  }
  File md5_list;
  if (!options.framemd5.empty()) {
    if (options.framemd5 != "-")
      if (auto may =
              OutputFile::check(options.framemd5, OutputFile::Kind::Md5Lines, options.media);
          !may)
        return may.error();
    md5_list.reset(options.framemd5 == "-" ? stdout
                                           : std::fopen(options.framemd5.c_str(), "w"));
    if (!md5_list) return errno_error(options.framemd5.c_str());
  }
  FrameWork work(options, std::move(md5_list), std::move(sheet_file));
  auto pipeline =
      Pipeline::create(options, [&work](GstSample* sample, const Pipeline& playing) {
        return work.take(sample, playing);
      });
  if (!pipeline) return pipeline.error();
  // The timeline, which ends after the pipeline, writes what there is.
  if (auto ran = (*pipeline)->run(interrupted); !ran) return ran.error();

  Summary summary{.media = options.media,
                  .path_changes = (*pipeline)->path_changes(),
                  .descriptors = open_descriptors()};
  const auto decoder = (*pipeline)->decoder_stats();
  const auto uploader = (*pipeline)->uploader_stats();
  if (decoder && uploader) summary.take_stats(decoder.get(), uploader.get());
  if (!summary.device_error.empty())
    summary.device_advice = advice_about(options, summary.device_error);
  work.finish(options, summary);
  if (timeline) {
    pipeline->reset();  // now every frame's fences have signalled and every surface is back
    if (auto written = timeline->write(); written)
      summary.timeline = options.timeline;
    else
      summary.lost_output = written.error();
  }
  if (summary.frames == 0)
    return Error{.code = ErrorCode::Failed,
                 .call = "",
                 .text = options.media + ": no frame was decoded"};
  return summary;
}

// GStreamer itself warns about things that are as they should be: a file source before its pad
// is active, an MP4 file without fragments, an EGL device without a window. With GST_DEBUG=2
// what is left is about this run. Whoever names a category in GST_DEBUG gets all of it.
void silence_harmless_warnings() {
  const char* asked = g_getenv("GST_DEBUG");
  for (const char* category : {"basesrc", "qtdemux", "glwindow"})
    if (!asked || !std::strstr(asked, category))
      gst_debug_set_threshold_for_name(category, GST_LEVEL_ERROR);
}

// Prints it and gives the exit status: 2 when the command line is wrong.
int complain(const Error& error) {
  const std::string call = error.call;
  std::fprintf(stderr, "dxva-play: %s%s%s\n", call.c_str(), call.empty() ? "" : ": ",
               error.text.c_str());
  return error.code == ErrorCode::BadInput ? 2 : 1;
}

int run(int argc, char** argv) {
  std::setlocale(LC_ALL, "");
  bind_translations();
  textdomain(GETTEXT_PACKAGE);
  const auto options = parse_options(argc, argv);
  if (!options) return complain(options.error());
  if (options->version) {
    const Owned<char> gstreamer(gst_version_string());
    std::printf("dxva-play %s\n%s\n", VERSION, gstreamer.get());
    const Status written = flush(stdout, "stdout");
    return written ? 0 : complain(written.error());
  }
  gst_init(nullptr, nullptr);
  silence_harmless_warnings();
  const auto summary = play(*options);
  gst_deinit();       // what GStreamer's leak tracer waits for
  if (interrupted) {  // and a shell wants to know
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  if (!summary) return complain(summary.error());
  FILE* out = options->framemd5 == "-" ? stderr : stdout;
  std::fputs((options->json ? summary->json() : summary->text()).c_str(), out);
  if (summary->lost_output) return complain(*summary->lost_output);
  if (auto flushed = flush(out, out == stdout ? "stdout" : "stderr"); !flushed)
    return complain(flushed.error());
  return summary->mismatches.value_or(0) > 0 ? 1 : 0;
}

}  // namespace
}  // namespace dxva::play

int main(int argc, char** argv) {
  return dxva::play::run(argc, argv);
}
