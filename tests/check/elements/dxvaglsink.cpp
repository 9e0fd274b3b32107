// SPDX-License-Identifier: LGPL-2.1-or-later
// dxvaglsink as a bin: what is set on it reaches the elements inside, what an application gives
// it is used. Pictures in a window are tests/check/pipelines/sink.py.

#include <gst/check/gstharness.h>
#include <gst/gl/gl.h>
#include <gst/video/colorbalance.h>
#include <gst/video/navigation.h>
#include <gst/video/videooverlay.h>

#include <cstdlib>
#include <string>

#include "gst/common/gst_ptr.hpp"
#include "gst/dxvagl/gstdxvaglsink.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_rig.hpp"

using dxva::gst::GstPtr;

namespace {

GstPtr<GstElement> make_sink() {
  return GstPtr<GstElement>::adopt(
      GST_ELEMENT(gst_object_ref_sink(g_object_new(GST_TYPE_DXVA_GL_SINK, nullptr))));
}

GstPtr<GstElement> child(const GstPtr<GstElement>& bin, const char* name) {
  auto out = GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(bin.get()), name));
  ck_assert_msg(static_cast<bool>(out), "no child %s", name);
  return out;
}

// --- a sink that writes down what is asked of it

struct Asked {
  guintptr window = 0;
  std::string rectangle;
  int exposed = 0;
  gboolean events = FALSE;
  GstPtr<GstEvent> navigation;
};
Asked asked;

void init_overlay(gpointer iface, gpointer) {
  auto* overlay = static_cast<GstVideoOverlayInterface*>(iface);
  overlay->expose = [](GstVideoOverlay*) { ++asked.exposed; };
  overlay->handle_events = [](GstVideoOverlay*, gboolean on) { asked.events = on; };
  overlay->set_window_handle = [](GstVideoOverlay*, guintptr window) { asked.window = window; };
  overlay->set_render_rectangle = [](GstVideoOverlay*, gint x, gint y, gint w, gint h) {
    asked.rectangle = std::to_string(x) + " " + std::to_string(y) + " " + std::to_string(w) +
                      " " + std::to_string(h);
  };
}

void init_navigation(gpointer iface, gpointer) {
  static_cast<GstNavigationInterface*>(iface)->send_event_simple = [](GstNavigation*,
                                                                      GstEvent* event) {
    asked.navigation = GstPtr<GstEvent>::adopt(event);
  };
}

GType recording_sink_type() {
  static const GType type = [] {
    const GTypeInfo info = {.class_size = sizeof(GstElementClass),
                            .instance_size = sizeof(GstElement)};
    const GType made = g_type_register_static(GST_TYPE_ELEMENT, "DxvaTestRecordingSink", &info,
                                              static_cast<GTypeFlags>(0));
    const GInterfaceInfo overlay = {init_overlay, nullptr, nullptr};
    g_type_add_interface_static(made, GST_TYPE_VIDEO_OVERLAY, &overlay);
    const GInterfaceInfo navigation = {init_navigation, nullptr, nullptr};
    g_type_add_interface_static(made, GST_TYPE_NAVIGATION, &navigation);
    return made;
  }();
  return type;
}

void replace_sink(const GstPtr<GstElement>& bin) {
  ck_assert(gst_bin_remove(GST_BIN(bin.get()), child(bin, "sink").get()));
  ck_assert(
      gst_bin_add(GST_BIN(bin.get()),
                  GST_ELEMENT(g_object_new(recording_sink_type(), "name", "sink", nullptr))));
  asked = {};
}

}  // namespace

GST_START_TEST(properties_reach_the_elements_inside) {
  const auto bin = make_sink();
  g_object_set(bin.get(), "sync", FALSE, "max-lateness", gint64{-1}, "enable-last-sample",
               FALSE, "force-aspect-ratio", FALSE, "ts-offset", gint64{-7}, "contrast", 1.5,
               nullptr);
  gst_util_set_object_arg(G_OBJECT(bin.get()), "import", "copy");
  gboolean sync = TRUE, last = TRUE, aspect = TRUE;
  gint64 lateness = 0, offset = 0;
  g_object_get(child(bin, "sink").get(), "sync", &sync, "max-lateness", &lateness,
               "enable-last-sample", &last, "force-aspect-ratio", &aspect, "ts-offset", &offset,
               nullptr);
  ck_assert(!sync && !last && !aspect);
  ck_assert(lateness == -1 && offset == -7);
  double contrast = 0;
  g_object_get(child(bin, "balance").get(), "contrast", &contrast, nullptr);
  ck_assert(contrast == 1.5);
  gint import = 0, shown = 0;
  g_object_get(child(bin, "upload").get(), "import", &import, nullptr);
  g_object_get(bin.get(), "import", &shown, nullptr);
  ck_assert(import == 3 && shown == 3);
}
GST_END_TEST

GST_START_TEST(defaults_are_those_of_the_elements_inside) {
  const auto bin = make_sink();
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(bin.get()), &count);
  guint compared = 0;
  for (guint i = 0; i < count; ++i) {
    if (specs[i]->owner_type != GST_TYPE_DXVA_GL_SINK) continue;
    for (const char* name : {"sink", "balance", "upload"}) {
      const auto element = child(bin, name);
      GParamSpec* theirs =
          g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), specs[i]->name);
      if (!theirs || theirs->value_type != specs[i]->value_type) continue;
      if (!(theirs->flags & G_PARAM_READABLE)) continue;
      // Some classes start with another value than their specification says.
      GValue value = G_VALUE_INIT;
      g_value_init(&value, theirs->value_type);
      g_object_get_property(G_OBJECT(element.get()), theirs->name, &value);
      ck_assert_msg(
          g_param_values_cmp(theirs, &value, g_param_spec_get_default_value(specs[i])) == 0 ||
              (specs[i]->flags & G_PARAM_WRITABLE) == 0,
          "another default for %s", specs[i]->name);
      g_value_unset(&value);
      ++compared;
      break;
    }
  }
  g_free(specs);
  ck_assert_msg(compared >= 19, "only %u properties were found inside", compared);
}
GST_END_TEST

GST_START_TEST(overlay_calls_reach_the_sink_inside) {
  const auto bin = make_sink();
  replace_sink(bin);
  auto* overlay = GST_VIDEO_OVERLAY(bin.get());
  gst_video_overlay_set_window_handle(overlay, 4711);
  gst_video_overlay_expose(overlay);
  gst_video_overlay_handle_events(overlay, TRUE);
  ck_assert(gst_video_overlay_set_render_rectangle(overlay, 1, 2, 30, 40));
  ck_assert(asked.window == 4711);
  ck_assert(asked.exposed == 1);
  ck_assert(asked.events == TRUE);
  ck_assert_str_eq(asked.rectangle.c_str(), "1 2 30 40");
  gst_util_set_object_arg(G_OBJECT(bin.get()), "render-rectangle", "<5, 6, 70, 80>");
  ck_assert_str_eq(asked.rectangle.c_str(), "5 6 70 80");
}
GST_END_TEST

GST_START_TEST(navigation_events_reach_the_sink_inside) {
  const auto bin = make_sink();
  replace_sink(bin);
  gst_navigation_send_event_simple(
      GST_NAVIGATION(bin.get()),
      gst_navigation_event_new_key_press("a", GST_NAVIGATION_MODIFIER_NONE));
  const char* key = nullptr;
  ck_assert(asked.navigation &&
            gst_navigation_event_parse_key_event(asked.navigation.get(), &key));
  ck_assert_str_eq(key, "a");
  asked = {};
}
GST_END_TEST

GST_START_TEST(colour_balance_is_the_one_on_the_gpu) {
  const auto bin = make_sink();
  auto* balance = GST_COLOR_BALANCE(bin.get());
  ck_assert(gst_color_balance_get_balance_type(balance) == GST_COLOR_BALANCE_HARDWARE);
  const GList* channels = gst_color_balance_list_channels(balance);
  ck_assert(g_list_length(const_cast<GList*>(channels)) == 4);
  for (const GList* each = channels; each; each = each->next) {
    auto* channel = static_cast<GstColorBalanceChannel*>(each->data);
    if (!g_strrstr(channel->label, "BRIGHT")) continue;
    gst_color_balance_set_value(balance, channel, channel->max_value);
    ck_assert(gst_color_balance_get_value(balance, channel) == channel->max_value);
    double brightness = 0;
    g_object_get(bin.get(), "brightness", &brightness, nullptr);
    ck_assert(brightness == 1.0);
    return;
  }
  ck_abort_msg("no channel for brightness");
}
GST_END_TEST

GST_START_TEST(an_applications_opengl_display_is_used) {
  auto pipeline = GstPtr<GstElement>::adopt(gst_pipeline_new(nullptr));
  const auto bin = make_sink();
  ck_assert(gst_bin_add(GST_BIN(pipeline.get()), GstPtr<GstElement>(bin).release()));
  const auto display = GstPtr<GstGLDisplay>::adopt(gst_gl_display_new());
  const auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline.get()));
  gst_bus_set_sync_handler(
      bus.get(),
      [](GstBus*, GstMessage* message, gpointer data) {
        const char* type = nullptr;
        if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_NEED_CONTEXT &&
            gst_message_parse_context_type(message, &type) &&
            g_strcmp0(type, GST_GL_DISPLAY_CONTEXT_TYPE) == 0) {
          auto context =
              GstPtr<GstContext>::adopt(gst_context_new(GST_GL_DISPLAY_CONTEXT_TYPE, TRUE));
          gst_context_set_gl_display(context.get(), static_cast<GstGLDisplay*>(data));
          gst_element_set_context(GST_ELEMENT(GST_MESSAGE_SRC(message)), context.get());
        }
        return GST_BUS_PASS;
      },
      display.get(), nullptr);
  ck_assert(gst_element_set_state(pipeline.get(), GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS);
  const auto context = GstPtr<GstContext>::adopt(
      gst_element_get_context(child(bin, "upload").get(), GST_GL_DISPLAY_CONTEXT_TYPE));
  ck_assert(static_cast<bool>(context));
  GstGLDisplay* used = nullptr;
  ck_assert(gst_context_get_gl_display(context.get(), &used));
  ck_assert(used == display.get());
  gst_object_unref(used);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}
GST_END_TEST

// What an application draws with: textures of the sink's can be used in it.
GST_START_TEST(an_applications_opengl_context_is_shared) {
  const auto display = GstPtr<GstGLDisplay>::adopt(gst_gl_display_new());
  GstGLContext* made = nullptr;
  GST_OBJECT_LOCK(display.get());
  const gboolean created =
      gst_gl_display_create_context(display.get(), nullptr, &made, nullptr);
  GST_OBJECT_UNLOCK(display.get());
  ck_assert(created);
  const auto app = GstPtr<GstGLContext>::adopt(made);
  struct Given {
    GstGLDisplay* display;
    GstGLContext* app;
  } ours = {display.get(), app.get()};

  const auto bin = make_sink();
  g_object_set(bin.get(), "sync", FALSE, nullptr);
  auto pipeline = GstPtr<GstElement>::adopt(gst_parse_launch(
      "videotestsrc num-buffers=2 ! video/x-raw,format=NV12,width=64,height=48 ! queue name=q",
      nullptr));
  ck_assert(gst_bin_add(GST_BIN(pipeline.get()), GstPtr<GstElement>(bin).release()));
  ck_assert(gst_element_link(child(pipeline, "q").get(), bin.get()));
  const auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline.get()));
  gst_bus_set_sync_handler(
      bus.get(),
      [](GstBus*, GstMessage* message, gpointer data) {
        const auto& given = *static_cast<Given*>(data);
        const char* type = nullptr;
        if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_NEED_CONTEXT ||
            !gst_message_parse_context_type(message, &type))
          return GST_BUS_PASS;
        auto context = GstPtr<GstContext>::adopt(gst_context_new(type, TRUE));
        if (g_strcmp0(type, GST_GL_DISPLAY_CONTEXT_TYPE) == 0)
          gst_context_set_gl_display(context.get(), given.display);
        else if (g_strcmp0(type, "gst.gl.app_context") == 0)
          gst_structure_set(gst_context_writable_structure(context.get()), "context",
                            GST_TYPE_GL_CONTEXT, given.app, nullptr);
        else
          return GST_BUS_PASS;
        gst_element_set_context(GST_ELEMENT(GST_MESSAGE_SRC(message)), context.get());
        return GST_BUS_PASS;
      },
      &ours, nullptr);
  ck_assert(gst_element_set_state(pipeline.get(), GST_STATE_PLAYING) !=
            GST_STATE_CHANGE_FAILURE);
  const auto end = GstPtr<GstMessage>::adopt(gst_bus_timed_pop_filtered(
      bus.get(), 60 * GST_SECOND,
      static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  ck_assert(end && GST_MESSAGE_TYPE(end.get()) == GST_MESSAGE_EOS);
  GstGLContext* used = nullptr;
  g_object_get(bin.get(), "context", &used, nullptr);
  ck_assert(used && used != app.get());
  ck_assert(gst_gl_context_can_share(used, app.get()));
  gst_object_unref(used);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}
GST_END_TEST

GST_START_TEST(frames_are_shown_and_counted) {
  const auto bin = make_sink();
  g_object_set(bin.get(), "sync", FALSE, nullptr);
  auto pipeline = GstPtr<GstElement>::adopt(gst_parse_launch(
      "videotestsrc num-buffers=5 ! video/x-raw,format=NV12,width=64,height=48 ! queue name=q",
      nullptr));
  ck_assert(gst_bin_add(GST_BIN(pipeline.get()), GstPtr<GstElement>(bin).release()));
  const auto queue = child(pipeline, "q");
  ck_assert(gst_element_link(queue.get(), bin.get()));
  ck_assert(gst_element_set_state(pipeline.get(), GST_STATE_PLAYING) !=
            GST_STATE_CHANGE_FAILURE);
  const auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline.get()));
  const auto end = GstPtr<GstMessage>::adopt(gst_bus_timed_pop_filtered(
      bus.get(), 60 * GST_SECOND,
      static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  ck_assert(end && GST_MESSAGE_TYPE(end.get()) == GST_MESSAGE_EOS);
  GstStructure* stats = nullptr;
  GstSample* raw = nullptr;
  GstGLContext* context = nullptr;
  g_object_get(bin.get(), "stats", &stats, "last-sample", &raw, "context", &context, nullptr);
  guint64 frames = 0;
  ck_assert(gst_structure_get_uint64(stats, "frames", &frames) && frames == 5);
  gst_structure_free(stats);
  const auto sample = GstPtr<GstSample>::adopt(raw);
  ck_assert(sample && gst_sample_get_buffer(sample.get()));
  ck_assert(context && gst_gl_context_get_gl_platform(context) == GST_GL_PLATFORM_EGL);
  gst_object_unref(context);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}
GST_END_TEST

// glcolorconvert of GStreamer 1.22 is off by up to 25 here.
GST_START_TEST(colours_of_full_range_are_right) {
  const auto bin = make_sink();
  g_object_set(bin.get(), "sync", FALSE, nullptr);
  GstHarness* harness = gst_harness_new_with_element(bin.get(), "sink", nullptr);
  gst_harness_set_src_caps_str(harness,
                               "video/x-raw,format=NV12,width=32,height=16,framerate=25/1,"
                               "colorimetry=(string)1:3:5:1");  // BT.709, full range
  const int y = 110, cb = 90, cr = 180;
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, 32 * 16 * 3 / 2, nullptr);
  gst_buffer_memset(buffer, 0, y, 32 * 16);
  for (gsize i = 32 * 16; i < 32 * 16 * 3 / 2; ++i)
    gst_buffer_memset(buffer, i, static_cast<guint8>(i % 2 ? cr : cb), 1);
  ck_assert(gst_harness_push(harness, buffer) == GST_FLOW_OK);
  GstSample* raw = nullptr;
  g_object_get(bin.get(), "last-sample", &raw, nullptr);
  const auto sample = GstPtr<GstSample>::adopt(raw);
  ck_assert(static_cast<bool>(sample));
  GstVideoInfo info;
  GstVideoFrame frame;
  ck_assert(gst_video_info_from_caps(&info, gst_sample_get_caps(sample.get())));
  ck_assert_str_eq(GST_VIDEO_INFO_NAME(&info), "RGBA");
  ck_assert(
      gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample.get()), GST_MAP_READ));
  const auto* pixel = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
  // ITU-R BT.709 3.2 and 3.3 without the studio swing
  const double red = y + 1.5748 * (cr - 128);
  const double green = y - 0.18732 * (cb - 128) - 0.46812 * (cr - 128);
  const double blue = y + 1.8556 * (cb - 128);
  for (const auto& [got, right] :
       {std::pair<int, double>{pixel[0], red}, {pixel[1], green}, {pixel[2], blue}})
    ck_assert_msg(got - right < 1.5 && right - got < 1.5, "%d is not %.1f", got, right);
  gst_video_frame_unmap(&frame);
  gst_harness_teardown(harness);
}
GST_END_TEST

int main(int argc, char** argv) {
  if (!dxva::test::set_up_gl_rig(&argc, &argv)) return 77;
  const auto factory =
      GstPtr<GstElementFactory>::adopt(gst_element_factory_find("glimagesinkelement"));
  if (!factory) {
    std::printf("# SKIP GStreamer's plugin \"opengl\" is not installed\n");
    return 77;
  }
  Suite* suite = suite_create("dxvaglsink");
  TCase* cases = tcase_create("general");
  tcase_set_timeout(cases, 120);
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, properties_reach_the_elements_inside);
  tcase_add_test(cases, defaults_are_those_of_the_elements_inside);
  tcase_add_test(cases, overlay_calls_reach_the_sink_inside);
  tcase_add_test(cases, navigation_events_reach_the_sink_inside);
  tcase_add_test(cases, colour_balance_is_the_one_on_the_gpu);
  tcase_add_test(cases, an_applications_opengl_display_is_used);
  tcase_add_test(cases, an_applications_opengl_context_is_shared);
  tcase_add_test(cases, frames_are_shown_and_counted);
  tcase_add_test(cases, colours_of_full_range_are_right);
  return gst_check_run_suite(suite, "dxvaglsink", __FILE__);
}
