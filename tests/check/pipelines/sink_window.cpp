// SPDX-License-Identifier: LGPL-2.1-or-later
// dxvaglsink in a window of the application's: where the picture stands in it, and what mouse
// and keyboard do there come back as events. On an X server (xvfb-run); pictures of real video
// are tests/check/pipelines/sink.py.

#include <gst/gst.h>
#include <gst/video/navigation.h>
#include <gst/video/videooverlay.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>

#include "gst/common/gst_ptr.hpp"
#include "tests/check/support/check.hpp"

// Last: it defines None, Status and Bool as macros.
#include <X11/Xlib.h>
#include <X11/Xutil.h>

using dxva::gst::GstPtr;

namespace {

constexpr unsigned kPicture = 0xffe02040;  // ARGB of the whole video: 160x120
constexpr int kVideoWidth = 160, kVideoHeight = 120;
constexpr unsigned kBackground = 0x00203040;  // of the application's window
constexpr int kTries = 300;  // each 100 ms: until a window shows what it should

bool near(unsigned long pixel, unsigned wanted) {
  for (int shift : {0, 8, 16}) {
    const int difference =
        static_cast<int>(pixel >> shift & 0xff) - static_cast<int>(wanted >> shift & 0xff);
    if (difference > 12 || difference < -12) return false;
  }
  return true;
}

// An application's window, on a connection of the application's own.
class AppWindow {
 public:
  AppWindow(unsigned width, unsigned height) : display_(XOpenDisplay(nullptr)) {
    ck_assert_msg(display_ != nullptr, "no X server");
    window_ = XCreateSimpleWindow(display_, DefaultRootWindow(display_), 0, 0, width, height, 0,
                                  0, kBackground);
    XMapRaised(display_, window_);
    XSync(display_, False);
  }
  ~AppWindow() { XCloseDisplay(display_); }
  AppWindow(const AppWindow&) = delete;
  AppWindow& operator=(const AppWindow&) = delete;

  [[nodiscard]] guintptr handle() const { return window_; }

  // As it is on the screen, with what others draw inside.
  [[nodiscard]] unsigned pixel(int x, int y) const {
    XImage* image =
        XGetImage(display_, DefaultRootWindow(display_), x, y, 1, 1, AllPlanes, ZPixmap);
    ck_assert(image != nullptr);
    const unsigned long value = XGetPixel(image, 0, 0);
    XDestroyImage(image);
    return static_cast<unsigned>(value);
  }

  // The sink's window in this one.
  [[nodiscard]] Window child() const {
    Window root = 0, parent = 0, *children = nullptr;
    unsigned count = 0;
    XQueryTree(display_, window_, &root, &parent, &children, &count);
    const Window out = count > 0 ? children[0] : 0;
    if (children) XFree(children);
    return out;
  }

  void move_mouse(int x, int y) const {
    XEvent event{};
    event.xmotion = {};
    event.xmotion.type = MotionNotify;
    event.xmotion.display = display_;
    event.xmotion.window = child();
    event.xmotion.root = DefaultRootWindow(display_);
    event.xmotion.x = x;
    event.xmotion.y = y;
    event.xmotion.same_screen = True;
    XSendEvent(display_, child(), False, PointerMotionMask, &event);
    XSync(display_, False);
  }

 private:
  Display* display_;
  Window window_ = 0;
};

// A video of one colour into dxvaglsink, which is told of the window when it asks.
class Player {
 public:
  explicit Player(const AppWindow& window) : window_(window) {
    const std::string colour = std::to_string(kPicture);
    pipeline_ = GstPtr<GstElement>::adopt(gst_parse_launch(
        ("videotestsrc is-live=true pattern=solid-color foreground-color=" + colour +
         " ! video/x-raw,format=NV12,width=160,height=120,framerate=10/1,"
         "pixel-aspect-ratio=1/1 ! identity name=upstream ! dxvaglsink name=sink")
            .c_str(),
        nullptr));
    sink_ = GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "sink"));
    ck_assert_msg(static_cast<bool>(sink_), "dxvaglsink is not there");
    const auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline_.get()));
    gst_bus_set_sync_handler(
        bus.get(),
        [](GstBus*, GstMessage* message, gpointer data) {
          auto& self = *static_cast<Player*>(data);
          if (gst_is_video_overlay_prepare_window_handle_message(message))
            gst_video_overlay_set_window_handle(self.overlay(), self.window_.handle());
          return GST_BUS_PASS;
        },
        this, nullptr);
    const auto upstream =
        GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "upstream"));
    const auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(upstream.get(), "src"));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, on_event, this, nullptr);
  }
  ~Player() {
    const auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline_.get()));
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    gst_bus_set_sync_handler(bus.get(), nullptr, nullptr, nullptr);
  }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  void play() { gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING); }
  [[nodiscard]] GstVideoOverlay* overlay() const { return GST_VIDEO_OVERLAY(sink_.get()); }
  [[nodiscard]] GstElement* sink() const { return sink_.get(); }

  struct Mouse {
    double x = -1, y = -1;
  };
  [[nodiscard]] Mouse mouse() const {
    const std::lock_guard guard(lock_);
    return mouse_;
  }

 private:
  static GstPadProbeReturn on_event(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto& self = *static_cast<Player*>(data);
    GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
    Mouse mouse;
    if (GST_EVENT_TYPE(event) == GST_EVENT_NAVIGATION &&
        gst_navigation_event_get_type(event) == GST_NAVIGATION_EVENT_MOUSE_MOVE &&
        gst_navigation_event_parse_mouse_move_event(event, &mouse.x, &mouse.y)) {
      const std::lock_guard guard(self.lock_);
      self.mouse_ = mouse;
    }
    return GST_PAD_PROBE_OK;
  }

  const AppWindow& window_;
  GstPtr<GstElement> pipeline_, sink_;
  mutable std::mutex lock_;

  Mouse mouse_;  // of the last event that came upstream, in pixels of the video
};

bool becomes_true(const std::function<bool()>& what) {
  for (int i = 0; i < kTries; ++i) {
    if (what()) return true;
    g_usleep(100'000);
  }
  return false;
}

void expect_pixel(const AppWindow& window, int x, int y, unsigned wanted) {
  ck_assert_msg(becomes_true([&] { return near(window.pixel(x, y), wanted); }),
                "pixel %d,%d is %06x, not %06x", x, y, window.pixel(x, y) & 0xffffff,
                wanted & 0xffffff);
}

}  // namespace

GST_START_TEST(the_picture_is_in_the_applications_window) {
  const AppWindow window(kVideoWidth, kVideoHeight);
  Player player(window);
  player.play();
  expect_pixel(window, kVideoWidth / 2, kVideoHeight / 2, kPicture);
  expect_pixel(window, 1, 1, kPicture);
  ck_assert(window.child() != 0);
}
GST_END_TEST

GST_START_TEST(proportions_are_kept_unless_somebody_wants_otherwise) {
  const AppWindow window(400, 120);
  {
    Player player(window);
    player.play();
    expect_pixel(window, 200, 60, kPicture);
    expect_pixel(window, 20, 60, 0);  // 4:3 in the middle
  }
  Player player(window);
  g_object_set(player.sink(), "force-aspect-ratio", FALSE, nullptr);
  player.play();
  expect_pixel(window, 20, 60, kPicture);
}
GST_END_TEST

GST_START_TEST(the_picture_goes_where_the_rectangle_says) {
  const AppWindow window(400, 300);
  Player player(window);
  player.play();
  expect_pixel(window, 200, 150, kPicture);
  ck_assert(gst_video_overlay_set_render_rectangle(player.overlay(), 240, 180, 80, 60));
  gst_video_overlay_expose(player.overlay());
  expect_pixel(window, 280, 210, kPicture);
  ck_assert_msg(becomes_true([&] { return !near(window.pixel(100, 100), kPicture); }),
                "the picture is outside of its rectangle as well");
  expect_pixel(window, 245, 185, kPicture);
  ck_assert(!near(window.pixel(330, 210), kPicture));
}
GST_END_TEST

GST_START_TEST(the_mouse_is_told_in_pixels_of_the_video) {
  const AppWindow window(2 * kVideoWidth, 2 * kVideoHeight);
  Player player(window);
  gst_video_overlay_handle_events(player.overlay(), TRUE);
  player.play();
  expect_pixel(window, kVideoWidth, kVideoHeight, kPicture);
  const bool told = becomes_true([&] {
    window.move_mouse(100, 60);
    const auto mouse = player.mouse();
    return mouse.x > 49 && mouse.x < 51 && mouse.y > 29 && mouse.y < 31;
  });
  ck_assert_msg(told, "the mouse is at %.1f,%.1f", player.mouse().x, player.mouse().y);
}
GST_END_TEST

int main(int argc, char** argv) {
  XInitThreads();
  if (Display* display = XOpenDisplay(nullptr)) {
    XCloseDisplay(display);
  } else {
    std::printf("# SKIP no X server; xvfb-run brings one\n");
    return 77;
  }
  gst_check_init(&argc, &argv);
  Suite* suite = suite_create("sink_window");
  TCase* cases = tcase_create("general");
  tcase_set_timeout(cases, 180);
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, the_picture_is_in_the_applications_window);
  tcase_add_test(cases, proportions_are_kept_unless_somebody_wants_otherwise);
  tcase_add_test(cases, the_picture_goes_where_the_rectangle_says);
  tcase_add_test(cases, the_mouse_is_told_in_pixels_of_the_video);
  return gst_check_run_suite(suite, "sink_window", __FILE__);
}
