// SPDX-License-Identifier: LGPL-2.1-or-later

// dxvadec on a machine with two DRM devices, the bundled driver on both (LIBVA_DRIVER_NAME):
// what it opens, counted in the process's descriptors, and which GPU it takes. vm_devices CLIP.

#include <dirent.h>
#include <fcntl.h>
#include <gst/gst.h>
#include <sys/stat.h>
#include <unistd.h>
#include <va/va.h>
#include <va/va_drm.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gst/common/gl_device_context.hpp"
#include "gst/common/gst_ptr.hpp"
#include "lib/base/unique_fd.hpp"
#include "lib/drm/device_id.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva;
using gst::GstPtr;

namespace {

std::string clip;

// --- the machine

std::vector<std::string> nodes() {
  auto found = drm::render_nodes();
  fail_unless(found.size() >= 2, "this rig has two devices, and there are %zu render nodes",
              found.size());
  return found;
}

// The other node of the same device.
std::string primary_of(const std::string& render_node) {
  const auto wanted = drm::device_of_path(render_node);
  fail_unless(bool(wanted));
  for (const auto& entry : std::filesystem::directory_iterator("/dev/dri")) {
    const std::string path = entry.path();
    const auto device = drm::device_of_path(path);
    if (device && device->id == wanted->id && path != render_node) return path;
  }
  return "";
}

// How often the process has this device open, by whichever node.
int descriptors_of(const std::string& render_node) {
  const auto wanted = drm::device_of_path(render_node);
  fail_unless(bool(wanted));
  int count = 0;
  for (int fd = 0; fd < 1024; ++fd)
    if (const auto device = drm::device_of_fd(fd); device && device->id == wanted->id) ++count;
  return count;
}

// --- a decoder

class Player {
 public:
  explicit Player(const std::string& device, const char* what_draws = nullptr) {
    const std::string text = "filesrc location=" + clip +
                             " ! h264parse ! dxvadec name=dec device=" + device + " ! fakesink";
    GError* error = nullptr;
    pipeline_ = GstPtr<GstElement>::adopt(gst_parse_launch(text.c_str(), &error));
    fail_unless(pipeline_ && !error, "%s", error ? error->message : "");
    decoder_ = GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "dec"));
    if (what_draws) tell(what_draws);
  }
  ~Player() { gst_element_set_state(pipeline_.get(), GST_STATE_NULL); }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  // As an element with a GL context would.
  void tell(const char* what_draws) const {
    const auto context = gst::make_gl_device_context({.node = what_draws, .renderer = "test"});
    gst_element_set_context(decoder_.get(), context.get());
  }
  void give(VADisplay display) const {
    const auto context =
        GstPtr<GstContext>::adopt(gst_context_new("gst.va.display.handle", TRUE));
    gst_structure_set(gst_context_writable_structure(context.get()), "va-display",
                      G_TYPE_POINTER, display, nullptr);
    gst_element_set_context(decoder_.get(), context.get());
  }
  void ready() const {
    fail_if(gst_element_set_state(pipeline_.get(), GST_STATE_READY) ==
            GST_STATE_CHANGE_FAILURE);
  }
  // To the end; what the bus said on the way is counted.
  void play() {
    gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
    const auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline_.get()));
    for (bool ended = false; !ended;) {
      const auto message =
          GstPtr<GstMessage>::adopt(gst_bus_timed_pop(bus.get(), GST_CLOCK_TIME_NONE));
      if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS) ended = true;
      fail_if(GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR);
      if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_WARNING) ++warnings;
      if (gst_message_has_name(message.get(), "dxva-device-mismatch")) {
        ++mismatches;
        const GstStructure* told = gst_message_get_structure(message.get());
        told_decoder = gst_structure_get_string(told, "decoder");
        told_renderer = gst_structure_get_string(told, "renderer");
      }
    }
  }
  [[nodiscard]] std::string device() const {
    GstStructure* raw = nullptr;
    g_object_get(decoder_.get(), "stats", &raw, nullptr);
    const gst::StructurePtr stats(raw);
    return gst_structure_get_string(raw, "device");
  }
  [[nodiscard]] bool is_on(const std::string& node) const {
    return device().find("(" + node + ")") != std::string::npos;
  }

  int warnings = 0;
  int mismatches = 0;
  std::string told_decoder, told_renderer;

 private:
  GstPtr<GstElement> pipeline_;
  GstPtr<GstElement> decoder_;
};

// --- one display for each device

GST_START_TEST(sixteen_decoders_share_one_descriptor_however_the_gpu_is_named) {
  const std::string node = nodes()[0];
  const std::string primary = primary_of(node);
  fail_if(primary.empty());
  const UniqueFd opened{::open(node.c_str(), O_RDWR | O_CLOEXEC)};
  const UniqueFd reopened{::open(node.c_str(), O_RDWR | O_CLOEXEC)};
  const UniqueFd dup = opened.duplicate();
  fail_unless(opened.valid() && reopened.valid() && dup.valid());
  const std::string link = "/tmp/dxva-by-path";
  ::unlink(link.c_str());
  fail_unless(::symlink(node.c_str(), link.c_str()) == 0);
  const std::vector<std::string> names = {node,
                                          primary,
                                          link,
                                          "/proc/self/fd/" + std::to_string(opened.get()),
                                          "/proc/self/fd/" + std::to_string(dup.get()),
                                          "/proc/self/fd/" + std::to_string(reopened.get())};

  const int before = descriptors_of(node);
  fail_unless_equals_int(before, 3);
  {
    std::vector<std::unique_ptr<Player>> players;
    for (size_t i = 0; i < 16; ++i) {
      players.push_back(std::make_unique<Player>(names[i % names.size()]));
      players.back()->ready();
      fail_unless(players.back()->is_on(node), "%s: %s", names[i % names.size()].c_str(),
                  players.back()->device().c_str());
    }
    fail_unless_equals_int(descriptors_of(node), before + 1);
    for (const auto& player : players) player->play();
    fail_unless_equals_int(descriptors_of(node), before + 1);
  }
  fail_unless_equals_int(descriptors_of(node), before);
  ::unlink(link.c_str());
}
GST_END_TEST;

GST_START_TEST(two_gpus_have_a_descriptor_each) {
  const auto all = nodes();
  const Player one(all[0]);
  const Player other(all[1]);
  one.ready();
  other.ready();
  fail_unless(one.is_on(all[0]) && other.is_on(all[1]));
  fail_unless_equals_int(descriptors_of(all[0]), 1);
  fail_unless_equals_int(descriptors_of(all[1]), 1);
}
GST_END_TEST;

GST_START_TEST(a_given_display_is_known_by_its_descriptor) {
  const auto all = nodes();
  const UniqueFd fd{::open(all[1].c_str(), O_RDWR | O_CLOEXEC)};
  VADisplay display = vaGetDisplayDRM(fd.get());
  int major = 0;
  int minor = 0;
  fail_unless_equals_int(vaInitialize(display, &major, &minor), VA_STATUS_SUCCESS);
  {
    Player wanted(all[1]);
    wanted.give(display);
    wanted.play();
    fail_unless(wanted.is_on(all[1]));
    fail_unless_equals_int(descriptors_of(all[1]), 1);  // that one
    // Found under its device by who asks for that.
    const Player later(primary_of(all[1]));
    later.ready();
    fail_unless(later.is_on(all[1]));
    fail_unless_equals_int(descriptors_of(all[1]), 1);
    // Not where another GPU is wanted.
    const Player other(all[0]);
    other.give(display);
    other.ready();
    fail_unless(other.is_on(all[0]), "%s", other.device().c_str());
    fail_unless_equals_int(descriptors_of(all[0]), 1);
  }
  vaTerminate(display);
}
GST_END_TEST;

// --- whose GPU

GST_START_TEST(auto_takes_the_gpu_that_draws_and_opens_no_other) {
  const auto all = nodes();
  for (size_t draws = 0; draws < 2; ++draws)
    for (const std::string& name : {all[draws], primary_of(all[draws])}) {
      Player player("auto", name.c_str());
      player.ready();
      fail_unless(player.is_on(all[draws]), "%s: %s", name.c_str(), player.device().c_str());
      fail_unless_equals_int(descriptors_of(all[1 - draws]), 0);
      player.play();
      fail_unless_equals_int(player.mismatches + player.warnings, 0);
    }
}
GST_END_TEST;

GST_START_TEST(auto_waits_for_the_first_caps_where_nobody_draws_yet) {
  const auto all = nodes();
  {
    Player player("auto");
    player.ready();
    fail_unless_equals_int(descriptors_of(all[0]) + descriptors_of(all[1]), 0);
    player.tell(all[1].c_str());
    player.play();
    fail_unless(player.is_on(all[1]));
    fail_unless_equals_int(descriptors_of(all[0]), 0);
  }
  Player alone("auto");
  alone.play();
  fail_unless(alone.is_on(all[0]), "%s", alone.device().c_str());
  // Known, and no GPU: the first one then, at once.
  const Player in_software("auto", "");
  in_software.ready();
  fail_unless(in_software.is_on(all[0]));
}
GST_END_TEST;

GST_START_TEST(device_overrides_and_the_mismatch_is_told_once) {
  const auto all = nodes();
  Player player(all[0], all[1].c_str());
  player.play();
  fail_unless(player.is_on(all[0]));
  fail_unless_equals_int(player.mismatches, 1);
  fail_unless_equals_int(player.warnings, 1);
  fail_unless(player.told_decoder == all[0] && player.told_renderer == all[1]);

  Player same(all[0], primary_of(all[0]).c_str());
  same.play();
  fail_unless_equals_int(same.mismatches + same.warnings, 0);
}
GST_END_TEST;

Suite* devices_suite() {
  Suite* suite = suite_create("devices");
  TCase* tcase = tcase_create("general");
  tcase_set_timeout(tcase, 300);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, sixteen_decoders_share_one_descriptor_however_the_gpu_is_named);
  tcase_add_test(tcase, two_gpus_have_a_descriptor_each);
  tcase_add_test(tcase, a_given_display_is_known_by_its_descriptor);
  tcase_add_test(tcase, auto_takes_the_gpu_that_draws_and_opens_no_other);
  tcase_add_test(tcase, auto_waits_for_the_first_caps_where_nobody_draws_yet);
  tcase_add_test(tcase, device_overrides_and_the_mismatch_is_told_once);
  return suite;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  clip = argv[1];
  argc = 1;
  gst_check_init(&argc, &argv);
  return gst_check_run_suite(devices_suite(), "devices", __FILE__);
}
