// SPDX-License-Identifier: LGPL-2.1-or-later

// One VADisplay for dxvadec and GStreamer's own VA elements: the GstContext
// gst.va.display.handle in both directions, with the driver's starts counted from outside.

#include <dlfcn.h>
#include <gst/gst.h>
#include <va/va.h>

#include <string>
#include <utility>

#include "gst/common/gst_ptr.hpp"
#include "lib/va/headless_display.hpp"
#include "tests/check/support/call_counts.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"

using namespace dxva;
using gst::GstPtr;

namespace {

constexpr const char* kType = "gst.va.display.handle";

// What somebody offers; null: nothing.
GstContext* offered = nullptr;
int announced = 0;
GstPtr<GstContext> announcement;

// The type that GStreamer's elements wrap a display of the application in.
GType wrapped_type() {
  void* library = ::dlopen("libgstva-1.0.so.0", RTLD_NOW | RTLD_NODELETE);
  void* get = library ? ::dlsym(library, "gst_va_display_wrapped_get_type") : nullptr;
  return get ? reinterpret_cast<GType (*)()>(get)() : 0;
}

VADisplay handle_in(const GstContext* context) {
  GstObject* object = nullptr;
  VADisplay handle = nullptr;
  if (gst_structure_get(gst_context_get_structure(context), "gst-display", GST_TYPE_OBJECT,
                        &object, nullptr)) {
    g_object_get(object, "va-display", &handle, nullptr);
    gst_object_unref(object);
  }
  return handle;
}

va::HeadlessDisplay own_display() {
  auto made = va::make_headless_display("dxvasoft");
  fail_unless(bool(made), "%s", made ? "" : made.error().describe().c_str());
  return std::move(*made);
}

GstPtr<GstContext> context(const char* field, GType type, gpointer value) {
  auto out = GstPtr<GstContext>::adopt(gst_context_new(kType, TRUE));
  gst_structure_set(gst_context_writable_structure(out.get()), field, type, value, nullptr);
  return out;
}

GstBusSyncReply as_application(GstBus*, GstMessage* message, gpointer) {
  const char* type = nullptr;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_NEED_CONTEXT && offered &&
      gst_message_parse_context_type(message, &type) && g_str_equal(type, kType))
    gst_element_set_context(GST_ELEMENT(GST_MESSAGE_SRC(message)), offered);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_HAVE_CONTEXT) {
    GstContext* told = nullptr;
    gst_message_parse_have_context(message, &told);
    const auto mine = GstPtr<GstContext>::adopt(told);
    if (gst_context_has_context_type(told, kType)) {
      ++announced;
      announcement = mine;
    }
  }
  return GST_BUS_PASS;
}

GstPadProbeReturn as_neighbour(GstPad*, GstPadProbeInfo* info, gpointer) {
  GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
  const char* type = nullptr;
  if (GST_QUERY_TYPE(query) != GST_QUERY_CONTEXT || !offered ||
      !gst_query_parse_context_type(query, &type) || !g_str_equal(type, kType))
    return GST_PAD_PROBE_OK;
  gst_query_set_context(query, offered);
  return GST_PAD_PROBE_HANDLED;
}

class Pipeline {
 public:
  explicit Pipeline(const std::string& decoders = "dxvadec name=dec ! fakesink name=sink") {
    const std::string text = test::source(test::h264_mp4()) + " ! " + decoders;
    GError* error = nullptr;
    pipeline_ = GstPtr<GstElement>::adopt(gst_parse_launch(text.c_str(), &error));
    fail_unless(pipeline_ && !error, "%s: %s", text.c_str(), error ? error->message : "");
    const auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline_.get()));
    gst_bus_set_sync_handler(bus.get(), as_application, nullptr, nullptr);
  }
  ~Pipeline() { stop(); }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  [[nodiscard]] GstPtr<GstElement> element(const char* name) const {
    return GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name));
  }
  void set(GstState state) const {
    fail_if(gst_element_set_state(pipeline_.get(), state) == GST_STATE_CHANGE_FAILURE);
  }
  void stop() const { gst_element_set_state(pipeline_.get(), GST_STATE_NULL); }
  void play_to_the_end() const {
    set(GST_STATE_PLAYING);
    const auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline_.get()));
    const auto message = GstPtr<GstMessage>::adopt(gst_bus_timed_pop_filtered(
        bus.get(), GST_CLOCK_TIME_NONE,
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
    fail_unless_equals_string(GST_MESSAGE_TYPE_NAME(message.get()), "eos");
  }
  // Pictures that came from a device, of how many there were.
  void expect_device(const char* name) const {
    GstStructure* raw = nullptr;
    g_object_get(element(name).get(), "stats", &raw, nullptr);
    const gst::StructurePtr stats(raw);
    guint64 frames = 0;
    guint64 software = 0;
    gst_structure_get_uint64(raw, "frames", &frames);
    const GstStructure* steps = gst_value_get_structure(gst_structure_get_value(raw, "steps"));
    gst_structure_get_uint64(steps, "software", &software);
    fail_unless_equals_int(frames, 60);
    fail_unless_equals_int(software, 0);
  }

 private:
  GstPtr<GstElement> pipeline_;
};

uint64_t starts() {
  return test::call_counts().driver_starts;
}

// --- taken

GST_START_TEST(display_of_the_application_is_used_and_left_alone) {
  const auto display = own_display();
  const auto given = context("va-display", G_TYPE_POINTER, display.get());
  offered = given.get();
  const uint64_t before = starts();
  {
    const Pipeline pipeline("dxvadec name=dec ! fakesink");
    pipeline.play_to_the_end();
    pipeline.expect_device("dec");
  }
  offered = nullptr;
  fail_unless_equals_int(starts() - before, 0);
  fail_unless(vaDisplayIsValid(display.get()));
  fail_unless(vaQueryVendorString(display.get()) != nullptr);
}
GST_END_TEST;

GST_START_TEST(display_object_of_libgstva_is_used_and_kept) {
  const GType type = wrapped_type();
  if (type == 0) DXVA_SKIP("no libgstva");
  const auto display = own_display();
  auto object = GstPtr<GstObject>::adopt(GST_OBJECT(gst_object_ref_sink(
      g_object_new(type, "va-display", static_cast<gpointer>(display.get()), nullptr))));
  auto given = context("gst-display", GST_TYPE_OBJECT, object.get());
  offered = given.get();
  const uint64_t before = starts();
  {
    const Pipeline pipeline;
    pipeline.play_to_the_end();
    pipeline.expect_device("dec");
    fail_unless(GST_OBJECT_REFCOUNT(object.get()) > 2, "the decoder does not hold it");
  }
  offered = nullptr;
  fail_unless_equals_int(starts() - before, 0);
  given.reset();
  announcement.reset();
  fail_unless_equals_int(GST_OBJECT_REFCOUNT(object.get()), 1);
}
GST_END_TEST;

GST_START_TEST(display_of_a_neighbour_is_used) {
  const auto display = own_display();
  const auto given = context("va-display", G_TYPE_POINTER, display.get());
  for (const char* where : {"sink", "src"}) {
    offered = nullptr;
    const Pipeline pipeline;
    const auto neighbour = std::string(where) == "sink"
                               ? pipeline.element("sink")
                               : pipeline.element("dec");  // the pad's peer is asked
    auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(neighbour.get(), "sink"));
    if (std::string(where) == "src") pad = GstPtr<GstPad>::adopt(gst_pad_get_peer(pad.get()));
    const auto bus = GstPtr<GstBus>::adopt(
        gst_element_get_bus(GST_ELEMENT(GST_OBJECT_PARENT(pipeline.element("dec").get()))));
    gst_bus_set_sync_handler(bus.get(), nullptr, nullptr, nullptr);  // the application has none
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_QUERY_BOTH, as_neighbour, nullptr, nullptr);
    offered = given.get();
    const uint64_t before = starts();
    pipeline.play_to_the_end();
    pipeline.expect_device("dec");
    fail_unless_equals_int(starts() - before, 0);
    offered = nullptr;
  }
}
GST_END_TEST;

GST_START_TEST(what_holds_no_display_is_ignored) {
  const Pipeline other;
  const auto nothing = GstPtr<GstContext>::adopt(gst_context_new(kType, TRUE));
  const auto null = context("va-display", G_TYPE_POINTER, nullptr);
  const auto stranger = context("gst-display", GST_TYPE_OBJECT, other.element("dec").get());
  for (GstContext* wrong : {nothing.get(), null.get(), stranger.get()}) {
    offered = wrong;
    const uint64_t before = starts();
    const Pipeline pipeline;
    pipeline.play_to_the_end();
    pipeline.expect_device("dec");
    fail_unless_equals_int(starts() - before, 1);
    offered = nullptr;
    announcement.reset();
  }
}
GST_END_TEST;

// --- given

GST_START_TEST(our_display_is_announced_and_found_from_both_sides) {
  if (wrapped_type() == 0) DXVA_SKIP("no libgstva");
  announced = 0;
  const Pipeline pipeline;
  pipeline.set(GST_STATE_PAUSED);
  fail_unless_equals_int(announced, 1);
  const VADisplay told = handle_in(announcement.get());
  fail_unless(told && vaDisplayIsValid(told));
  fail_if(gst_context_is_persistent(announcement.get()));
  for (const char* name : {"src", "sink"}) {
    const auto pad =
        GstPtr<GstPad>::adopt(gst_element_get_static_pad(pipeline.element("dec").get(), name));
    const auto query = GstPtr<GstQuery>::adopt(gst_query_new_context(kType));
    fail_unless(gst_pad_query(pad.get(), query.get()));
    GstContext* found = nullptr;
    gst_query_parse_context(query.get(), &found);
    fail_unless(found && handle_in(found) == told);
  }
}
GST_END_TEST;

GST_START_TEST(whoever_took_our_display_keeps_it_and_the_last_one_stops_it) {
  if (wrapped_type() == 0) DXVA_SKIP("no libgstva");
  const uint64_t before = starts();
  VADisplay handle = nullptr;
  {
    const Pipeline pipeline;
    pipeline.play_to_the_end();
    handle = handle_in(announcement.get());
  }
  fail_unless(handle && vaDisplayIsValid(handle));
  {
    // Held by the context alone, it is found again and not started anew.
    const Pipeline pipeline;
    pipeline.set(GST_STATE_PAUSED);
    fail_unless_equals_int(starts() - before, 1);
  }
  announcement.reset();
  const Pipeline pipeline;
  pipeline.set(GST_STATE_PAUSED);
  fail_unless_equals_int(starts() - before, 2);
  announcement.reset();
}
GST_END_TEST;

GST_START_TEST(two_decoders_and_whoever_shares_with_them_start_one_driver) {
  const uint64_t before = starts();
  const Pipeline pipeline(
      "tee name=t ! queue ! dxvadec name=one ! fakesink t. ! queue ! "
      "dxvadec name=other ! fakesink");
  pipeline.play_to_the_end();
  pipeline.expect_device("one");
  pipeline.expect_device("other");
  fail_unless_equals_int(starts() - before, 1);
}
GST_END_TEST;

Suite* va_sharing_suite() {
  Suite* suite = suite_create("va_sharing");
  TCase* tcase = tcase_create("general");
  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, display_of_the_application_is_used_and_left_alone);
  tcase_add_test(tcase, display_object_of_libgstva_is_used_and_kept);
  tcase_add_test(tcase, display_of_a_neighbour_is_used);
  tcase_add_test(tcase, what_holds_no_display_is_ignored);
  tcase_add_test(tcase, our_display_is_announced_and_found_from_both_sides);
  tcase_add_test(tcase, whoever_took_our_display_keeps_it_and_the_last_one_stops_it);
  tcase_add_test(tcase, two_decoders_and_whoever_shares_with_them_start_one_driver);
  return suite;
}

}  // namespace

int main(int argc, char** argv) {
  if (!test::set_up_decode_rig(&argc, &argv)) return 77;
  Suite* suite = va_sharing_suite();
  return gst_check_run_suite(suite, "va_sharing", __FILE__);
}
