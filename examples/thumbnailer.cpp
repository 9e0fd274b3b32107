// SPDX-License-Identifier: LGPL-2.1-or-later
// One picture of a video as a PNG, without a display: what a file manager or a server does.
//
//   thumbnailer MEDIA SECONDS OUT.png
//
// playbin finds the decoder; where dxvadec is installed and a device fits, that is it. The
// picture is wanted by the CPU here, so it is asked for in system memory and OpenGL stays out
// of it.

#include <gst/gst.h>
#include <gst/video/video.h>

#include <cstdio>

namespace {

constexpr GstClockTime kPatience = 30 * GST_SECOND;

int complain(const char* what, GError* error = nullptr) {
  std::fprintf(stderr, "thumbnailer: %s%s%s\n", what, error ? ": " : "",
               error ? error->message : "");
  g_clear_error(&error);
  return 1;
}

// Waits until the pipeline has its picture: after the start, and again after the seek.
bool wait_for_picture(GstElement* playbin) {
  GstBus* bus = gst_element_get_bus(playbin);
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus, kPatience,
      static_cast<GstMessageType>(GST_MESSAGE_ASYNC_DONE | GST_MESSAGE_ERROR |
                                  GST_MESSAGE_EOS));
  gst_object_unref(bus);
  const bool ready = message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ASYNC_DONE;
  if (message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    complain("cannot be played", error);
  } else if (!ready) {
    complain("no picture came");
  }
  if (message) gst_message_unref(message);
  return ready;
}

bool write_png(GstElement* sink, const char* path) {
  GstSample* sample = nullptr;
  g_object_get(sink, "last-sample", &sample, nullptr);
  if (!sample) {
    complain("there is no picture at that time");
    return false;
  }
  GError* error = nullptr;
  GstCaps* png = gst_caps_new_empty_simple("image/png");
  GstSample* picture = gst_video_convert_sample(sample, png, kPatience, &error);
  gst_caps_unref(png);
  gst_sample_unref(sample);
  if (!picture) {
    complain("the picture cannot be converted", error);
    return false;
  }
  GstMapInfo map;
  bool written = false;
  if (gst_buffer_map(gst_sample_get_buffer(picture), &map, GST_MAP_READ)) {
    written = g_file_set_contents(path, reinterpret_cast<const char*>(map.data),
                                  static_cast<gssize>(map.size), &error);
    gst_buffer_unmap(gst_sample_get_buffer(picture), &map);
  }
  gst_sample_unref(picture);
  if (!written) complain(path, error);
  return written;
}

void on_element(GstBin*, GstBin*, GstElement* element, gpointer) {
  const GstElementFactory* factory = gst_element_get_factory(element);
  if (factory &&
      gst_element_factory_list_is_type(const_cast<GstElementFactory*>(factory),
                                       GST_ELEMENT_FACTORY_TYPE_DECODER) &&
      !GST_IS_BIN(element))
    std::printf("decoder: %s\n", GST_OBJECT_NAME(factory));
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  if (argc != 4) return complain("usage: thumbnailer MEDIA SECONDS OUT.png");
  char* end = nullptr;
  const double seconds = g_ascii_strtod(argv[2], &end);
  constexpr double kLast = 1e9;  // as nanoseconds an integer still
  if (end == argv[2] || *end != 0 || !(seconds >= 0 && seconds <= kLast))
    return complain("SECONDS is no time; usage: thumbnailer MEDIA SECONDS OUT.png");
  GstElement* playbin = gst_element_factory_make("playbin", nullptr);
  GstElement* sink = gst_element_factory_make("fakesink", nullptr);
  if (!playbin || !sink) return complain("GStreamer's base plugins are not installed");
  GError* error = nullptr;
  char* uri = gst_filename_to_uri(argv[1], &error);
  if (!uri) return complain(argv[1], error);

  // Nothing but the video; and a picture for the CPU.
  GstCaps* system = gst_caps_new_empty_simple("video/x-raw");
  GstElement* filter = gst_element_factory_make("capsfilter", nullptr);
  g_object_set(filter, "caps", system, nullptr);
  gst_caps_unref(system);
  g_object_set(sink, "enable-last-sample", TRUE, nullptr);
  gst_util_set_object_arg(G_OBJECT(playbin), "flags", "video");
  g_object_set(playbin, "uri", uri, "video-sink", sink, "video-filter", filter, nullptr);
  g_free(uri);
  g_signal_connect(playbin, "deep-element-added", G_CALLBACK(on_element), nullptr);

  gst_element_set_state(playbin, GST_STATE_PAUSED);
  bool done = wait_for_picture(playbin);
  if (done && seconds > 0) {
    done = gst_element_seek_simple(
        playbin, GST_FORMAT_TIME,
        static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE),
        static_cast<gint64>(seconds * GST_SECOND));
    if (!done) complain("there is no such time in it");
    done = done && wait_for_picture(playbin);
  }
  done = done && write_png(sink, argv[3]);
  gst_element_set_state(playbin, GST_STATE_NULL);
  gst_object_unref(playbin);
  return done ? 0 : 1;
}
