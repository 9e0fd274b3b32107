// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/sink_properties.hpp"

#include <gst/gl/gl.h>

#include <array>
#include <string_view>

namespace dxva::gst {
namespace {

constexpr auto kReadWrite =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
constexpr auto kReadOnly = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

constexpr std::array<const char*, 4> kBalance = {"brightness", "contrast", "hue", "saturation"};

GParamSpec* flag(const char* name, const char* nick, const char* blurb, bool standard) {
  return g_param_spec_boolean(name, nick, blurb, standard, kReadWrite);
}

GParamSpec* nanoseconds(const char* name, const char* nick, const char* blurb,
                        guint64 standard) {
  return g_param_spec_uint64(name, nick, blurb, 0, G_MAXUINT64, standard, kReadWrite);
}

GParamSpec* level(const char* name, const char* nick, double least, double most,
                  double standard) {
  return g_param_spec_double(name, nick, "Of the picture, changed on the GPU", least, most,
                             standard, kReadWrite);
}

}  // namespace

void install_child_properties(GObjectClass* klass) {
  // In the order of GstBaseSink and glimagesink, whose words and defaults users know.
  const std::array specs = {
      flag("sync", "Sync", "Show frames at their time", true),
      g_param_spec_int64("max-lateness", "Max lateness",
                         "A frame later than this, in nanoseconds, is dropped; -1: never", -1,
                         G_MAXINT64, 5 * GST_MSECOND, kReadWrite),
      flag("qos", "QoS", "Tell upstream when frames come too late", true),
      flag("async", "Async", "Go to PAUSED when the first frame is there", true),
      g_param_spec_int64("ts-offset", "Time offset",
                         "Added to each frame's time, in nanoseconds", G_MININT64, G_MAXINT64,
                         0, kReadWrite),
      flag("enable-last-sample", "Keep the last sample",
           "Keep the frame that is shown for last-sample; it holds a decoder's surface", true),
      g_param_spec_boxed("last-sample", "Last sample", "The frame that is shown",
                         GST_TYPE_SAMPLE, kReadOnly),
      nanoseconds("render-delay", "Render delay", "Of what follows, in nanoseconds", 0),
      nanoseconds("throttle-time", "Throttle time",
                  "Least time between two frames, nanoseconds", 0),
      nanoseconds("processing-deadline", "Processing deadline",
                  "Time that one frame may take, in nanoseconds", 15 * GST_MSECOND),
      flag("show-preroll-frame", "Show the preroll frame", "Show the first frame in PAUSED",
           true),
      flag("force-aspect-ratio", "Force aspect ratio", "Keep the picture's proportions", true),
      gst_param_spec_fraction("pixel-aspect-ratio", "Pixel aspect ratio",
                              "Of the screen; 0/1: as it says", 0, 1, G_MAXINT, 1, 0, 1,
                              kReadWrite),
      flag("handle-events", "Handle events", "Take the window's mouse and key events", true),
      flag("ignore-alpha", "Ignore alpha", "Draw transparent parts opaque", true),
      g_param_spec_object("context", "OpenGL context", "The one that draws",
                          GST_TYPE_GL_CONTEXT, kReadOnly),
      level("brightness", "Brightness", -1, 1, 0),
      level("contrast", "Contrast", 0, 2, 1),
      level("hue", "Hue", -1, 1, 0),
      level("saturation", "Saturation", 0, 2, 1),
  };
  guint id = 1;
  for (GParamSpec* spec : specs) g_object_class_install_property(klass, id++, spec);
}

const char* child_of_property(const GParamSpec* spec) {
  const std::string_view name = spec->name;
  for (const char* balance : kBalance)
    if (name == balance) return "balance";
  if (name == "import" || name == "stats") return "upload";
  return "sink";
}

}  // namespace dxva::gst
