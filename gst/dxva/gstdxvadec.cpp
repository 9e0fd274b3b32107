// SPDX-License-Identifier: LGPL-2.1-or-later
// The element's GObject skin: properties, and one-line ways into dxva::gst::Decoder.
#include "gst/dxva/gstdxvadec.hpp"

#include <dirent.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "gst/dxva/codecs.hpp"
#include "gst/dxva/decoder.hpp"

GST_DEBUG_CATEGORY(dxvadec_debug);

using dxva::gst::Decoder;
using dxva::gst::Settings;
using dxva::gst::ZeroCopy;
using dxva::video::LayoutRule;

struct _GstDxvaDec {
  GstVideoDecoder parent;
  Decoder* impl;  // born in init, deleted in finalize
};

G_DEFINE_FINAL_TYPE_WITH_CODE(GstDxvaDec, gst_dxva_dec, GST_TYPE_VIDEO_DECODER,
                              GST_DEBUG_CATEGORY_INIT(dxvadec_debug, "dxvadec", 0,
                                                      "VA-API video decoder"))

static Decoder& impl(gpointer element) {
  return *static_cast<GstDxvaDec*>(element)->impl;
}

// --- properties

enum Property {
  PROP_DEVICE = 1,
  PROP_ZERO_COPY,
  PROP_LAYOUT,
  PROP_SOFTWARE_FALLBACK,
  PROP_LOW_LATENCY,
  PROP_EXTRA_SURFACES,
  PROP_STATS,
};

static GType zero_copy_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(ZeroCopy::Auto), "Where it works; else pictures are copied", "auto"},
      {static_cast<int>(ZeroCopy::Require), "A picture that must be copied is an error",
       "require"},
      {static_cast<int>(ZeroCopy::Off), "Always copy", "off"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstDxvaZeroCopy", values);
  return type;
}

static GType layout_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(LayoutRule::Any), "Every layout that can be described", "any"},
      {static_cast<int>(LayoutRule::TightLinear),
       "Linear, one buffer, chroma right below luma: what one tall texture can hold",
       "tight-linear"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstDxvaLayout", values);
  return type;
}

static void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  Settings settings = impl(object).settings();
  switch (id) {
    case PROP_DEVICE:
      settings.device = g_value_get_string(value) ? g_value_get_string(value) : "auto";
      break;
    case PROP_ZERO_COPY:
      settings.zero_copy = static_cast<ZeroCopy>(g_value_get_enum(value));
      break;
    case PROP_LAYOUT:
      settings.layout = static_cast<LayoutRule>(g_value_get_enum(value));
      break;
    case PROP_SOFTWARE_FALLBACK:
      settings.software_fallback = g_value_get_boolean(value);
      break;
    case PROP_LOW_LATENCY:
      settings.low_latency = g_value_get_boolean(value);
      break;
    case PROP_EXTRA_SURFACES:
      settings.extra_surfaces = g_value_get_uint(value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
      return;
  }
  impl(object).set_settings(settings);
}

static void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  const Settings settings = impl(object).settings();
  switch (id) {
    case PROP_DEVICE:
      g_value_set_string(value, settings.device.c_str());
      break;
    case PROP_ZERO_COPY:
      g_value_set_enum(value, static_cast<int>(settings.zero_copy));
      break;
    case PROP_LAYOUT:
      g_value_set_enum(value, static_cast<int>(settings.layout));
      break;
    case PROP_SOFTWARE_FALLBACK:
      g_value_set_boolean(value, settings.software_fallback);
      break;
    case PROP_LOW_LATENCY:
      g_value_set_boolean(value, settings.low_latency);
      break;
    case PROP_EXTRA_SURFACES:
      g_value_set_uint(value, settings.extra_surfaces);
      break;
    case PROP_STATS:
      g_value_take_boxed(value, impl(object).stats().release());
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

static void install_properties(GObjectClass* klass) {
  constexpr auto kFlags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                   GST_PARAM_MUTABLE_READY);
  g_object_class_install_property(
      klass, PROP_DEVICE,
      g_param_spec_string(
          "device", "Device",
          "auto, a DRM node's path, cuda or cuda:N for NVDEC, or software for the bundled "
          "driver (default from GST_DXVA_DEVICE)",
          "auto", kFlags));
  g_object_class_install_property(
      klass, PROP_ZERO_COPY,
      g_param_spec_enum("zero-copy", "Zero copy",
                        "Whether pictures leave as the surfaces they were decoded into "
                        "(GST_DXVA_ZEROCOPY=0 makes off the default)",
                        zero_copy_type(), static_cast<int>(ZeroCopy::Auto), kFlags));
  g_object_class_install_property(
      klass, PROP_LAYOUT,
      g_param_spec_enum("layout", "Layout", "Which surface layouts leave without a copy",
                        layout_type(), static_cast<int>(LayoutRule::Any), kFlags));
  g_object_class_install_property(
      klass, PROP_SOFTWARE_FALLBACK,
      g_param_spec_boolean("software-fallback", "Software fallback",
                           "Decode on the CPU what no device decodes, or when it fails; off, "
                           "the element fails instead (GST_DXVA_SOFTWARE_FALLBACK=0 makes off "
                           "the default)",
                           TRUE, kFlags));
  g_object_class_install_property(
      klass, PROP_LOW_LATENCY,
      g_param_spec_boolean("low-latency", "Low latency",
                           "Give H.264 pictures as soon as the stream seems to allow; streams "
                           "with an unannounced reorder depth lose pictures at their start",
                           FALSE, kFlags));
  g_object_class_install_property(
      klass, PROP_EXTRA_SURFACES,
      g_param_spec_uint("extra-surfaces", "Extra surfaces",
                        "How many pictures downstream may keep without a copy", 1, 64,
                        Settings::kDefaultExtraSurfaces, kFlags));
  g_object_class_install_property(
      klass, PROP_STATS,
      g_param_spec_boxed("stats", "Statistics",
                         "What left the decoder which way, and why (see the documentation)",
                         GST_TYPE_STRUCTURE,
                         static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
}

// --- life

static void finalize(GObject* object) {
  delete GST_DXVA_DEC(object)->impl;
  G_OBJECT_CLASS(gst_dxva_dec_parent_class)->finalize(object);
}

static GstStateChangeReturn change_state(GstElement* element, GstStateChange change) {
  // Not as the base class's open(), which adds an error that says nothing, and is always fatal.
  if (change == GST_STATE_CHANGE_NULL_TO_READY && !impl(element).open())
    return GST_STATE_CHANGE_FAILURE;
  // Before the parent takes the stream lock, which a wait for a surface holds.
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY) impl(element).interrupt(true);
  return GST_ELEMENT_CLASS(gst_dxva_dec_parent_class)->change_state(element, change);
}

static gboolean sink_event(GstVideoDecoder* decoder, GstEvent* event) {
  impl(decoder).before_sink_event(event);
  return GST_VIDEO_DECODER_CLASS(gst_dxva_dec_parent_class)->sink_event(decoder, event);
}

static gboolean src_event(GstVideoDecoder* decoder, GstEvent* event) {
  if (impl(decoder).take_src_event(event)) {
    gst_event_unref(event);
    return TRUE;
  }
  return GST_VIDEO_DECODER_CLASS(gst_dxva_dec_parent_class)->src_event(decoder, event);
}

static gboolean sink_query(GstVideoDecoder* decoder, GstQuery* query) {
  return impl(decoder).answer_query(query) ||
         GST_VIDEO_DECODER_CLASS(gst_dxva_dec_parent_class)->sink_query(decoder, query);
}

static gboolean src_query(GstVideoDecoder* decoder, GstQuery* query) {
  return impl(decoder).answer_query(query) ||
         GST_VIDEO_DECODER_CLASS(gst_dxva_dec_parent_class)->src_query(decoder, query);
}

// Chains up always: without a pool in the query the base class is not negotiated.
static gboolean decide_allocation(GstVideoDecoder* decoder, GstQuery* query) {
  impl(decoder).before_decide_allocation(query);
  if (!GST_VIDEO_DECODER_CLASS(gst_dxva_dec_parent_class)->decide_allocation(decoder, query))
    return FALSE;
  impl(decoder).after_decide_allocation(query);
  return TRUE;
}

static void gst_dxva_dec_class_init(GstDxvaDecClass* klass) {
  auto* object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  install_properties(object);

  auto* element = GST_ELEMENT_CLASS(klass);
  element->change_state = change_state;
  gst_element_class_set_static_metadata(
      element, "VA-API video decoder", "Codec/Decoder/Video/Hardware",
      "Decodes H.264, H.265, VP8, VP9, AV1, MPEG-2 and JPEG with VA-API; pictures leave as "
      "dma-bufs where downstream takes them",
      "The gst-dxva authors");
  GstCaps* sink = dxva::gst::sink_template_caps();
  GstCaps* src = dxva::gst::src_template_caps();
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, sink));
  GstPadTemplate* out = gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, src);
  gst_pad_template_set_documentation_caps(out, dxva::gst::src_documentation_caps());
  gst_element_class_add_pad_template(element, out);
  gst_caps_unref(sink);
  gst_caps_unref(src);

  auto* decoder = GST_VIDEO_DECODER_CLASS(klass);
  decoder->close = [](GstVideoDecoder* d) -> gboolean { return impl(d).close(); };
  decoder->start = [](GstVideoDecoder* d) -> gboolean { return impl(d).start(); };
  decoder->stop = [](GstVideoDecoder* d) -> gboolean { return impl(d).stop(); };
  decoder->flush = [](GstVideoDecoder* d) -> gboolean { return impl(d).flush(); };
  decoder->finish = [](GstVideoDecoder* d) { return impl(d).drain(); };
  decoder->drain = [](GstVideoDecoder* d) { return impl(d).drain(); };
  decoder->getcaps = [](GstVideoDecoder* d, GstCaps* filter) {
    return impl(d).sink_caps(filter);
  };
  decoder->set_format = [](GstVideoDecoder* d, GstVideoCodecState* state) -> gboolean {
    return impl(d).set_format(state);
  };
  decoder->handle_frame = [](GstVideoDecoder* d, GstVideoCodecFrame* frame) {
    return impl(d).handle_frame(frame);
  };
  decoder->sink_event = sink_event;
  decoder->src_event = src_event;
  decoder->sink_query = sink_query;
  decoder->src_query = src_query;
  decoder->decide_allocation = decide_allocation;

  gst_type_mark_as_plugin_api(zero_copy_type(), static_cast<GstPluginAPIFlags>(0));
  gst_type_mark_as_plugin_api(layout_type(), static_cast<GstPluginAPIFlags>(0));
}

// Caps that the pad refuses reach no other function of ours.
static GstPadProbeReturn before_caps(GstPad*, GstPadProbeInfo* info, gpointer self) {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS) return GST_PAD_PROBE_OK;
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  impl(self).report_unserved(caps);
  return GST_PAD_PROBE_OK;
}

static void gst_dxva_dec_init(GstDxvaDec* self) {
  auto* decoder = GST_VIDEO_DECODER(self);
  self->impl = new Decoder(*decoder);
  gst_pad_add_probe(GST_VIDEO_DECODER_SINK_PAD(decoder), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
                    before_caps, self, nullptr);
  gst_video_decoder_set_packetized(decoder, TRUE);
  gst_video_decoder_set_needs_format(decoder, TRUE);
  gst_video_decoder_set_use_default_pad_acceptcaps(decoder, TRUE);
}

// --- rank

// A look at files, no driver is loaded.
static bool has_device() {
  if (access(dxva::gst::kNvidiaNode, F_OK) == 0) return true;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/dev/dri"), closedir);
  if (!folder) return false;
  while (const dirent* entry = readdir(folder.get()))
    if (std::strncmp(entry->d_name, "renderD", 7) == 0) return true;
  return false;
}

gboolean gst_dxva_dec_register(GstPlugin* plugin) {
  // Above va's PRIMARY+1. A decoder that could only decode in software must not push avdec
  // aside, but is better than none: the last one that autoplugging tries. The plugin registers
  // the folder and the variable as dependencies, so the rank follows.
  const char* device = std::getenv("GST_DXVA_DEVICE");
  const bool useful = has_device() || (device && *device);
  const guint rank = useful ? GST_RANK_PRIMARY + 2 : GST_RANK_MARGINAL;
  return gst_element_register(plugin, "dxvadec", rank, GST_TYPE_DXVA_DEC);
}
