// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/support/decode_rig.hpp"

#include <glib/gstdio.h>
#include <gst/allocators/allocators.h>
#include <gst/app/app.h>
#include <gst/base/base.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "gst/common/allocation_words.hpp"
#include "tests/check/support/check.hpp"

namespace dxva::test {

namespace {

bool ends_with(const std::string& text, const char* end) {
  return text.size() >= std::strlen(end) &&
         text.compare(text.size() - std::strlen(end), std::string::npos, end) == 0;
}

std::string folder() {
  const char* set = g_getenv("DXVA_CLIPS");
  const std::string out = set ? set : std::string(g_get_tmp_dir()) + "/dxva-clips";
  g_mkdir_with_parents(out.c_str(), 0755);
  return out;
}

bool run(const std::string& command) {
  GError* error = nullptr;
  gint status = 0;
  const bool ran =
      g_spawn_command_line_sync(command.c_str(), nullptr, nullptr, &status, &error);
  g_clear_error(&error);
  return ran && status == 0;
}

// For a shell-like command line: the build may lie in a folder with spaces.
std::string quoted(const std::string& path) {
  return gst::GlibString(g_shell_quote(path.c_str())).get();
}

// Both chroma planes in one, as surfaces have them, so that one list of hashes serves all.
void add_plane(GChecksum* sum, const GstVideoFrame& frame, guint plane) {
  const auto* data = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane));
  gint component[GST_VIDEO_MAX_COMPONENTS];
  gst_video_format_info_component(frame.info.finfo, plane, component);
  const gint c = component[0];
  const gsize row = static_cast<gsize>(GST_VIDEO_FRAME_COMP_WIDTH(&frame, c)) *
                    static_cast<gsize>(GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c));
  for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c); ++y)
    g_checksum_update(sum, data + y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane),
                      static_cast<gssize>(row));
}

void add_interleaved(GChecksum* sum, const GstVideoFrame& frame, int shift, int bytes) {
  std::vector<guint8> row;
  for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, 1); ++y) {
    const auto* u = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 1)) +
                    y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 1);
    const auto* v = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 2)) +
                    y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 2);
    row.clear();
    for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(&frame, 1); ++x)
      for (const guint8* from : {u, v}) {
        guint value = from[x * bytes];
        if (bytes == 2) value |= static_cast<guint>(from[x * 2 + 1]) << 8;
        value <<= shift;
        row.push_back(static_cast<guint8>(value));
        if (bytes == 2) row.push_back(static_cast<guint8>(value >> 8));
      }
    g_checksum_update(sum, row.data(), static_cast<gssize>(row.size()));
  }
}

void add_shifted(GChecksum* sum, const GstVideoFrame& frame) {
  std::vector<guint16> row;
  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT(&frame); ++y) {
    const auto* from = reinterpret_cast<const guint16*>(
        static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) +
        y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0));
    row.assign(from, from + GST_VIDEO_FRAME_WIDTH(&frame));
    for (guint16& value : row) value = static_cast<guint16>(value << 6);
    g_checksum_update(sum, reinterpret_cast<const guint8*>(row.data()),
                      static_cast<gssize>(row.size() * 2));
  }
}

// A pool that says what dxvaglupload's does.
GType reading_pool_type() {
  static const GType type = [] {
    GTypeInfo info{};
    info.class_size = sizeof(GstBufferPoolClass);
    info.instance_size = sizeof(GstBufferPool);
    info.class_init = [](gpointer klass, gpointer) {
      auto* object = G_OBJECT_CLASS(klass);
      object->get_property = [](GObject*, guint, GValue* value, GParamSpec*) {
        g_value_set_boolean(value, TRUE);
      };
      g_object_class_install_property(
          object, 1, g_param_spec_boolean("reads-in-place", "", "", FALSE, G_PARAM_READABLE));
    };
    return g_type_register_static(GST_TYPE_BUFFER_POOL, "DxvaTestReadingPool", &info,
                                  static_cast<GTypeFlags>(0));
  }();
  return type;
}

GstPadProbeReturn answer_allocation(GstPad*, GstPadProbeInfo* info, gpointer data) {
  const auto& options = *static_cast<const Options*>(data);
  GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return GST_PAD_PROBE_OK;
  gst::AllocationWords words{
      .mixed_memory = options.mixed_memory,
      .only_consumer =
          (options.mixed_memory || options.reads_in_place) && !options.behind_a_tee};
  if (options.reads_in_place)
    words.copy_pool = gst::GstPtr<GstBufferPool>::adopt(
        GST_BUFFER_POOL(g_object_ref_sink(g_object_new(reading_pool_type(), nullptr))));
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  words.add_to(query);
  return GST_PAD_PROBE_HANDLED;
}

void read_bus(GstElement* pipeline, Decoded& out) {
  auto bus = gst::GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline));
  while (GstMessage* raw = gst_bus_pop(bus.get())) {
    const auto message = gst::GstPtr<GstMessage>::adopt(raw);
    if (GST_MESSAGE_TYPE(raw) == GST_MESSAGE_ERROR && out.error.empty()) {
      GError* error = nullptr;
      gst_message_parse_error(raw, &error, nullptr);
      out.error = error->message;
      g_error_free(error);
    }
    const GstStructure* structure = gst_message_get_structure(raw);
    if (structure && gst_structure_has_name(structure, "dxva-path-changed"))
      out.path_changes.push_back(std::string(gst_structure_get_string(structure, "from")) +
                                 ">" + gst_structure_get_string(structure, "to") + ": " +
                                 gst_structure_get_string(structure, "reason"));
  }
}

uint64_t number_in(const GstStructure* structure, const char* name) {
  guint64 value = 0;
  if (structure) gst_structure_get_uint64(structure, name, &value);
  return value;
}

uint64_t nested(const GstStructure* stats, const char* part, const char* name) {
  const GValue* value = stats ? gst_structure_get_value(stats, part) : nullptr;
  return value ? number_in(gst_value_get_structure(value), name) : 0;
}

}  // namespace

bool set_up_decode_rig(int* argc, char*** argv) {
  if (!gst_is_initialized()) gst_check_init(argc, argv);
  gst::GlibString ffmpeg(g_find_program_in_path("ffmpeg"));
  auto reference =
      gst::GstPtr<GstElementFactory>::adopt(gst_element_factory_find("avdec_h264"));
  if (ffmpeg && reference) return true;
  std::printf("# SKIP %s is not installed\n", ffmpeg ? "gst-libav" : "ffmpeg");
  return false;
}

std::string clip(const std::string& name, const std::string& arguments, const std::string& size,
                 int pictures) {
  const std::string path = folder() + "/" + name;
  if (g_file_test(path.c_str(), G_FILE_TEST_EXISTS)) return path;
  // Programs of this suite run side by side; a file appears complete or not at all.
  const std::string part = folder() + "/" + std::to_string(getpid()) + "-" + name;
  // One filter thread: with more, slices take the noise's random numbers in any order.
  const std::string command =
      "ffmpeg -y -v error -filter_threads 1 -f lavfi -i testsrc2=s=" + size +
      ":r=25,noise=alls=12:allf=t -frames:v " + std::to_string(pictures) +
      " -pix_fmt yuv420p " + arguments + " " + quoted(part);
  fail_unless(run(command), "%s", command.c_str());
  // The first one stays: another program may have decoded it already.
  fail_unless(link(part.c_str(), path.c_str()) == 0 || errno == EEXIST, "%s: %s", path.c_str(),
              g_strerror(errno));
  g_unlink(part.c_str());
  return path;
}

std::string h264_mp4() {
  return clip("h264.mp4", "-c:v libx264 -g 20 -bf 3 -threads 1");
}

std::string h264_byte_stream() {
  return clip("plain.h264",
              "-c:v libx264 -g 20 -bf 3 -threads 1 -bsf:v filter_units=remove_types=6");
}

std::string joined(const std::string& name, const std::vector<std::string>& files) {
  std::string bytes;
  for (const std::string& one : files) bytes += read_file(one);
  const std::string path = folder() + "/" + name;
  // Renamed into place by GLib; all programs write the same.
  fail_unless(g_file_set_contents(path.c_str(), bytes.data(), static_cast<gssize>(bytes.size()),
                                  nullptr));
  return path;
}

std::string h264_two_sizes() {
  std::vector<std::string> both;
  for (const char* size : {"64x64", "128x96"})
    both.push_back(clip(std::string(size) + ".h264", "-c:v libx264 -threads 1", size, 10));
  return joined("two-sizes.h264", both);
}

std::string make_folder(const std::string& name) {
  const std::string path = folder() + "/" + name;
  g_mkdir_with_parents(path.c_str(), 0755);
  return path;
}

std::string read_file(const std::string& path) {
  char* data = nullptr;
  gsize size = 0;
  fail_unless(g_file_get_contents(path.c_str(), &data, &size, nullptr), "%s", path.c_str());
  std::string out(data, size);
  g_free(data);
  return out;
}

void write_file(const std::string& path, const std::string& bytes) {
  fail_unless(g_file_set_contents(path.c_str(), bytes.data(), static_cast<gssize>(bytes.size()),
                                  nullptr));
}

std::string source(const std::string& file, const std::string& parser) {
  std::string out = "filesrc location=\"" + file + "\"";
  if (ends_with(file, ".mp4")) out += " ! qtdemux";
  if (ends_with(file, ".mkv")) out += " ! matroskademux";
  if (!parser.empty()) return out + " ! " + parser;
  return out + " ! h264parse";
}

std::string CodecClip::source() const {
  return test::source(clip(file, encoder, "352x286", 30), parser);
}

bool has_element(const char* name) {
  return bool(gst::GstPtr<GstElementFactory>::adopt(gst_element_factory_find(name)));
}

std::vector<CodecClip> codec_clips() {
  std::vector<CodecClip> out{
      {"h265.mkv", "-c:v libx265 -x265-params log-level=error:pools=1", "h265parse",
       "avdec_h265"},
      {"vp8.mkv",
       "-c:v libvpx -deadline realtime -cpu-used 8 -auto-alt-ref 1 -lag-in-frames 10",
       "identity", "avdec_vp8"},
      {"vp9.mkv", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8", "vp9parse", "avdec_vp9"},
      {"av1-long.mkv", "-c:v libaom-av1 -cpu-used 8 -usage realtime", "av1parse", "av1dec"},
      {"mpeg2.mkv", "-c:v mpeg2video -bf 2", "mpegvideoparse", "avdec_mpeg2video"},
      {"jpeg.mkv", "-c:v mjpeg -pix_fmt yuvj420p", "jpegparse", "avdec_mjpeg"},
  };
  std::erase_if(out, [](const CodecClip& codec) {
    if (has_element(codec.reference)) return false;
    std::printf("# without %s: %s is not installed\n", codec.file, codec.reference);
    return true;
  });
  return out;
}

namespace {

// DMA_DRM caps do not say what a map shows; the meta does.
GstVideoInfo info_of(GstBuffer* buffer, const GstCaps* caps) {
  GstVideoInfo info;
  const char* format = gst_structure_get_string(gst_caps_get_structure(caps, 0), "format");
  if (g_strcmp0(format, "DMA_DRM") != 0) {
    fail_unless(gst_video_info_from_caps(&info, caps));
    return info;
  }
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  fail_unless(meta != nullptr);
  gst_video_info_set_format(&info, meta->format, meta->width, meta->height);
  return info;
}

}  // namespace

std::string hash_of(GstBuffer* buffer, const GstCaps* caps) {
  GstVideoFrame frame;
  GstVideoInfo info = info_of(buffer, caps);
  fail_unless(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ));
  GChecksum* sum = g_checksum_new(G_CHECKSUM_MD5);
  switch (GST_VIDEO_FRAME_FORMAT(&frame)) {
    case GST_VIDEO_FORMAT_I420:
      add_plane(sum, frame, 0);
      add_interleaved(sum, frame, 0, 1);
      break;
    case GST_VIDEO_FORMAT_I420_10LE:
      add_shifted(sum, frame);
      add_interleaved(sum, frame, 6, 2);
      break;
    default:
      for (guint i = 0; i < GST_VIDEO_FRAME_N_PLANES(&frame); ++i) add_plane(sum, frame, i);
  }
  std::string out = g_checksum_get_string(sum);
  g_checksum_free(sum);
  gst_video_frame_unmap(&frame);
  return out;
}

std::vector<Picture> hashes_of_ffmpeg(const std::string& file, int width, int height) {
  const std::string raw = folder() + "/" + std::to_string(getpid()) + "-frames.raw";
  // Else ffmpeg rounds a left crop to what its SIMD code likes.
  fail_unless(run("ffmpeg -y -v error -flags unaligned -i " + quoted(file) +
                  " -fps_mode passthrough -pix_fmt nv12 -f rawvideo " + quoted(raw)));
  char* data = nullptr;
  gsize size = 0;
  fail_unless(g_file_get_contents(raw.c_str(), &data, &size, nullptr));
  g_unlink(raw.c_str());
  const gsize frame =
      static_cast<gsize>(width) * static_cast<gsize>(height) +
      static_cast<gsize>((width + 1) / 2 * 2) * static_cast<gsize>((height + 1) / 2);
  fail_unless_equals_int(size % frame, 0);
  std::vector<Picture> out;
  for (gsize at = 0; at < size; at += frame) {
    gst::GlibString hash(g_compute_checksum_for_data(
        G_CHECKSUM_MD5, reinterpret_cast<const guchar*>(data) + at, frame));
    out.push_back({.hash = hash.get(), .width = width, .height = height});
  }
  g_free(data);
  return out;
}

uint64_t Decoded::stat(const char* name) const {
  return number_in(stats.get(), name);
}
uint64_t Decoded::step(const char* name) const {
  return nested(stats.get(), "steps", name);
}
uint64_t Decoded::reason(const char* name) const {
  return nested(stats.get(), "reasons", name);
}

uint64_t Decoded::number(const char* part, const char* name) const {
  return nested(stats.get(), part, name);
}
std::string Decoded::text(const char* name) const {
  const char* text = stats ? gst_structure_get_string(stats.get(), name) : nullptr;
  return text ? text : "";
}
std::string Decoded::text(const char* part, const char* name) const {
  const GValue* value = stats ? gst_structure_get_value(stats.get(), part) : nullptr;
  if (!value) return "";
  const char* text = gst_structure_get_string(gst_value_get_structure(value), name);
  return text ? text : "";
}

Decoded decode(const std::string& source, const std::string& decoder, const Options& options) {
  Decoded out;
  const std::string text =
      source + " ! " + decoder + " name=dec ! appsink name=sink sync=false";
  const auto pipeline = launch(text);
  const auto sink = child(pipeline, "sink");
  const auto dec = child(pipeline, "dec");
  auto* app = GST_APP_SINK(sink.get());
  gst_app_sink_set_max_buffers(app, 2);
  if (!options.sink_caps.empty()) {
    auto caps = gst::GstPtr<GstCaps>::adopt(gst_caps_from_string(options.sink_caps.c_str()));
    gst_app_sink_set_caps(app, caps.get());
  }
  if (options.video_meta || options.mixed_memory || options.reads_in_place) {
    auto pad = gst::GstPtr<GstPad>::adopt(gst_element_get_static_pad(sink.get(), "sink"));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, answer_allocation,
                      const_cast<Options*>(&options), nullptr);
  }

  if (options.before_start) options.before_start(pipeline.get());
  if (gst_element_set_state(pipeline.get(), GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE) {
    gst::GstPtr<GstCaps> last_caps;
    while (out.error.empty()) {
      // Wakes up now and then only to see an error on the bus.
      auto pulled =
          gst::GstPtr<GstSample>::adopt(gst_app_sink_try_pull_sample(app, 200 * GST_MSECOND));
      read_bus(pipeline.get(), out);
      if (!pulled) {
        if (gst_app_sink_is_eos(app)) break;
        continue;
      }
      // The one that it gave out is its own, and behind a flush it writes into it (1.22), with
      // a critical message where somebody else has it as well.
      auto sample = gst::GstPtr<GstSample>::adopt(gst_sample_copy(pulled.get()));
      pulled.reset();
      GstBuffer* buffer = gst_sample_get_buffer(sample.get());
      GstCaps* caps = gst_sample_get_caps(sample.get());
      if (!last_caps || !gst_caps_is_equal(last_caps.get(), caps)) {
        gst::GlibString caps_text(gst_caps_to_string(caps));
        out.caps.emplace_back(caps_text.get());
        last_caps = gst::GstPtr<GstCaps>::share(caps);
      }
      Picture picture{
          .pts = GST_BUFFER_PTS(buffer),
          .hash = hash_of(buffer, caps),
          .dmabuf = gst_is_dmabuf_memory(gst_buffer_peek_memory(buffer, 0)) != FALSE,
          .flags = GST_MINI_OBJECT_FLAGS(buffer)};
      const GstStructure* structure = gst_caps_get_structure(caps, 0);
      gst_structure_get_int(structure, "width", &picture.width);
      gst_structure_get_int(structure, "height", &picture.height);
      out.pictures.push_back(std::move(picture));
      if (out.kept.size() < options.keep) out.kept.push_back(sample);
      if (options.at_sample) options.at_sample(sample.get());
      if (options.at_picture) options.at_picture(pipeline.get(), out.pictures.size());
    }
  }
  read_bus(pipeline.get(), out);
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(dec.get()), "stats")) {
    GstStructure* stats = nullptr;
    g_object_get(dec.get(), "stats", &stats, nullptr);
    out.stats.reset(stats);
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return out;
}

gst::GstPtr<GstElement> launch(const std::string& text) {
  GError* error = nullptr;
  auto pipeline = gst::GstPtr<GstElement>::adopt(gst_parse_launch(text.c_str(), &error));
  fail_unless(pipeline && !error, "%s: %s", text.c_str(), error ? error->message : "");
  return pipeline;
}

gst::GstPtr<GstElement> child(const gst::GstPtr<GstElement>& pipeline, const char* name) {
  return gst::GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(pipeline.get()), name));
}

void expect_end_of_stream(const gst::GstPtr<GstElement>& pipeline) {
  auto bus = gst::GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline.get()));
  auto end = gst::GstPtr<GstMessage>::adopt(gst_bus_timed_pop_filtered(
      bus.get(), GST_CLOCK_TIME_NONE,
      static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  if (GST_MESSAGE_TYPE(end.get()) == GST_MESSAGE_EOS) return;
  GError* error = nullptr;
  gst_message_parse_error(end.get(), &error, nullptr);
  ck_abort_msg("%s", error->message);
}

std::string new_driver_log() {
  const std::string log = make_folder("logs") + "/" + std::to_string(getpid());
  g_unlink(log.c_str());
  g_setenv("DXVASOFT_LOG", log.c_str(), TRUE);
  return log;
}

size_t count_driver_calls(const std::string& log, const char* call) {
  char* text = nullptr;
  fail_unless(g_file_get_contents(log.c_str(), &text, nullptr, nullptr), "%s", log.c_str());
  size_t out = 0;
  for (const char* at = text; (at = std::strstr(at, call)); ++at) ++out;
  g_free(text);
  return out;
}

size_t count_open_descriptors() {
  GDir* folder = g_dir_open("/proc/self/fd", 0, nullptr);
  fail_unless(folder != nullptr);
  size_t count = 0;
  while (g_dir_read_name(folder)) ++count;
  g_dir_close(folder);
  return count - 1;  // the folder itself
}

void expect_same(const std::vector<Picture>& got, const std::vector<Picture>& wanted) {
  fail_unless(!wanted.empty());
  fail_unless_equals_int(got.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    fail_unless(got[i].hash == wanted[i].hash, "picture %zu differs", i);
}

void expect_right_after_seeks(const char* sink_caps, const std::vector<Picture>& wanted,
                              const std::function<Decoded(const Options&)>& play) {
  std::map<GstClockTime, std::string> by_time;
  for (const Picture& picture : wanted) by_time[picture.pts] = picture.hash;
  for (const int flags : {int(GST_SEEK_FLAG_KEY_UNIT), int(GST_SEEK_FLAG_ACCURATE)}) {
    int seeks = 0;
    Options options{.sink_caps = sink_caps};
    options.at_picture = [&](GstElement* pipeline, size_t pictures) {
      if (pictures % 7 != 3 || seeks >= 8) return;
      const GstClockTime to = GstClockTime((seeks * 5) % 11) * 200 * GST_MSECOND;
      ++seeks;
      fail_unless(gst_element_seek_simple(
          pipeline, GST_FORMAT_TIME, static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | flags),
          gint64(to)));
    };
    const Decoded out = play(options);
    fail_unless_equals_int(seeks, 8);
    fail_unless(out.pictures.size() > 40);
    for (const Picture& picture : out.pictures) {
      fail_unless(by_time.count(picture.pts) == 1);
      fail_unless(by_time[picture.pts] == picture.hash);
    }
  }
}

}  // namespace dxva::test
