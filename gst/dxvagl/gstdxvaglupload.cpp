// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-dxvaglupload
 *
 * Makes OpenGL textures of video frames: dma-bufs are imported without a copy where the driver
 * allows it, everything else is uploaded. Described in docs/plugins/dxvaglupload.md.
 *
 * |[
 * gst-launch-1.0 filesrc location=clip.mp4 ! qtdemux ! h264parse ! dxvadec ! dxvaglupload !
 *   glcolorconvert ! glimagesinkelement
 * ]|
 */
#include "gst/dxvagl/gstdxvaglupload.hpp"

#include "gst/common/context_query.hpp"
#include "gst/common/gl_device_context.hpp"
#include "gst/common/spare_memory.hpp"
#include "gst/dxvagl/caps.hpp"
#include "gst/dxvagl/gl_upload.hpp"

using dxva::gst::GlUpload;
using dxva::gst::ImportMode;

struct _GstDxvaGlUpload {
  GstGLBaseFilter parent;
  GlUpload* impl;  // born in init, deleted in finalize
};

G_DEFINE_FINAL_TYPE(GstDxvaGlUpload, gst_dxva_gl_upload, GST_TYPE_GL_BASE_FILTER)

namespace {

enum Property : guint { kImport = 1, kPreferRgb, kStats, kVerify };

GlUpload& impl(gpointer element) {
  // Nobody else has these functions; the check of a cast costs as much as what they do.
  return *static_cast<GstDxvaGlUpload*>(element)->impl;
}

GType import_mode_type() {
  static const GType type = [] {
    static const GEnumValue values[] = {
        {static_cast<gint>(ImportMode::Auto), "The best way that works, frame by frame",
         "auto"},
        {static_cast<gint>(ImportMode::Egl), "EGLImage, else a copy", "egl"},
        {static_cast<gint>(ImportMode::MemoryObject),
         "GL_EXT_memory_object_fd for opaque memory, else a copy", "memory-object"},
        {static_cast<gint>(ImportMode::Copy), "Copy every frame", "copy"},
        {0, nullptr, nullptr},
    };
    return g_enum_register_static("GstDxvaGlUploadImport", values);
  }();
  return type;
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  if (id == kImport)
    impl(object).set_import(static_cast<ImportMode>(g_value_get_enum(value)));
  else if (id == kVerify)
    impl(object).set_verify(g_value_get_boolean(value));
  else if (id == kPreferRgb)
    impl(object).set_prefer_rgb(g_value_get_boolean(value));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  if (id == kImport)
    g_value_set_enum(value, static_cast<gint>(impl(object).import()));
  else if (id == kVerify)
    g_value_set_boolean(value, impl(object).verify());
  else if (id == kPreferRgb)
    g_value_set_boolean(value, impl(object).prefer_rgb());
  else if (id == kStats)
    g_value_take_boxed(value, impl(object).stats().release());
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

GstCaps* on_transform_caps(GstBaseTransform* element, GstPadDirection direction, GstCaps* caps,
                           GstCaps* filter) {
  auto out = impl(element).transform_caps(direction, caps, filter);
  if (!filter) return out.release();
  return gst_caps_intersect_full(filter, out.get(), GST_CAPS_INTERSECT_FIRST);
}

GstCaps* on_fixate_caps(GstBaseTransform* element, GstPadDirection direction, GstCaps* caps,
                        GstCaps* othercaps) {
  auto other = dxva::gst::GstPtr<GstCaps>::adopt(othercaps);
  if (direction == GST_PAD_SRC || gst_caps_is_empty(other.get()))
    return gst_caps_fixate(other.release());
  return dxva::gst::fixate_output(
             caps, std::move(other), impl(element).offers(),
             impl(element).prefer_rgb() ? dxva::gst::PreferRgb::Yes : dxva::gst::PreferRgb::No)
      .release();
}

// What this element takes does not depend on the caps that it has: a decoder asks before it
// chooses them. GstBaseTransform leaves such an early query as it is and says TRUE (1.22
// to 1.26), which reads as "no GstVideoMeta", and every padded surface would be copied.
gboolean on_query(GstBaseTransform* element, GstPadDirection direction, GstQuery* query) {
  if (direction == GST_PAD_SINK &&
      dxva::gst::asks_for_context(query, dxva::gst::kGlDeviceContext) &&
      impl(element).answer_device(query))
    return TRUE;
  if (direction == GST_PAD_SINK && GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION &&
      impl(element).propose_allocation(query))
    return TRUE;
  return GST_BASE_TRANSFORM_CLASS(gst_dxva_gl_upload_parent_class)
      ->query(element, direction, query);
}

gboolean on_sink_event(GstBaseTransform* element, GstEvent* event) {
  // Others further down may have some too.
  if (dxva::gst::is_spares_wanted(event))
    if (const auto session = impl(element).session()) session->releases().recall();
  return GST_BASE_TRANSFORM_CLASS(gst_dxva_gl_upload_parent_class)->sink_event(element, event);
}

gboolean on_set_caps(GstBaseTransform* element, GstCaps* in, GstCaps* out) {
  if (!impl(element).set_caps(in, out)) return FALSE;
  return GST_BASE_TRANSFORM_CLASS(gst_dxva_gl_upload_parent_class)->set_caps(element, in, out);
}

gboolean on_decide_allocation(GstBaseTransform* element, GstQuery* query) {
  const auto searching = impl(element).search();
  return GST_BASE_TRANSFORM_CLASS(gst_dxva_gl_upload_parent_class)
      ->decide_allocation(element, query);
}

gboolean on_transform_meta(GstBaseTransform* element, GstBuffer*, GstMeta* meta,
                           GstBuffer* input) {
  return impl(element).keeps_meta(meta, input);
}

gboolean on_start(GstBaseTransform* element) {
  impl(element).reset();
  if (!GST_BASE_TRANSFORM_CLASS(gst_dxva_gl_upload_parent_class)->start(element)) return FALSE;
  impl(element).begin_context();
  return TRUE;
}

gboolean on_stop(GstBaseTransform* element) {
  impl(element).end_begun_context();
  // Frames that GL has read are back with their producer before this returns.
  auto searching = impl(element).search();
  const auto session = impl(element).session();
  const gboolean ok = GST_BASE_TRANSFORM_CLASS(gst_dxva_gl_upload_parent_class)->stop(element);
  searching.unlock();
  impl(element).finish();
  if (session) session->releases().finish();
  return ok;
}

GstStateChangeReturn on_change_state(GstElement* element, GstStateChange transition) {
  // Who asks in READY, before the start or behind the stop, has a context made that
  // GstGLBaseFilter lets go of without ending what we have in it.
  std::unique_lock<std::recursive_mutex> searching;
  if (transition == GST_STATE_CHANGE_READY_TO_NULL) {
    searching = impl(element).search();
    impl(element).end_session();
  }
  return GST_ELEMENT_CLASS(gst_dxva_gl_upload_parent_class)->change_state(element, transition);
}

[[gnu::hot]] GstFlowReturn on_prepare_output_buffer(GstBaseTransform* element, GstBuffer* input,
                                                    GstBuffer** output) {
  return impl(element).prepare_output(input, output);
}

// All is done when the output is prepared.
[[gnu::hot]] GstFlowReturn on_transform(GstBaseTransform*, GstBuffer*, GstBuffer*) {
  return GST_FLOW_OK;
}

void on_set_context(GstElement* element, GstContext* context) {
  GST_ELEMENT_CLASS(gst_dxva_gl_upload_parent_class)->set_context(element, context);
  impl(element).check_begun_context();
}

void finalize(GObject* object) {
  delete GST_DXVA_GL_UPLOAD(object)->impl;
  G_OBJECT_CLASS(gst_dxva_gl_upload_parent_class)->finalize(object);
}

}  // namespace

static void gst_dxva_gl_upload_init(GstDxvaGlUpload* self) {
  self->impl = new GlUpload(*GST_GL_BASE_FILTER(self));
  gst_base_transform_set_prefer_passthrough(GST_BASE_TRANSFORM(self), FALSE);
}

static void gst_dxva_gl_upload_class_init(GstDxvaGlUploadClass* klass) {
  auto* object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  g_object_class_install_property(
      object, kImport,
      g_param_spec_enum("import", "Import", "How frames become textures", import_mode_type(),
                        static_cast<gint>(ImportMode::Auto),
                        static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                 GST_PARAM_MUTABLE_PLAYING)));
  g_object_class_install_property(
      object, kPreferRgb,
      g_param_spec_boolean("prefer-rgb", "Prefer RGB",
                           "Make RGB here of NV12 and P010 where downstream takes both", FALSE,
                           static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                    GST_PARAM_MUTABLE_READY)));
  g_object_class_install_property(
      object, kStats,
      g_param_spec_boxed("stats", "Statistics",
                         "Frames, how many took each way, and why not a better one",
                         GST_TYPE_STRUCTURE,
                         static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
  g_object_class_install_property(
      object, kVerify,
      g_param_spec_boolean("verify", "Verify",
                           "Compare the first frame of each imported layout with what the CPU "
                           "reads, and copy where they differ",
                           FALSE,
                           static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                    GST_PARAM_MUTABLE_PLAYING)));
  gst_type_mark_as_plugin_api(import_mode_type(), static_cast<GstPluginAPIFlags>(0));

  auto* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element, "DXVA OpenGL uploader", "Filter/Effect/Video",
                                        "Imports or uploads video frames into OpenGL textures",
                                        "The gst-dxva authors");
  gst_element_class_add_pad_template(element, dxva::gst::sink_template());
  gst_element_class_add_pad_template(element, dxva::gst::src_template());
  element->set_context = on_set_context;
  element->change_state = on_change_state;

  auto* transform = GST_BASE_TRANSFORM_CLASS(klass);
  transform->transform_caps = on_transform_caps;
  transform->fixate_caps = on_fixate_caps;
  transform->query = on_query;
  transform->sink_event = on_sink_event;
  transform->set_caps = on_set_caps;
  transform->decide_allocation = on_decide_allocation;
  transform->transform_meta = on_transform_meta;
  transform->start = on_start;
  transform->stop = on_stop;
  transform->prepare_output_buffer = on_prepare_output_buffer;
  transform->transform = on_transform;
  transform->get_unit_size = [](GstBaseTransform*, GstCaps* caps, gsize* size) -> gboolean {
    const auto format = dxva::gst::parse_input(caps);
    *size = format ? GST_VIDEO_INFO_SIZE(&format->info) : 0;
    return TRUE;
  };

  auto* filter = GST_GL_BASE_FILTER_CLASS(klass);
  filter->supported_gl_api =
      static_cast<GstGLAPI>(GST_GL_API_OPENGL | GST_GL_API_OPENGL3 | GST_GL_API_GLES2);
  filter->gl_start = [](GstGLBaseFilter* f) -> gboolean { return impl(f).gl_start(); };
  filter->gl_stop = [](GstGLBaseFilter* f) { impl(f).gl_stop(); };
}
