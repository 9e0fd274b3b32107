// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What tests of dxvadec stand on: clips made by ffmpeg when the tests first run, a pipeline
// that hands every picture over, and the pictures as hashes that any decoder must agree on.

#include <gst/gst.h>
#include <gst/video/video.h>

#include <functional>
#include <string>
#include <vector>

#include "gst/common/gst_ptr.hpp"

namespace dxva::test {

// False, with the reason printed, when this machine cannot make clips or has no libavcodec
// elements to compare with: exit 77.
[[nodiscard]] bool set_up_decode_rig(int* argc, char*** argv);

// A file that ffmpeg made with `arguments` (an input is put before them), kept in the build
// folder. `name` has the extension that says which container.
[[nodiscard]] std::string clip(const std::string& name, const std::string& arguments,
                               const std::string& size = "352x286", int pictures = 60);
// Usual ones.
[[nodiscard]] std::string h264_mp4();  // B-frames, closed groups of 20
[[nodiscard]] std::string h264_byte_stream();
// The files' bytes one after the other, in the clips' folder.
[[nodiscard]] std::string joined(const std::string& name,
                                 const std::vector<std::string>& files);
// Ten pictures of 64x64, then ten of 128x96 in the same byte stream.
[[nodiscard]] std::string h264_two_sizes();
// "filesrc … ! demuxer ! parser" for a clip; the parser goes by the extension.
[[nodiscard]] std::string source(const std::string& file, const std::string& parser = "");
[[nodiscard]] std::string make_folder(const std::string& name);
[[nodiscard]] std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& bytes);

// A clip of each codec but H.264: how it is made, and who else parses and decodes it.
struct CodecClip {
  const char* file;
  const char* encoder;
  const char* parser;
  const char* reference;

  [[nodiscard]] std::string source() const;  // 30 pictures of 352x286
};
[[nodiscard]] bool has_element(const char* name);
// Those whose reference decoder is installed.
[[nodiscard]] std::vector<CodecClip> codec_clips();

struct Picture {
  GstClockTime pts = GST_CLOCK_TIME_NONE;
  std::string hash;  // of the visible pixels; 4:2:0 as NV12 or P010, else as they came
  bool dmabuf = false;
  guint flags = 0;  // of the buffer
  int width = 0;
  int height = 0;
  friend bool operator==(const Picture& a, const Picture& b) { return a.hash == b.hash; }
};
// The same from ffmpeg, for 4:2:0 with 8 bits.
[[nodiscard]] std::vector<Picture> hashes_of_ffmpeg(const std::string& file, int width,
                                                    int height);
[[nodiscard]] std::string hash_of(GstBuffer* buffer, const GstCaps* caps);

struct Options {
  std::string sink_caps;        // empty: anything
  bool video_meta = false;      // the sink answers allocation queries
  bool mixed_memory = false;    // … as dxvaglupload does
  bool reads_in_place = false;  // … and reads mapped surfaces
  bool behind_a_tee = false;    // … and somebody else has them as well
  size_t keep = 0;              // buffers that the application does not give back
  std::function<void(GstElement* pipeline)> before_start;
  std::function<void(GstElement* pipeline, size_t pictures)> at_picture;
  std::function<void(GstSample* sample)> at_sample;  // before at_picture
};

struct Decoded {
  std::vector<Picture> pictures;
  std::vector<std::string> caps;             // each change of them
  std::vector<std::string> path_changes;     // "exported>software: decode-errors"
  std::string error;                         // on the bus
  gst::StructurePtr stats;                   // of the element named "dec", if it has any
  std::vector<gst::GstPtr<GstSample>> kept;  // outlive the pipeline

  [[nodiscard]] uint64_t stat(const char* name) const;
  [[nodiscard]] uint64_t step(const char* name) const;
  [[nodiscard]] uint64_t reason(const char* name) const;
  // A text of the stats, or of a structure within them; empty: it is not there.
  [[nodiscard]] std::string text(const char* name) const;
  [[nodiscard]] std::string text(const char* part, const char* name) const;
  [[nodiscard]] uint64_t number(const char* part, const char* name) const;
};
// Plays `source ! decoder name=dec ! appsink` to the end, or to the first error.
[[nodiscard]] Decoded decode(const std::string& source, const std::string& decoder,
                             const Options& options = {});

// The pipeline of a gst-launch line, and an element of it.
[[nodiscard]] gst::GstPtr<GstElement> launch(const std::string& text);
[[nodiscard]] gst::GstPtr<GstElement> child(const gst::GstPtr<GstElement>& pipeline,
                                            const char* name);
// Waits for the end of the stream; an error before it fails the test.
void expect_end_of_stream(const gst::GstPtr<GstElement>& pipeline);

// A file into which the bundled driver, started after this, writes what it is asked for.
[[nodiscard]] std::string new_driver_log();
[[nodiscard]] size_t count_driver_calls(const std::string& log, const char* call);

// How many descriptors this process has open.
[[nodiscard]] size_t count_open_descriptors();

// Fails the test unless both lists are the same pictures.
void expect_same(const std::vector<Picture>& got, const std::vector<Picture>& wanted);

// Plays with eight flushing seeks, to key units and exact ones, into `sink_caps`: afterwards
// each picture must be the one that has its time in `wanted`, a plain run.
void expect_right_after_seeks(const char* sink_caps, const std::vector<Picture>& wanted,
                              const std::function<Decoded(const Options&)>& play);

inline constexpr const char* kDmabufNv12 = "video/x-raw(memory:DMABuf),format=NV12";

}  // namespace dxva::test
