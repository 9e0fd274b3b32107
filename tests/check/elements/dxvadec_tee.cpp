// SPDX-License-Identifier: LGPL-2.1-or-later

// Surfaces that a tee gives to several consumers: to uploaders of ours as they are, also where
// they are padded, and to strangers in no other way than they would get them alone.

#include <gst/allocators/allocators.h>
#include <gst/app/app.h>

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"
#include "tests/check/support/gl_rig.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

constexpr int kPictures = 60;  // of h264_mp4(), 352x286: each surface is padded
// As many as both branches can hold, on a busy machine too: none is copied for want of one.
constexpr const char* kDecoder = "dxvadec name=dec extra-surfaces=32";
constexpr const char* kTextures = "video/x-raw(memory:GLMemory),format=NV12";

std::string ours(int number, const std::string& properties = "") {
  return "dxvaglupload name=up" + std::to_string(number) + " " + properties + " ! " + kTextures;
}

const std::vector<Picture>& reference() {
  static const std::vector<Picture> pictures =
      decode(source(h264_mp4()), "avdec_h264").pictures;
  return pictures;
}

uint64_t number(GstElement* element, const char* part, const char* name) {
  GstStructure* raw = nullptr;
  g_object_get(element, "stats", &raw, nullptr);
  const dxva::gst::StructurePtr stats(raw);
  const GValue* inner = gst_structure_get_value(stats.get(), part);
  guint64 out = 0;
  if (inner) gst_structure_get_uint64(gst_value_get_structure(inner), name, &out);
  return out;
}

std::string caps_text(GstSample* sample) {
  return dxva::gst::GlibString(gst_caps_to_string(gst_sample_get_caps(sample))).get();
}

// A decoder and a tee, with an application's sink behind each of the branches.
class Fork {
 public:
  Fork(const std::string& decoder, const std::vector<std::string>& branches) {
    std::string text = source(h264_mp4()) + " ! " + decoder + " ! tee name=t";
    for (size_t i = 0; i < branches.size(); ++i)
      text += " t. ! queue max-size-buffers=2 ! " + branches[i] + " ! appsink name=sink" +
              std::to_string(i) + " sync=false max-buffers=2";
    pipeline_ = launch(text);
    for (size_t i = 0; i < branches.size(); ++i)
      sinks_.push_back(child(pipeline_, ("sink" + std::to_string(i)).c_str()));
    watch_caps();
    gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
  }
  ~Fork() { stop(); }
  void stop() { gst_element_set_state(pipeline_.get(), GST_STATE_NULL); }

  [[nodiscard]] const GstPtr<GstElement>& pipeline() const { return pipeline_; }
  [[nodiscard]] GstPtr<GstElement> element(const char* name) const {
    return child(pipeline_, name);
  }
  [[nodiscard]] uint64_t step(const char* element_name, const char* name) const {
    return number(element(element_name).get(), "steps", name);
  }
  [[nodiscard]] uint64_t reason(const char* element_name, const char* name) const {
    return number(element(element_name).get(), "reasons", name);
  }
  // What left the decoder: each change.
  [[nodiscard]] const std::vector<std::string>& caps() const { return caps_; }

  // The next of a branch; null at its end.
  [[nodiscard]] GstPtr<GstSample> pull(size_t branch) {
    auto* sink = GST_APP_SINK(sinks_[branch].get());
    while (true) {
      auto sample =
          GstPtr<GstSample>::adopt(gst_app_sink_try_pull_sample(sink, 200 * GST_MSECOND));
      fail_on_error();
      if (sample || gst_app_sink_is_eos(sink)) return sample;
    }
  }
  // Each of all branches is the reference's; the sample goes to `look` with its branch.
  template <typename Look>
  void expect_right(Look look) {
    for (size_t i = 0; i < reference().size(); ++i)
      for (size_t branch = 0; branch < sinks_.size(); ++branch) {
        const auto sample = pull(branch);
        fail_unless(bool(sample), "branch %zu ends with picture %zu", branch, i);
        look(branch, sample);
        if (caps_text(sample.get()).find("RGB") != std::string::npos) continue;
        fail_unless(hash_of(gst_sample_get_buffer(sample.get()),
                            gst_sample_get_caps(sample.get())) == reference()[i].hash,
                    "branch %zu: picture %zu differs", branch, i);
      }
    for (size_t branch = 0; branch < sinks_.size(); ++branch) fail_if(bool(pull(branch)));
  }
  void expect_right() {
    expect_right([](size_t, const GstPtr<GstSample>&) {});
  }

 private:
  void watch_caps() {
    const auto pad =
        GstPtr<GstPad>::adopt(gst_element_get_static_pad(element("dec").get(), "src"));
    gst_pad_add_probe(
        pad.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
        [](GstPad*, GstPadProbeInfo* info, gpointer self) {
          GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
          if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS) return GST_PAD_PROBE_OK;
          GstCaps* caps = nullptr;
          gst_event_parse_caps(event, &caps);
          static_cast<Fork*>(self)->caps_.emplace_back(
              dxva::gst::GlibString(gst_caps_to_string(caps)).get());
          return GST_PAD_PROBE_OK;
        },
        this, nullptr);
  }
  void fail_on_error() {
    const auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline_.get()));
    const auto message =
        GstPtr<GstMessage>::adopt(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
    if (!message) return;
    GError* error = nullptr;
    gst_message_parse_error(message.get(), &error, nullptr);
    ck_abort_msg("%s", error->message);
  }

  GstPtr<GstElement> pipeline_;
  std::vector<GstPtr<GstElement>> sinks_;
  std::vector<std::string> caps_;  // the streaming thread's, until the end
};

bool is_dmabuf(const std::string& caps) {
  return caps.find("memory:DMABuf") != std::string::npos;
}

void expect_lent_to(const Fork& fork, const char* uploader, const char* step = "egl") {
  if (!rig_must_import() && fork.step(uploader, step) == 0) return;
  fail_unless_equals_uint64(fork.step(uploader, step), kPictures);
}

}  // namespace

// --- all are ours

GST_START_TEST(padded_surfaces_go_into_all_branches_without_a_copy) {
  for (const char* between : {"", "identity ! ", "video/x-raw(ANY),width=352 ! "}) {
    Fork fork(kDecoder, {between + ours(0), between + ours(1), between + ours(2)});
    fork.expect_right();
    fail_unless_equals_uint64(fork.step("dec", "exported"), kPictures);
    fail_unless_equals_int(fork.caps().size(), 1);
    for (const char* name : {"up0", "up1", "up2"}) expect_lent_to(fork, name);
  }
}
GST_END_TEST

GST_START_TEST(opaque_memory_goes_into_all_branches_without_a_copy) {
  g_setenv("DXVASOFT_MEMORY", "vulkan", TRUE);
  Fork fork(kDecoder, {ours(0), ours(1)});
  fork.expect_right();
  if (fork.step("dec", "software") == kPictures) DXVA_SKIP("there is no Vulkan");
  fail_unless_equals_uint64(fork.step("dec", "exported"), kPictures);
  for (const char* name : {"up0", "up1"}) expect_lent_to(fork, name, "memory-object");
}
GST_END_TEST

// The application does not look at the pictures, so the textures come again as they are.
GST_START_TEST(known_surfaces_come_again_in_all_branches) {
  Fork fork(kDecoder, {ours(0), ours(1)});
  for (size_t i = 0; i < kPictures; ++i)
    for (size_t branch = 0; branch < 2; ++branch) {
      const auto sample = fork.pull(branch);
      fail_unless(bool(sample));
      if (i % 7 != 6) continue;
      fail_unless(hash_of(gst_sample_get_buffer(sample.get()),
                          gst_sample_get_caps(sample.get())) == reference()[i].hash,
                  "branch %zu: picture %zu differs", branch, i);
    }
  for (const char* name : {"up0", "up1"}) expect_lent_to(fork, name);
}
GST_END_TEST

GST_START_TEST(a_surface_is_not_written_while_one_branch_has_it) {
  Fork fork(kDecoder, {ours(0), ours(1)});
  std::vector<GstPtr<GstSample>> kept;
  fork.expect_right([&](size_t branch, const GstPtr<GstSample>& sample) {
    if (branch == 1 && kept.size() < 12) kept.push_back(sample);
  });
  fail_unless_equals_uint64(fork.step("dec", "exported"), kPictures);
  fork.stop();
  for (size_t i = 0; i < kept.size(); ++i)
    fail_unless(hash_of(gst_sample_get_buffer(kept[i].get()),
                        gst_sample_get_caps(kept[i].get())) == reference()[i].hash,
                "picture %zu was written over", i);
}
GST_END_TEST

GST_START_TEST(copies_come_among_surfaces_in_all_branches) {
  g_setenv("DXVASOFT_FAULT", "export:every=3", TRUE);
  Fork fork(kDecoder, {ours(0), ours(1)});
  fork.expect_right();
  fail_unless(fork.step("dec", "exported") > 0 && fork.step("dec", "cpu-copy") > 0);
  fail_unless_equals_int(fork.caps().size(), 1);
  fail_unless(is_dmabuf(fork.caps()[0]));
}
GST_END_TEST

GST_START_TEST(one_branch_may_read_by_the_cpu_what_another_imports) {
  for (const auto& [copies, imports] : {std::pair{0, 1}, std::pair{1, 0}}) {
    std::vector<std::string> branches(2);
    branches[static_cast<size_t>(copies)] = ours(copies, "import=copy");
    branches[static_cast<size_t>(imports)] = ours(imports);
    Fork fork(kDecoder, branches);
    fork.expect_right();
    fail_unless_equals_uint64(fork.step(("up" + std::to_string(copies)).c_str(), "cpu-copy"),
                              kPictures);
    expect_lent_to(fork, ("up" + std::to_string(imports)).c_str());
  }
}
GST_END_TEST

// Both have the surfaces, so both must hear that the decoder runs short of them.
GST_START_TEST(surfaces_are_asked_back_from_all_branches) {
  Fork fork("dxvadec name=dec extra-surfaces=8", {ours(0), ours(1)});
  std::atomic<int> asked[2] = {};
  for (int i = 0; i < 2; ++i) {
    const auto up = fork.element(i == 0 ? "up0" : "up1");
    const auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(up.get(), "sink"));
    gst_pad_add_probe(
        pad.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
        [](GstPad*, GstPadProbeInfo* info, gpointer count) {
          if (gst_event_has_name(GST_PAD_PROBE_INFO_EVENT(info), "dxva-spares-wanted"))
            ++*static_cast<std::atomic<int>*>(count);
          return GST_PAD_PROBE_OK;
        },
        &asked[i], nullptr);
  }
  std::vector<GstPtr<GstSample>> kept;
  fork.expect_right([&](size_t branch, const GstPtr<GstSample>& sample) {
    if (branch == 0 && kept.size() < 6) kept.push_back(sample);
  });
  // Who keeps a texture of its own keeps no surface.
  if (fork.step("up0", "egl") == 0) DXVA_SKIP("this OpenGL imports nothing");
  fail_unless(asked[0] > 0);
  fail_unless_equals_int(asked[0].load(), asked[1].load());
}
GST_END_TEST

GST_START_TEST(all_branches_are_right_after_seeks) {
  std::map<GstClockTime, std::string> wanted;
  for (const Picture& picture : reference()) wanted[picture.pts] = picture.hash;
  Fork fork(kDecoder, {ours(0), ours(1)});
  for (size_t branch = 0; branch < 2; ++branch) fail_unless(bool(fork.pull(branch)));
  for (int i = 0; i < 20; ++i) {
    const auto target = std::next(wanted.begin(), i * 23 % kPictures);
    const auto flags = static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE);
    const GstClockTime start = wanted.begin()->first;
    fail_unless(gst_element_seek_simple(fork.pipeline().get(), GST_FORMAT_TIME, flags,
                                        static_cast<gint64>(target->first - start)));
    // Not to the end: the next seek comes in the middle of something.
    for (int picture = 0; picture <= i % 4; ++picture)
      for (size_t branch = 0; branch < 2; ++branch) {
        const auto at = std::next(target, picture);
        const auto sample = at == wanted.end() ? nullptr : fork.pull(branch);
        if (!sample) continue;
        GstBuffer* buffer = gst_sample_get_buffer(sample.get());
        fail_unless_equals_uint64(GST_BUFFER_PTS(buffer), at->first);
        fail_unless(hash_of(buffer, gst_sample_get_caps(sample.get())) == at->second,
                    "branch %zu: picture %d after seek %d differs", branch, picture, i);
      }
  }
  fail_unless_equals_uint64(fork.step("dec", "cpu-copy"), 0);
  // And from the middle to the end.
  fail_unless(
      gst_element_seek_simple(fork.pipeline().get(), GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0));
  fork.expect_right();
}
GST_END_TEST

// --- some are not

// The same as it gets alone, and our branch with it.
GST_START_TEST(a_stranger_among_the_branches_gets_what_it_can_read) {
  const struct {
    const char* branch;
    bool surfaces;
  } strangers[] = {
      {"glupload ! glcolorconvert ! video/x-raw(memory:GLMemory),format=RGBA", true},
      {"videoconvert ! video/x-raw,format=I420", false},
      {"video/x-raw(ANY)", false},
      {"video/x-raw(ANY) ! identity drop-allocation=true", false},
  };
  for (const char* fault : {"", "export:every=3"})
    for (const auto& stranger : strangers)
      for (const bool leads : {true, false}) {
        std::printf("# %s, %s, %s\n", stranger.branch, leads ? "first" : "last", fault);
        g_setenv("DXVASOFT_FAULT", fault, TRUE);
        const std::string named = std::string("identity name=stranger ! ") + stranger.branch;
        Fork fork(kDecoder, leads ? std::vector<std::string>{named, ours(1)}
                                  : std::vector<std::string>{ours(0), named});
        // Whoever looks at the caps finds in the buffer what they say.
        std::atomic<int> wrong{0};
        const auto pad = GstPtr<GstPad>::adopt(
            gst_element_get_static_pad(fork.element("stranger").get(), "src"));
        gst_pad_add_probe(
            pad.get(), GST_PAD_PROBE_TYPE_BUFFER,
            [](GstPad* at, GstPadProbeInfo* info, gpointer count) {
              const auto caps = GstPtr<GstCaps>::adopt(gst_pad_get_current_caps(at));
              GstMemory* memory = gst_buffer_peek_memory(GST_PAD_PROBE_INFO_BUFFER(info), 0);
              if (gst_caps_features_contains(gst_caps_get_features(caps.get(), 0),
                                             GST_CAPS_FEATURE_MEMORY_DMABUF) &&
                  !gst_is_dmabuf_memory(memory))
                ++*static_cast<std::atomic<int>*>(count);
              return GST_PAD_PROBE_OK;
            },
            &wrong, nullptr);
        fork.expect_right();
        fail_unless_equals_int(wrong, 0);
        if (*fault != '\0') continue;
        fail_unless_equals_uint64(fork.step("dec", stranger.surfaces ? "exported" : "cpu-copy"),
                                  kPictures);
        if (!stranger.surfaces)
          fail_unless_equals_uint64(fork.reason("dec", "downstream-no-dmabuf"), kPictures);
      }
}
GST_END_TEST

namespace {

// A branch of a pipeline that plays.
class Guest {
 public:
  Guest(const Fork& fork, const char* text)
      : pipeline_(fork.pipeline()),
        tee_(fork.element("t")),
        bin_(GstPtr<GstElement>::share(gst_parse_bin_from_description(text, TRUE, nullptr))) {
    gst_bin_add(GST_BIN(pipeline_.get()), bin_.get());
    gst_element_sync_state_with_parent(bin_.get());
    out_ = GstPtr<GstPad>::adopt(gst_element_request_pad_simple(tee_.get(), "src_%u"));
    const auto in = GstPtr<GstPad>::adopt(gst_element_get_static_pad(bin_.get(), "sink"));
    fail_unless_equals_int(gst_pad_link(out_.get(), in.get()), GST_PAD_LINK_OK);
  }
  void leave() {
    // Between two pictures, so that the tee meets no pad that is flushing.
    gst_pad_add_probe(
        out_.get(), GST_PAD_PROBE_TYPE_IDLE,
        [](GstPad* out, GstPadProbeInfo*, gpointer gone) {
          const auto in = GstPtr<GstPad>::adopt(gst_pad_get_peer(out));
          gst_pad_unlink(out, in.get());
          *static_cast<std::atomic<bool>*>(gone) = true;
          return GST_PAD_PROBE_REMOVE;
        },
        &gone_, nullptr);
    while (!gone_) g_usleep(500);
    gst_element_release_request_pad(tee_.get(), out_.get());
    gst_element_set_state(bin_.get(), GST_STATE_NULL);
    gst_bin_remove(GST_BIN(pipeline_.get()), bin_.get());
    // The tee says nothing of it.
    const auto in = GstPtr<GstPad>::adopt(gst_element_get_static_pad(tee_.get(), "sink"));
    gst_pad_push_event(in.get(), gst_event_new_reconfigure());
  }

 private:
  GstPtr<GstElement> pipeline_;
  GstPtr<GstElement> tee_;
  GstPtr<GstElement> bin_;
  GstPtr<GstPad> out_;
  std::atomic<bool> gone_{false};
};

}  // namespace

// Strangers that take dma-bufs: the first pictures come as those before.
GST_START_TEST(branches_come_and_go_while_pictures_are_decoded) {
  for (const char* newcomer : {"queue ! dxvaglupload ! fakesink sync=false async=false",
                               "queue ! glupload ! fakesink sync=false async=false",
                               "fakesink sync=false async=false"}) {
    Fork fork(kDecoder, {ours(0), ours(1)});
    std::optional<Guest> guest;
    int pictures = 0;
    fork.expect_right([&](size_t branch, const GstPtr<GstSample>&) {
      if (branch != 0) return;
      ++pictures;
      if (pictures == 20) guest.emplace(fork, newcomer);
      if (pictures == 40) guest->leave();
    });
    // Lent before, and again when it has gone.
    fail_unless(is_dmabuf(fork.caps().front()) && is_dmabuf(fork.caps().back()), "%s",
                newcomer);
  }
}
GST_END_TEST

static Suite* dxvadec_tee_suite() {
  Suite* suite = suite_create("dxvadec_tee");
  TCase* ours = tcase_create("ours");
  tcase_set_timeout(ours, 120);
  tcase_add_test(ours, padded_surfaces_go_into_all_branches_without_a_copy);
  tcase_add_test(ours, opaque_memory_goes_into_all_branches_without_a_copy);
  tcase_add_test(ours, known_surfaces_come_again_in_all_branches);
  tcase_add_test(ours, a_surface_is_not_written_while_one_branch_has_it);
  tcase_add_test(ours, copies_come_among_surfaces_in_all_branches);
  tcase_add_test(ours, one_branch_may_read_by_the_cpu_what_another_imports);
  tcase_add_test(ours, surfaces_are_asked_back_from_all_branches);
  tcase_add_test(ours, all_branches_are_right_after_seeks);
  suite_add_tcase(suite, ours);
  TCase* strangers = tcase_create("strangers");
  tcase_set_timeout(strangers, 180);
  tcase_add_test(strangers, a_stranger_among_the_branches_gets_what_it_can_read);
  tcase_add_test(strangers, branches_come_and_go_while_pictures_are_decoded);
  suite_add_tcase(suite, strangers);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv) || !set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_tee_suite(), "dxvadec_tee", __FILE__);
}
