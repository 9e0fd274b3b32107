// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/benchmarks/stream.hpp"

#include <gst/app/gstappsrc.h>
#include <gst/gl/gl.h>
#include <gst/video/video.h>

#include <cstdio>

namespace dxva::bench {

using gst::GstPtr;

namespace {

// More than the caches of a processor hold: whoever makes pictures makes new ones.
constexpr size_t kPictures = 8;

// What a sink does. GstGL's own memories upload when they are mapped, ours have their texture
// already; both on the GL thread, once a frame.
void map_memories(GstGLContext* context, gpointer data) {
  auto* buffer = static_cast<GstBuffer*>(data);
  if (GstGLSyncMeta* fence = gst_buffer_get_gl_sync_meta(buffer))
    gst_gl_sync_meta_wait(fence, context);
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) {
    GstMapInfo map;
    GstMemory* memory = gst_buffer_peek_memory(buffer, i);
    if (gst_memory_map(memory, &map, static_cast<GstMapFlags>(GST_MAP_READ | GST_MAP_GL)))
      gst_memory_unmap(memory, &map);
    else
      g_error("a frame cannot be mapped for OpenGL");
  }
}

void map_in_gl(GstBuffer* buffer) {
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  if (!gst_is_gl_base_memory(memory)) g_error("a frame is not in OpenGL");
  gst_gl_context_thread_add(reinterpret_cast<GstGLBaseMemory*>(memory)->context, map_memories,
                            buffer);
}

std::string text_of(GstPad* pad) {
  const auto caps = GstPtr<GstCaps>::adopt(gst_pad_get_current_caps(pad));
  return caps ? gst::GlibString(gst_caps_to_string(caps.get())).get() : "";
}

}  // namespace

std::unique_ptr<Stream> Stream::create(const StreamOptions& options, Window& window) {
  std::unique_ptr<Stream> stream(new Stream(options, window));
  return stream->prepare() ? std::move(stream) : nullptr;
}

Stream::~Stream() {
  if (pipeline_) gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
}

GstPtr<GstPad> Stream::pad(const char* element) const {
  const auto found =
      GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(pipeline_.get()), element));
  return found ? GstPtr<GstPad>::adopt(gst_element_get_static_pad(found.get(), "sink"))
               : GstPtr<GstPad>();
}

bool Stream::prepare() {
  GError* error = nullptr;
  GstElement* parsed = gst_parse_launch(options_.pipeline.c_str(), &error);
  if (parsed) pipeline_ = GstPtr<GstElement>::adopt(GST_ELEMENT(gst_object_ref_sink(parsed)));
  if (error) {
    std::fprintf(stderr, "%s: %s\n", options_.pipeline.c_str(), error->message);
    g_error_free(error);
    return false;
  }
  const auto out = pad("out");
  const auto watched = options_.watch.empty() ? GstPtr<GstPad>() : pad(options_.watch.c_str());
  if (!out || (!options_.watch.empty() && !watched)) {
    std::fprintf(stderr, "%s: no element to look at\n", options_.pipeline.c_str());
    return false;
  }
  if (watched)
    gst_pad_add_probe(
        watched.get(), GST_PAD_PROBE_TYPE_BUFFER,
        [](GstPad*, GstPadProbeInfo*, gpointer self) {
          static_cast<Stream*>(self)->enters();
          return GST_PAD_PROBE_OK;
        },
        this, nullptr);
  // The frame is taken out of the sink's hands, so that giving it back is timed as well.
  gst_pad_add_probe(
      out.get(), GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad*, GstPadProbeInfo* info, gpointer self) {
        auto buffer = GstPtr<GstBuffer>::adopt(GST_PAD_PROBE_INFO_BUFFER(info));
        info->data = nullptr;
        static_cast<Stream*>(self)->arrives(std::move(buffer));
        return GST_PAD_PROBE_HANDLED;
      },
      this, nullptr);
  if (!options_.feed.caps.empty()) make_pictures();
  if (options_.map_stand_in) make_stand_in();
  return true;
}

void Stream::make_pictures() {
  const auto feed =
      GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "feed"));
  const auto caps = GstPtr<GstCaps>::adopt(gst_caps_from_string(options_.feed.caps.c_str()));
  GstVideoInfo info;
  if (!feed || !caps || !gst_video_info_from_caps(&info, caps.get()))
    g_error("no appsrc named feed, or no such pictures: %s", options_.feed.caps.c_str());
  for (size_t i = 0; i < kPictures; ++i) {
    pictures_.push_back(
        GstPtr<GstBuffer>::adopt(gst_buffer_new_allocate(nullptr, info.size, nullptr)));
    gst_buffer_memset(pictures_.back().get(), 0, static_cast<guint8>(16 + 16 * i), info.size);
    gst_buffer_add_video_meta_full(pictures_.back().get(), GST_VIDEO_FRAME_FLAG_NONE,
                                   info.finfo->format, static_cast<guint>(info.width),
                                   static_cast<guint>(info.height), info.finfo->n_planes,
                                   info.offset, info.stride);
  }
  g_object_set(feed.get(), "caps", caps.get(), "format", GST_FORMAT_TIME, "max-bytes",
               static_cast<guint64>(info.size), nullptr);
  g_signal_connect(feed.get(), "need-data",
                   G_CALLBACK(+[](GstElement* source, guint, gpointer self) {
                     static_cast<Stream*>(self)->push_picture(source);
                   }),
                   this);
}

void Stream::push_picture(GstElement* source) {
  GstBuffer* picture = gst_buffer_copy(pictures_[pushed_ % kPictures].get());
  GST_BUFFER_PTS(picture) = pushed_++ * GST_SECOND / 30;
  gst_app_src_push_buffer(GST_APP_SRC(source), picture);
}

// What a consumer of frames in OpenGL does is then in the figures of those that are not.
void Stream::make_stand_in() {
  const auto display = GstPtr<GstGLDisplay>::adopt(gst_gl_display_new());
  GstGLContext* made = nullptr;
  GError* error = nullptr;
  if (!gst_gl_display_create_context(display.get(), nullptr, &made, &error))
    g_error("no OpenGL context: %s", error->message);
  const auto context = GstPtr<GstGLContext>::adopt(made);
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_NV12, 64, 64);
  const auto allocator =
      GstPtr<GstAllocator>::adopt(gst_allocator_find(GST_GL_MEMORY_ALLOCATOR_NAME));
  GstGLVideoAllocationParams* params = gst_gl_video_allocation_params_new(
      context.get(), nullptr, &info, 0, nullptr, GST_GL_TEXTURE_TARGET_2D, GST_GL_RED);
  stand_in_ = GstPtr<GstBuffer>::adopt(gst_buffer_new());
  if (!gst_gl_memory_setup_buffer(GST_GL_MEMORY_ALLOCATOR(allocator.get()), stand_in_.get(),
                                  params, nullptr, nullptr, 0))
    g_error("no textures");
  gst_gl_allocation_params_free(reinterpret_cast<GstGLAllocationParams*>(params));
}

bool Stream::start() {
  return gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
}

std::string Stream::trouble() {
  const auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline_.get()));
  const auto message = GstPtr<GstMessage>::adopt(gst_bus_pop_filtered(
      bus.get(), static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS)));
  if (!message) return "";
  if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS)
    return "the stream ended before its last frame";
  GError* error = nullptr;
  char* details = nullptr;
  gst_message_parse_error(message.get(), &error, &details);
  const std::string text = std::string(error->message) + "\n" + (details ? details : "");
  g_error_free(error);
  g_free(details);
  return text;
}

void Stream::enters() {
  entered_at_ = thread_cpu_ns();
}

void Stream::arrives(GstPtr<GstBuffer> buffer) {
  if (options_.map_in_gl) map_in_gl(buffer.get());
  if (stand_in_) map_in_gl(stand_in_.get());
  buffer.reset();
  if (frames_ >= options_.warm_up && !options_.watch.empty())
    watched_ns_ += thread_cpu_ns() - entered_at_;
  pass_window();
}

void Stream::pass_window() {
  ++frames_;
  if (frames_ == 1) window_.first_frame();
  if (frames_ == options_.frames) streaming_ns_ = thread_cpu_ns() - streaming_ns_;
  if (frames_ == options_.frames) window_.finished();
  if (frames_ != options_.warm_up) return;
  window_.warmed_up();
  streaming_ns_ = thread_cpu_ns();
}

std::string Stream::caps_before_watched() const {
  return options_.watch.empty() ? "" : text_of(pad(options_.watch.c_str()).get());
}

std::string Stream::caps() const {
  return text_of(pad("out").get());
}

std::string Stream::stats() const {
  if (options_.watch.empty()) return "";
  const auto watched = GstPtr<GstElement>::adopt(
      gst_bin_get_by_name(GST_BIN(pipeline_.get()), options_.watch.c_str()));
  if (!g_object_class_find_property(G_OBJECT_GET_CLASS(watched.get()), "stats")) return "";
  GstStructure* stats = nullptr;
  g_object_get(watched.get(), "stats", &stats, nullptr);
  const gst::StructurePtr owned(stats);
  return owned ? gst::GlibString(gst_structure_to_string(stats)).get() : "";
}

}  // namespace dxva::bench
