// SPDX-License-Identifier: LGPL-2.1-or-later
//
// chain DESCRIPTION: runs any pipeline whose last element is `appsink name=out` and prints
// one JSON object: the MD5 of every frame's pixels, the caps that reached each named element,
// the `stats` of those that have some, and the changes of path on the bus. dxva-play does that
// for our two elements; this is for ours beside other people's, and for theirs alone.

#include <gst/app/gstappsink.h>
#include <gst/video/video.h>
#include <json-glib/json-glib.h>

#include <cstdio>
#include <vector>

#include "gst/common/gst_ptr.hpp"

namespace {

using dxva::gst::GlibString;
using dxva::gst::GstPtr;

// Pixels without the padding between rows.
void update_with_plane(GChecksum* sum, const GstVideoFrame& frame, guint plane) {
  const GstVideoInfo& info = frame.info;
  gint components[GST_VIDEO_MAX_COMPONENTS];
  gst_video_format_info_component(info.finfo, plane, components);
  const gint width = GST_VIDEO_INFO_COMP_WIDTH(&info, components[0]) *
                     GST_VIDEO_INFO_COMP_PSTRIDE(&info, components[0]);
  const gint height = GST_VIDEO_INFO_COMP_HEIGHT(&info, components[0]);
  const auto* row = static_cast<const guchar*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane));
  for (gint y = 0; y < height; ++y, row += GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane))
    g_checksum_update(sum, row, width);
}

// What a map shows: rows of pixels, also where the caps speak of tiles ("NV12:0x7f...01").
bool info_of(GstCaps* caps, GstVideoInfo& out) {
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  const char* drm = gst_structure_get_string(structure, "drm-format");
  if (!drm) return gst_video_info_from_caps(&out, caps);
  int width = 0;
  int height = 0;
  gst_structure_get_int(structure, "width", &width);
  gst_structure_get_int(structure, "height", &height);
  const bool deep = g_str_has_prefix(drm, "P010");
  return (deep || g_str_has_prefix(drm, "NV12")) &&
         gst_video_info_set_format(&out,
                                   deep ? GST_VIDEO_FORMAT_P010_10LE : GST_VIDEO_FORMAT_NV12,
                                   static_cast<guint>(width), static_cast<guint>(height));
}

void print_frame(GstSample* sample, JsonBuilder* out) {
  GstVideoInfo info;
  GstVideoFrame frame;
  if (!info_of(gst_sample_get_caps(sample), info) ||
      !gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ)) {
    json_builder_add_string_value(out, "cannot be mapped");
    return;
  }
  GChecksum* sum = g_checksum_new(G_CHECKSUM_MD5);
  for (guint plane = 0; plane < GST_VIDEO_FRAME_N_PLANES(&frame); ++plane)
    update_with_plane(sum, frame, plane);
  json_builder_add_string_value(out, g_checksum_get_string(sum));
  g_checksum_free(sum);
  gst_video_frame_unmap(&frame);
}

void print_structure(const GstStructure* structure, JsonBuilder* out) {
  json_builder_begin_object(out);
  for (gint i = 0; i < gst_structure_n_fields(structure); ++i) {
    const char* name = gst_structure_nth_field_name(structure, i);
    const GValue* value = gst_structure_get_value(structure, name);
    json_builder_set_member_name(out, name);
    if (GST_VALUE_HOLDS_STRUCTURE(value))
      print_structure(gst_value_get_structure(value), out);
    else if (G_VALUE_HOLDS_UINT64(value))
      json_builder_add_int_value(out, static_cast<gint64>(g_value_get_uint64(value)));
    else if (const GlibString text(gst_value_serialize(value)); text)
      json_builder_add_string_value(out, text.get());
    else
      json_builder_add_null_value(out);
  }
  json_builder_end_object(out);
}

void print_element(GstElement* element, JsonBuilder* out) {
  json_builder_begin_object(out);
  if (const auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(element, "sink")))
    if (const auto caps = GstPtr<GstCaps>::adopt(gst_pad_get_current_caps(pad.get()))) {
      json_builder_set_member_name(out, "caps");
      const GlibString text(gst_caps_to_string(caps.get()));
      json_builder_add_string_value(out, text.get());
    }
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), "stats")) {
    GstStructure* stats = nullptr;
    g_object_get(element, "stats", &stats, nullptr);
    if (stats) {
      json_builder_set_member_name(out, "stats");
      print_structure(stats, out);
      gst_structure_free(stats);
    }
  }
  json_builder_end_object(out);
}

void print_elements(GstBin* pipeline, JsonBuilder* out) {
  json_builder_set_member_name(out, "elements");
  json_builder_begin_object(out);
  GstIterator* all = gst_bin_iterate_elements(pipeline);
  GValue item = G_VALUE_INIT;
  while (gst_iterator_next(all, &item) == GST_ITERATOR_OK) {
    auto* element = GST_ELEMENT(g_value_get_object(&item));
    json_builder_set_member_name(out, GST_OBJECT_NAME(element));
    print_element(element, out);
    g_value_reset(&item);
  }
  gst_iterator_free(all);
  json_builder_end_object(out);
}

void print_warning(GstMessage* message, JsonBuilder* out) {
  GError* warning = nullptr;
  gst_message_parse_warning(message, &warning, nullptr);
  json_builder_add_string_value(out, warning->message);
  g_error_free(warning);
}

// The error that ended the stream, or nothing.
GlibString print_messages(GstBus* bus, JsonBuilder* out) {
  GlibString failure;
  std::vector<GstPtr<GstMessage>> warnings;
  json_builder_set_member_name(out, "path-changes");
  json_builder_begin_array(out);
  while (const auto message = GstPtr<GstMessage>::adopt(gst_bus_pop(bus))) {
    const GstStructure* structure = gst_message_get_structure(message.get());
    if (structure && gst_structure_has_name(structure, "dxva-path-changed"))
      print_structure(structure, out);
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_WARNING)
      warnings.push_back(GstPtr<GstMessage>::share(message.get()));
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR) {
      GError* error = nullptr;
      gchar* debug = nullptr;
      gst_message_parse_error(message.get(), &error, &debug);
      if (!failure)
        failure = GlibString(g_strdup_printf("%s: %s (%s)", GST_MESSAGE_SRC_NAME(message.get()),
                                             error->message, debug ? debug : ""));
      g_error_free(error);
      g_free(debug);
    }
  }
  json_builder_end_array(out);
  json_builder_set_member_name(out, "warnings");
  json_builder_begin_array(out);
  for (const auto& warning : warnings) print_warning(warning.get(), out);
  json_builder_end_array(out);
  return failure;
}

int run(const char* description) {
  GError* error = nullptr;
  const auto pipeline = GstPtr<GstElement>::adopt(
      GST_ELEMENT(gst_object_ref_sink(gst_parse_launch(description, &error))));
  if (!pipeline || error) {
    std::fprintf(stderr, "%s\n", error ? error->message : "no pipeline");
    return 2;
  }
  const auto sink =
      GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(pipeline.get()), "out"));
  const auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline.get()));
  g_object_set(sink.get(), "sync", FALSE, "max-buffers", 1u, nullptr);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);

  JsonBuilder* out = json_builder_new();
  json_builder_begin_object(out);
  json_builder_set_member_name(out, "frames");
  json_builder_begin_array(out);
  // An error flushes nothing: ask the bus between two looks.
  bool failed = false;
  while (!gst_app_sink_is_eos(GST_APP_SINK(sink.get())) && !failed) {
    if (const auto sample = GstPtr<GstSample>::adopt(
            gst_app_sink_try_pull_sample(GST_APP_SINK(sink.get()), GST_SECOND / 2)))
      print_frame(sample.get(), out);
    else if (const auto message = GstPtr<GstMessage>::adopt(
                 gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR))) {
      gst_bus_post(bus.get(), gst_message_ref(message.get()));
      failed = true;
    }
  }
  json_builder_end_array(out);
  print_elements(GST_BIN(pipeline.get()), out);
  const GlibString failure = print_messages(bus.get(), out);
  json_builder_set_member_name(out, "error");
  json_builder_add_string_value(out, failure ? failure.get() : "");
  json_builder_end_object(out);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);

  JsonNode* root = json_builder_get_root(out);
  const GlibString text(json_to_string(root, FALSE));
  std::printf("%s\n", text.get());
  json_node_unref(root);
  g_object_unref(out);
  return failure ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  if (argc != 2) {
    std::fprintf(stderr, "usage: chain DESCRIPTION\n");
    return 2;
  }
  return run(argv[1]);
}
