// SPDX-License-Identifier: LGPL-2.1-or-later

// When dxvaglupload's OpenGL context is made: with the start, on a thread of its own, for the
// display and shared with the context that the application gave; when it is not, and that
// nothing of it is left behind.

#include <dirent.h>

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_rig.hpp"
#include "tests/check/support/watched_display.hpp"

using namespace dxva;
using gst::GstPtr;
using test::WatchedDisplay;

namespace {

bool a_thread_is_left() {
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir("/proc/self/task"), ::closedir);
  while (const dirent* task = tasks ? ::readdir(tasks.get()) : nullptr) {
    std::string name;
    std::getline(std::ifstream(std::string("/proc/self/task/") + task->d_name + "/comm"), name);
    if (name == "dxva-gl-start") return true;
  }
  return false;
}

// An uploader to which nothing comes.
struct Idle {
  explicit Idle(const char* downstream = " ! fakesink") {
    pipeline = GstPtr<GstElement>::adopt(gst_pipeline_new(nullptr));
    GError* error = nullptr;
    GstElement* bin = gst_parse_bin_from_description(
        (std::string("dxvaglupload name=up") + downstream).c_str(), FALSE, &error);
    fail_unless(bin && !error);
    gst_bin_add(GST_BIN(pipeline.get()), bin);
    uploader = GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(bin), "up"));
  }
  ~Idle() { set(GST_STATE_NULL); }

  void set(GstState state) {
    fail_if(gst_element_set_state(pipeline.get(), state) == GST_STATE_CHANGE_FAILURE);
  }
  // What it takes; for that the context must be there.
  [[nodiscard]] GstPtr<GstCaps> ask(const char* filter = nullptr) {
    const auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(uploader.get(), "sink"));
    const auto about =
        filter ? GstPtr<GstCaps>::adopt(gst_caps_from_string(filter)) : GstPtr<GstCaps>();
    return GstPtr<GstCaps>::adopt(gst_pad_query_caps(pad.get(), about.get()));
  }
  [[nodiscard]] GstPtr<GstGLContext> context() {
    GstGLContext* context = nullptr;
    g_object_get(uploader.get(), "context", &context, nullptr);
    return GstPtr<GstGLContext>::adopt(context);
  }
  [[nodiscard]] std::string error() {
    const auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline.get()));
    const auto message =
        GstPtr<GstMessage>::adopt(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
    if (!message) return "";
    GError* error = nullptr;
    gst_message_parse_error(message.get(), &error, nullptr);
    std::string text = error->message;
    g_error_free(error);
    return text;
  }

  GstPtr<GstElement> pipeline;
  GstPtr<GstElement> uploader;
};

GstPtr<GstGLContext> make_context(const WatchedDisplay& display) {
  auto out = GstPtr<GstGLContext>::adopt(gst_gl_context_new(display.get()));
  fail_unless(gst_gl_context_create(out.get(), nullptr, nullptr));
  return out;
}

void give_application_context(const GstPtr<GstElement>& element, GstGLContext* context) {
  const auto out = GstPtr<GstContext>::adopt(gst_context_new("gst.gl.app_context", TRUE));
  gst_structure_set(gst_context_writable_structure(out.get()), "context", GST_TYPE_GL_CONTEXT,
                    context, nullptr);
  gst_element_set_context(element.get(), out.get());
}

void expect_nothing_left(const WatchedDisplay& display) {
  fail_if(a_thread_is_left());
  fail_if(bool(display.any_context()));
}

// --- with the start

GST_START_TEST(nobody_need_ask_for_the_context) {
  WatchedDisplay display;
  Idle idle;
  display.give_to(idle.pipeline);
  idle.set(GST_STATE_READY);
  fail_unless_equals_int(display.made(), 0);
  idle.set(GST_STATE_PAUSED);
  display.wait_until_asked();
  idle.set(GST_STATE_NULL);
  fail_unless_equals_int(display.made(), 1);
  expect_nothing_left(display);
}
GST_END_TEST;

GST_START_TEST(who_asks_waits_for_the_one_that_is_being_made) {
  WatchedDisplay display;
  Idle idle;
  display.give_to(idle.pipeline);
  display.hold();
  idle.set(GST_STATE_PAUSED);
  display.wait_until_asked();
  GstPtr<GstCaps> answer;
  std::thread asks([&] { answer = idle.ask(); });
  display.let_go();
  asks.join();
  fail_unless(answer && !gst_caps_is_empty(answer.get()));
  fail_unless_equals_int(display.made(), 1);
  fail_unless(idle.context().get() == display.any_context().get());
  idle.set(GST_STATE_NULL);
  expect_nothing_left(display);
}
GST_END_TEST;

GST_START_TEST(each_start_has_its_own) {
  WatchedDisplay display;
  Idle idle;
  display.give_to(idle.pipeline);
  for (size_t start = 1; start <= 3; ++start) {
    idle.set(GST_STATE_PAUSED);
    (void)idle.ask();
    fail_unless_equals_int(display.made(), start);
    idle.set(GST_STATE_READY);
    expect_nothing_left(display);
  }
}
GST_END_TEST;

GST_START_TEST(a_start_that_ends_at_once_leaves_nothing) {
  WatchedDisplay display;
  Idle idle;
  for (int i = 0; i < 10; ++i) {
    display.give_to(idle.pipeline);
    idle.set(GST_STATE_PAUSED);
    idle.set(i % 2 ? GST_STATE_READY : GST_STATE_NULL);
    expect_nothing_left(display);
  }
}
GST_END_TEST;

GST_START_TEST(a_stop_in_the_middle_of_making_it_leaves_nothing) {
  WatchedDisplay display;
  Idle idle;
  display.give_to(idle.pipeline);
  display.hold();
  idle.set(GST_STATE_PAUSED);
  display.wait_until_asked();
  std::thread stops([&] { idle.set(GST_STATE_NULL); });
  display.let_go();
  stops.join();
  expect_nothing_left(display);
}
GST_END_TEST;

// Before the start it is made when somebody asks, and is gone in NULL, not with the element.
GST_START_TEST(one_that_was_asked_for_in_ready_is_gone_in_null) {
  WatchedDisplay display;
  Idle idle;
  display.give_to(idle.pipeline);
  idle.set(GST_STATE_READY);
  (void)idle.ask();
  fail_unless(bool(display.any_context()));
  idle.set(GST_STATE_NULL);
  expect_nothing_left(display);
  // And behind the stop.
  idle.set(GST_STATE_PAUSED);
  (void)idle.ask();
  idle.set(GST_STATE_READY);
  (void)idle.ask();
  fail_unless(bool(display.any_context()));
  idle.set(GST_STATE_NULL);
  expect_nothing_left(display);
}
GST_END_TEST;

// --- whose

GST_START_TEST(it_shares_with_the_application) {
  WatchedDisplay display;
  const auto application = make_context(display);
  Idle idle;
  display.give_to(idle.pipeline);
  give_application_context(idle.pipeline, application.get());
  idle.set(GST_STATE_PAUSED);
  display.wait_until_asked();
  fail_unless(display.shared_with(0) == application.get());
  (void)idle.ask();
  fail_unless_equals_int(display.made(), 1);
  fail_unless(gst_gl_context_can_share(idle.context().get(), application.get()));
}
GST_END_TEST;

// Behind the start, before anything flows: it counts, as it did when the context was made with
// the first question.
GST_START_TEST(it_shares_with_what_the_application_gives_late) {
  WatchedDisplay display;
  const auto application = make_context(display);
  Idle idle;
  display.give_to(idle.pipeline);
  idle.set(GST_STATE_PAUSED);
  display.wait_until_asked();
  give_application_context(idle.pipeline, application.get());
  expect_nothing_left(display);
  (void)idle.ask();
  fail_unless_equals_int(display.made(), 2);
  fail_unless(display.shared_with(1) == application.get());
  fail_unless(gst_gl_context_can_share(idle.context().get(), application.get()));
}
GST_END_TEST;

GST_START_TEST(another_display_has_another) {
  WatchedDisplay before;
  WatchedDisplay after;
  Idle idle;
  before.give_to(idle.pipeline);
  idle.set(GST_STATE_PAUSED);
  before.wait_until_asked();
  after.give_to(idle.pipeline);
  expect_nothing_left(before);
  (void)idle.ask();
  fail_unless_equals_int(after.made(), 1);
  fail_unless(idle.context().get() == after.any_context().get());
  // Bins say again what is known.
  after.give_to(idle.pipeline);
  (void)idle.ask();
  fail_unless_equals_int(after.made(), 1);
}
GST_END_TEST;

GST_START_TEST(the_same_display_again_changes_nothing) {
  WatchedDisplay display;
  Idle idle;
  display.give_to(idle.pipeline);
  idle.set(GST_STATE_PAUSED);
  display.wait_until_asked();
  display.give_to(idle.pipeline);
  (void)idle.ask();
  fail_unless_equals_int(display.made(), 1);
}
GST_END_TEST;

GST_START_TEST(a_sinks_context_is_taken) {
  WatchedDisplay display;
  const auto of_sink = make_context(display);
  GST_OBJECT_LOCK(display.get());
  fail_unless(gst_gl_display_add_context(display.get(), of_sink.get()));
  GST_OBJECT_UNLOCK(display.get());
  Idle idle;
  display.give_to(idle.pipeline);
  idle.set(GST_STATE_PAUSED);
  (void)idle.ask();
  fail_unless(idle.context().get() == of_sink.get());
  idle.set(GST_STATE_NULL);
  fail_unless_equals_int(display.made(), 0);
}
GST_END_TEST;

// Whoever is linked later may have a context to share with.
GST_START_TEST(nothing_is_begun_without_anybody_downstream) {
  WatchedDisplay display;
  Idle idle("");
  display.give_to(idle.pipeline);
  idle.set(GST_STATE_PAUSED);
  idle.set(GST_STATE_NULL);
  fail_unless_equals_int(display.made(), 0);
}
GST_END_TEST;

// --- not at all

GST_START_TEST(who_needs_it_says_that_there_is_none) {
  WatchedDisplay display;
  // Which we do not work with, and nobody has.
  gst_gl_display_filter_gl_api(display.get(), GST_GL_API_GLES1);
  Idle idle;
  display.give_to(idle.pipeline);
  idle.set(GST_STATE_PAUSED);
  display.wait_until_asked();
  idle.set(GST_STATE_READY);
  fail_unless(idle.error().empty(), "nobody has needed it");
  idle.set(GST_STATE_PAUSED);
  (void)idle.ask();
  fail_if(idle.error().empty());
  idle.set(GST_STATE_NULL);
  expect_nothing_left(display);
}
GST_END_TEST;

// A decoder's for sizes, before it knows its pictures.
GST_START_TEST(questions_about_system_memory_need_none) {
  WatchedDisplay display;
  Idle idle(" ! video/x-raw(memory:GLMemory),width=640 ! fakesink");
  display.give_to(idle.pipeline);
  idle.set(GST_STATE_READY);
  const auto answer = idle.ask("video/x-raw,width=[1,1000],height=480");
  fail_unless_equals_int(display.made(), 0);
  fail_if(gst_caps_is_empty(answer.get()));
  for (guint i = 0; i < gst_caps_get_size(answer.get()); ++i) {
    int width = 0;
    fail_unless(
        gst_structure_get_int(gst_caps_get_structure(answer.get(), i), "width", &width));
    fail_unless_equals_int(width, 640);
  }
  // The same as with a context.
  const auto known = idle.ask("video/x-raw(memory:DMABuf),format=NV12");
  fail_if(gst_caps_is_empty(known.get()));
  fail_unless_equals_int(display.made(), 1);
  const auto again = idle.ask("video/x-raw,width=[1,1000],height=480");
  fail_unless(gst_caps_is_equal(answer.get(), again.get()));
}
GST_END_TEST;

// --- more than one who asks

namespace {

// Stands where the element asks its neighbours for their context, in the middle of its search
// for one.
class Search {
 public:
  explicit Search(const GstPtr<GstElement>& uploader)
      : pad_(GstPtr<GstPad>::adopt(gst_element_get_static_pad(uploader.get(), "src"))) {
    gst_pad_add_probe(
        pad_.get(), GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
        [](GstPad*, GstPadProbeInfo* info, gpointer self) {
          const gchar* type = nullptr;
          GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
          if ((GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_PUSH) &&
              GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT &&
              gst_query_parse_context_type(query, &type) &&
              g_strcmp0(type, "gst.gl.local_context") == 0)
            static_cast<Search*>(self)->arrives();
          return GST_PAD_PROBE_OK;
        },
        this, nullptr);
  }

  void wait_until_begun() {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [this] { return begun_ > 0; });
  }
  // Somebody else is through, who should not be before the first search is.
  void disturb() {
    const std::lock_guard guard(lock_);
    disturbed_ = within_ > 0 && begun_ == 1;
    changed_.notify_all();
  }
  [[nodiscard]] bool was_disturbed() const { return disturbed_; }

 private:
  // Time for a disturbance; one that comes later is missed, and none that is no mistake counts.
  static constexpr std::chrono::milliseconds kHeld{200};

  void arrives() {
    std::unique_lock guard(lock_);
    ++begun_;
    if (++within_ > 1) disturbed_ = true;
    changed_.notify_all();
    (void)changed_.wait_for(guard, kHeld, [this] { return disturbed_; });
    --within_;
  }

  const GstPtr<GstPad> pad_;
  std::mutex lock_;
  std::condition_variable changed_;
  int begun_ = 0;
  int within_ = 0;
  bool disturbed_ = false;
};

}  // namespace

// GstGLBaseFilter goes on with a context that is freed where a second search has found it and a
// stop has ended it, all within one search (1.22 to 1.26).
GST_START_TEST(who_asks_at_the_same_time_is_answered_afterwards) {
  WatchedDisplay display;
  Idle idle;
  display.give_to(idle.pipeline);
  idle.set(GST_STATE_READY);
  Search search(idle.uploader);
  std::thread asks([&] { (void)idle.ask(); });
  search.wait_until_begun();
  std::thread asks_too([&] { (void)idle.ask(); });
  asks.join();
  asks_too.join();
  fail_if(search.was_disturbed());
  fail_unless_equals_int(display.made(), 1);
}
GST_END_TEST;

GST_START_TEST(a_stop_waits_for_who_asks) {
  for (const GstState down : {GST_STATE_READY, GST_STATE_NULL}) {
    WatchedDisplay display;
    Idle idle;
    display.give_to(idle.pipeline);
    idle.set(down == GST_STATE_NULL ? GST_STATE_READY : GST_STATE_PAUSED);
    Search search(idle.uploader);
    std::thread asks([&] { (void)idle.ask(); });
    search.wait_until_begun();
    std::thread stops([&] {
      idle.set(down);
      search.disturb();
    });
    asks.join();
    stops.join();
    fail_if(search.was_disturbed());
    idle.set(GST_STATE_NULL);
    expect_nothing_left(display);
  }
}
GST_END_TEST;

Suite* dxvaglupload_start_suite() {
  Suite* suite = suite_create("dxvaglupload_start");
  TCase* tcase = tcase_create("general");
  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, nobody_need_ask_for_the_context);
  tcase_add_test(tcase, who_asks_waits_for_the_one_that_is_being_made);
  tcase_add_test(tcase, each_start_has_its_own);
  tcase_add_test(tcase, a_start_that_ends_at_once_leaves_nothing);
  tcase_add_test(tcase, a_stop_in_the_middle_of_making_it_leaves_nothing);
  tcase_add_test(tcase, one_that_was_asked_for_in_ready_is_gone_in_null);
  tcase_add_test(tcase, it_shares_with_the_application);
  tcase_add_test(tcase, it_shares_with_what_the_application_gives_late);
  tcase_add_test(tcase, another_display_has_another);
  tcase_add_test(tcase, the_same_display_again_changes_nothing);
  tcase_add_test(tcase, a_sinks_context_is_taken);
  tcase_add_test(tcase, nothing_is_begun_without_anybody_downstream);
  tcase_add_test(tcase, who_needs_it_says_that_there_is_none);
  tcase_add_test(tcase, questions_about_system_memory_need_none);
  tcase_add_test(tcase, who_asks_at_the_same_time_is_answered_afterwards);
  tcase_add_test(tcase, a_stop_waits_for_who_asks);
  return suite;
}

}  // namespace

int main(int argc, char** argv) {
  if (!test::set_up_gl_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvaglupload_start_suite(), "dxvaglupload_start", __FILE__);
}
