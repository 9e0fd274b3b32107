// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/play/pipeline.hpp"

#include <gst/app/gstappsink.h>

#include <array>
#include <string_view>

#include "lib/base/path.hpp"

namespace dxva::play {
namespace {

constexpr GstClockTime kPatience = 200 * GST_MSECOND;  // until Ctrl-C is seen

Error play_error(const std::string& text) {
  return {.code = ErrorCode::Failed, .call = "", .text = text};
}

// Elementary H.264 streams of a few hundred bytes are too short for typefinding, which asks for
// several NAL units; their names say what they are.
const char* caps_by_name(std::string_view media) {
  struct Name {
    std::string_view ending;
    const char* caps;
  };
  static constexpr std::array<Name, 12> kNames{{
      {".264", "video/x-h264"},
      {".h264", "video/x-h264"},
      {".avc", "video/x-h264"},
      {".jsv", "video/x-h264"},
      {".jvt", "video/x-h264"},
      {".26l", "video/x-h264"},
      {".265", "video/x-h265"},
      {".h265", "video/x-h265"},
      {".hevc", "video/x-h265"},
      {".jpg", "image/jpeg"},
      {".jpeg", "image/jpeg"},
      {".obu", "video/x-av1"},
  }};
  for (const Name& name : kNames)
    if (media.ends_with(name.ending)) return name.caps;
  return nullptr;
}

Result<GstElement*> add(GstElement* pipeline, const char* factory) {
  GstElement* element = gst_element_factory_make(factory, nullptr);
  if (!element)
    return play_error(
        std::string("there is no element ") + factory +
        (std::string_view(factory).starts_with("dxva")
             ? ": is the build in GST_PLUGIN_PATH? ./dev play and ./dev shell see to it"
             : ": a GStreamer plugin is not installed"));
  gst_bin_add(GST_BIN(pipeline), element);
  return element;
}

// An element's property from the command line, which may say anything.
Status set_property(GstElement* element, const char* name, const std::string& text) {
  if (text.empty()) return Done{};
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
  GValue value = G_VALUE_INIT;
  if (spec) g_value_init(&value, spec->value_type);
  if (!spec || !gst_value_deserialize(&value, text.c_str()))
    return Error{.code = ErrorCode::BadInput,
                 .call = "",
                 .text = "--" + std::string(name) + " does not take '" + text + "'"};
  g_object_set_property(G_OBJECT(element), name, &value);
  g_value_unset(&value);
  return Done{};
}

// video/mpeg is MPEG-1, -2 or -4.
std::string with_version(const GstStructure* caps) {
  gint version = 0;
  std::string name = gst_structure_get_name(caps);
  if (gst_structure_get_int(caps, "mpegversion", &version))
    name += ", mpegversion=" + std::to_string(version);
  return name;
}

}  // namespace

Result<std::unique_ptr<Pipeline>> Pipeline::create(const Options& options, OnFrame on_frame) {
  std::unique_ptr<Pipeline> made(new Pipeline(std::move(on_frame)));
  if (auto built = made->build(options); !built) return built.error();
  return made;
}

Pipeline::~Pipeline() {
  if (pipeline_) gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
}

Status Pipeline::build(const Options& options) {
  media_ = options.media;
  pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new("play"))));
  const auto source = add(pipeline_.get(), "filesrc");
  if (!source) return source.error();
  const auto parser = add(pipeline_.get(), "parsebin");
  if (!parser) return parser.error();
  const auto decoder = add(pipeline_.get(), "dxvadec");
  if (!decoder) return decoder.error();
  const auto uploader = add(pipeline_.get(), "dxvaglupload");
  if (!uploader) return uploader.error();
  decoder_ = *decoder;
  uploader_ = *uploader;

  search_.watch(*source, *parser);
  g_object_set(*source, "location", options.media.c_str(), nullptr);
  if (const char* known = caps_by_name(options.media)) {
    const Owned<GstCaps> caps(gst_caps_from_string(known));
    g_object_set(*parser, "sink-caps", caps.get(), nullptr);
  }
  if (auto set = set_property(decoder_, "device", options.device); !set) return set.error();
  if (auto set = set_property(decoder_, "zero-copy", options.zero_copy); !set)
    return set.error();
  if (auto set = set_property(decoder_, "layout", options.layout); !set) return set.error();
  if (auto set = set_property(uploader_, "import", options.import); !set) return set.error();

  g_signal_connect(*parser, "pad-added",
                   G_CALLBACK(+[](GstElement*, GstPad* pad, gpointer self) {
                     static_cast<Pipeline*>(self)->stream_found(pad);
                   }),
                   this);
  if (!gst_element_link(*source, *parser) || !gst_element_link(decoder_, uploader_))
    return play_error("the pipeline's elements cannot be linked");
  return build_output(options);
}

Status Pipeline::build_output(const Options& options) {
  const auto sink = add(pipeline_.get(), "appsink");
  if (!sink) return sink.error();
  const Owned<GstCaps> caps(gst_caps_from_string("video/x-raw(memory:GLMemory)"));
  // One frame at a time: what waits here would keep surfaces from the decoder.
  g_object_set(*sink, "caps", caps.get(), "sync", FALSE, "max-buffers", 1u, nullptr);
  GstAppSinkCallbacks callbacks = {};
  callbacks.new_sample = [](GstAppSink* appsink, gpointer self) {
    return static_cast<Pipeline*>(self)->frame_arrived(GST_ELEMENT(appsink));
  };
  gst_app_sink_set_callbacks(GST_APP_SINK(*sink), &callbacks, this, nullptr);
  if (!options.window) {
    return gst_element_link(uploader_, *sink) ? Status(Done{})
                                              : play_error("dxvaglupload gives no GLMemory");
  }

  std::array<GstElement*, 4> window{};
  constexpr std::array<const char*, 4> kWindow{"tee", "queue", "glcolorconvert",
                                               "glimagesinkelement"};
  for (size_t i = 0; i < window.size(); ++i) {
    const auto element = add(pipeline_.get(), kWindow[i]);
    if (!element) return element.error();
    window[i] = *element;
  }
  const auto queue = add(pipeline_.get(), "queue");
  if (!queue) return queue.error();
  if (!gst_element_link_many(uploader_, window[0], window[1], window[2], window[3], nullptr) ||
      !gst_element_link_many(window[0], *queue, *sink, nullptr))
    return play_error("the window cannot be linked");
  return Done{};
}

// parsebin puts no parser in front of JPEG in GStreamer 1.22: a file would arrive in blocks
// instead of pictures.
void Pipeline::stream_found(GstPad* pad) {
  Owned<GstCaps> caps(gst_pad_get_current_caps(pad));
  if (!caps) caps.reset(gst_pad_query_caps(pad, nullptr));
  {
    const std::lock_guard locked(lock_);
    streams_found_ = true;
  }
  if (gst_caps_is_empty(caps.get())) return;
  const char* type = gst_structure_get_name(gst_caps_get_structure(caps.get(), 0));
  const std::string_view kind(type);
  if (!kind.starts_with("video/") && !kind.starts_with("image/")) return;

  const std::lock_guard locked(lock_);
  if (video_linked_) return;
  GstElement* next = decoder_;
  gboolean parsed = FALSE;
  if (kind == "image/jpeg" &&
      !(gst_structure_get_boolean(gst_caps_get_structure(caps.get(), 0), "parsed", &parsed) &&
        parsed)) {
    const auto parser = add(pipeline_.get(), "jpegparse");
    if (!parser) {
      if (!error_) error_ = parser.error();
      return;
    }
    next = *parser;
    gst_element_link(next, decoder_);
    gst_element_sync_state_with_parent(next);
  }
  const Owned<GstPad> sink(gst_element_get_static_pad(next, "sink"));
  if (gst_pad_link(pad, sink.get()) == GST_PAD_LINK_OK)
    video_linked_ = true;
  else
    refused_caps_ = with_version(gst_caps_get_structure(caps.get(), 0));
}

GstFlowReturn Pipeline::frame_arrived(GstElement* sink) {
  const Owned<GstSample> sample(gst_app_sink_pull_sample(GST_APP_SINK(sink)));
  if (!sample) return GST_FLOW_EOS;
  if (auto taken = on_frame_(sample.get(), *this); !taken) {
    stop_with(taken.error());
    return GST_FLOW_ERROR;
  }
  return GST_FLOW_OK;
}

void Pipeline::stop_with(Error error) {
  const std::lock_guard locked(lock_);
  if (!error_) error_ = std::move(error);
}

Status Pipeline::run(const volatile std::sig_atomic_t& interrupted) {
  const Owned<GstBus> bus(gst_element_get_bus(pipeline_.get()));
  // A start that failed sends no EOS, and need not have sent an error.
  if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    gst_bus_post(
        bus.get(),
        gst_message_new_error(
            GST_OBJECT(pipeline_.get()),
            Owned<GError>(g_error_new_literal(GST_CORE_ERROR, GST_CORE_ERROR_STATE_CHANGE,
                                              "the pipeline does not start"))
                .get(),
            nullptr));
  Owned<GstMessage> end;
  do {
    end = next_message(bus.get(), interrupted);
    if (end) note_path_change(end.get());
  } while (end && GST_MESSAGE_TYPE(end.get()) == GST_MESSAGE_ELEMENT);
  if (interrupted) return play_error(media_ + ": interrupted");
  std::string complaint;
  if (end && GST_MESSAGE_TYPE(end.get()) == GST_MESSAGE_ERROR) {
    GError* cause = nullptr;
    gchar* details = nullptr;
    gst_message_parse_error(end.get(), &cause, &details);
    const Owned<GError> owned_cause(cause);
    const Owned<char> owned_details(details);
    complaint = std::string(GST_MESSAGE_SRC_NAME(end.get())) + ": " + cause->message;
    // The last line of the details is the element's own sentence; those before it are file
    // names.
    if (details) {
      const std::string_view lines(details);
      const size_t last = lines.rfind('\n');
      if (last != std::string_view::npos && last + 1 < lines.size())
        complaint += " (" + std::string(lines.substr(last + 1)) + ")";
    }
  }

  const std::lock_guard locked(lock_);
  if (error_) return *error_;
  if (!video_linked_ && !refused_caps_.empty())
    return play_error(media_ + ": dxvadec does not decode " + refused_caps_);
  // A demuxer whose streams nobody takes complains as well, but not of what is missing.
  if (!video_linked_ && streams_found_) return play_error(media_ + ": no video stream found");
  if (!complaint.empty()) return play_error(media_ + ": " + complaint);
  if (!video_linked_) return play_error(media_ + ": no video stream found");
  return Done{};
}

Owned<GstMessage> Pipeline::next_message(GstBus* bus,
                                         const volatile std::sig_atomic_t& interrupted) {
  while (!interrupted) {
    Owned<GstMessage> message(gst_bus_timed_pop_filtered(
        bus, kPatience,
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR |
                                    GST_MESSAGE_ELEMENT)));
    if (message) return message;
    const std::lock_guard locked(lock_);
    if (!video_linked_ && search_.is_over()) return nullptr;
  }
  return nullptr;
}

void Pipeline::note_path_change(GstMessage* message) {
  const GstStructure* what = gst_message_get_structure(message);
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ELEMENT || !what ||
      !gst_structure_has_name(what, "dxva-path-changed"))
    return;
  const auto text = [what](const char* field) {
    const char* value = gst_structure_get_string(what, field);
    return std::string(value ? value : "?");
  };
  path_changes_.push_back(
      (GST_MESSAGE_SRC(message) == GST_OBJECT(decoder_) ? "dxvadec: " : "dxvaglupload: ") +
      text("from") + " > " + text("to") + ", " + text("reason"));
}

bool Pipeline::decodes_in_software() const {
  const auto stats = decoder_stats();
  const GValue* steps = stats ? gst_structure_get_value(stats.get(), "steps") : nullptr;
  guint64 frames = 0;
  return steps && GST_VALUE_HOLDS_STRUCTURE(steps) &&
         gst_structure_get_uint64(gst_value_get_structure(steps), step_name(Step::Software),
                                  &frames) &&
         frames > 0;
}

Owned<GstStructure> Pipeline::stats(GstElement* element) {
  GstStructure* taken = nullptr;
  g_object_get(element, "stats", &taken, nullptr);
  return Owned<GstStructure>(taken);
}

}  // namespace dxva::play
