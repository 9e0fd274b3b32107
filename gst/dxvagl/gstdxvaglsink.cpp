// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-dxvaglsink
 *
 * Shows video with OpenGL: dxvaglupload, colour conversion, colour balance and glimagesink's
 * own sink in one element, for playbin. Described in docs/plugins/dxvaglsink.md.
 *
 * |[
 * gst-play-1.0 --videosink=dxvaglsink clip.mp4
 * ]|
 */
#include "gst/dxvagl/gstdxvaglsink.hpp"

#include <gst/gl/gl.h>
#include <gst/pbutils/missing-plugins.h>
#include <gst/video/videooverlay.h>

#include <array>
#include <utility>

#include "gst/common/gst_ptr.hpp"
#include "gst/dxvagl/caps.hpp"
#include "gst/dxvagl/gstdxvaglupload.hpp"
#include "gst/dxvagl/sink_interfaces.hpp"
#include "gst/dxvagl/sink_properties.hpp"
#include "gst/dxvagl/x11_egl.hpp"
#include "lib/base/translation.hpp"

using dxva::gst::GstPtr;

struct _GstDxvaGlSink {
  GstBin parent;
};

static void add_interfaces(GType type) {
  dxva::gst::add_sink_interfaces(type);
}

G_DEFINE_FINAL_TYPE_WITH_CODE(GstDxvaGlSink, gst_dxva_gl_sink, GST_TYPE_BIN,
                              add_interfaces(g_define_type_id))

namespace {

enum Property : guint { kImport = 100, kStats, kOverlay };

// By name each time, because a bin's children can be exchanged. Null: not installed.
GstPtr<GstElement> child(GstDxvaGlSink* self, const char* name) {
  return GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(self), name));
}

// Sinks differ from version to version.
bool has(const GstPtr<GstElement>& element, const char* property) {
  return element && g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), property);
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  if (id >= kOverlay) {
    if (!gst_video_overlay_set_property(object, kOverlay, id, value))
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    return;
  }
  const auto owner = child(GST_DXVA_GL_SINK(object), dxva::gst::child_of_property(spec));
  if (has(owner, spec->name)) g_object_set_property(G_OBJECT(owner.get()), spec->name, value);
}

void get_property(GObject* object, guint, GValue* value, GParamSpec* spec) {
  const auto owner = child(GST_DXVA_GL_SINK(object), dxva::gst::child_of_property(spec));
  if (has(owner, spec->name))
    g_object_get_property(G_OBJECT(owner.get()), spec->name, value);
  else
    g_param_value_set_default(spec, value);
}

// The parts that are GStreamer's own, behind the uploader.
constexpr std::array<std::pair<const char*, const char*>, 3> kOthers = {
    {{"convert", "glcolorconvert"},
     {"balance", "glcolorbalance"},
     {"sink", "glimagesinkelement"}}};

// Names the element that is missing, so that an application can offer to install it.
bool complete(GstDxvaGlSink* self) {
  for (const auto& [name, factory] : kOthers) {
    if (child(self, name)) continue;
    gst_element_post_message(GST_ELEMENT(self),
                             gst_missing_element_message_new(GST_ELEMENT(self), factory));
    GST_ELEMENT_ERROR(
        self, CORE, MISSING_PLUGIN,
        (_("The element %s is not installed (GStreamer's plugin \"opengl\")."), factory),
        (nullptr));
    return false;
  }
  return true;
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && !complete(GST_DXVA_GL_SINK(element)))
    return GST_STATE_CHANGE_FAILURE;
  return GST_ELEMENT_CLASS(gst_dxva_gl_sink_parent_class)->change_state(element, transition);
}

bool wants_gl_display(GstMessage* message) {
  const char* type = nullptr;
  return GST_MESSAGE_TYPE(message) == GST_MESSAGE_NEED_CONTEXT &&
         gst_message_parse_context_type(message, &type) &&
         g_strcmp0(type, GST_GL_DISPLAY_CONTEXT_TYPE) == 0;
}

// A child looks for a GL display. Whoever is outside is asked first: an application's answer
// comes while the message is on its way. Without one, and before GstGL takes GLX because it is
// the first on its list, the display is ours.
void handle_message(GstBin* bin, GstMessage* message) {
  const bool wanted = wants_gl_display(message);
  GST_BIN_CLASS(gst_dxva_gl_sink_parent_class)->handle_message(bin, message);
  if (!wanted) return;
  GstElement* element = GST_ELEMENT(bin);
  if (GstPtr<GstContext>::adopt(gst_element_get_context(element, GST_GL_DISPLAY_CONTEXT_TYPE)))
    return;
  const auto display = dxva::gst::x11_display_with_egl();
  if (!display) return;
  auto context = GstPtr<GstContext>::adopt(gst_context_new(GST_GL_DISPLAY_CONTEXT_TYPE, TRUE));
  gst_context_set_gl_display(context.get(), display.get());
  gst_element_set_context(element, context.get());
  gst_element_post_message(
      element, gst_message_new_have_context(GST_OBJECT(element), context.release()));
}

}  // namespace

static void gst_dxva_gl_sink_init(GstDxvaGlSink* self) {
  gst_bin_set_suppressed_flags(
      GST_BIN(self),
      static_cast<GstElementFlags>(GST_ELEMENT_FLAG_SOURCE | GST_ELEMENT_FLAG_SINK));
  GST_OBJECT_FLAG_SET(self, GST_ELEMENT_FLAG_SINK);

  // The bin takes the floating references.
  // The window is RGB in the end. Our shader's is within a level of the right one;
  // glcolorconvert of GStreamer 1.22 is off by up to 25 for full range and BT.2020.
  auto* last = GST_ELEMENT(
      g_object_new(GST_TYPE_DXVA_GL_UPLOAD, "name", "upload", "prefer-rgb", TRUE, nullptr));
  const auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(last, "sink"));
  gst_bin_add(GST_BIN(self), last);
  for (const auto& [name, factory] : kOthers) {
    GstElement* element = gst_element_factory_make(factory, name);
    if (!element) break;  // NULL→READY says so
    gst_bin_add(GST_BIN(self), element);
    gst_element_link(last, element);
    last = element;
  }

  GstPadTemplate* form =
      gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(self), "sink");
  gst_element_add_pad(GST_ELEMENT(self),
                      gst_ghost_pad_new_from_template("sink", pad.get(), form));
}

static void gst_dxva_gl_sink_class_init(GstDxvaGlSinkClass* klass) {
  auto* object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  dxva::gst::install_child_properties(object);
  // Our own element's class may be looked into.
  auto* upload = G_OBJECT_CLASS(g_type_class_ref(GST_TYPE_DXVA_GL_UPLOAD));
  GParamSpec* import = g_object_class_find_property(upload, "import");
  g_object_class_install_property(
      object, kImport,
      g_param_spec_enum("import", "Import", g_param_spec_get_blurb(import), import->value_type,
                        g_value_get_enum(g_param_spec_get_default_value(import)),
                        static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                 GST_PARAM_MUTABLE_PLAYING)));
  g_type_class_unref(upload);
  g_object_class_install_property(
      object, kStats,
      g_param_spec_boxed("stats", "Statistics", "Those of the uploader inside",
                         GST_TYPE_STRUCTURE,
                         static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
  gst_video_overlay_install_properties(object, kOverlay);

  auto* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element, "DXVA OpenGL video sink", "Sink/Video",
                                        "Shows decoded video with OpenGL, without a copy where "
                                        "the machine allows it",
                                        "The gst-dxva authors");
  gst_element_class_add_pad_template(element, dxva::gst::sink_template());
  element->change_state = change_state;
  GST_BIN_CLASS(klass)->handle_message = handle_message;
}
