// SPDX-License-Identifier: LGPL-2.1-or-later

// Sizes and rates that downstream takes reach whoever upstream can choose them, and downstream
// is asked in a way that needs no OpenGL context.

#include <vector>

#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

GstPtr<GstCaps> caps(const char* text) {
  return GstPtr<GstCaps>::adopt(gst_caps_from_string(text));
}

// What a decoder answers in front of an element that lets these caps through.
GstPtr<GstCaps> taken(const char* limit, const char* filter = nullptr,
                      const char* decoder = "dxvadec") {
  const auto pipeline =
      launch(std::string(decoder) + " name=dec ! capsfilter name=limit ! fakesink");
  // Behind the links, which are refused where the pads' caps have nothing in common.
  g_object_set(child(pipeline, "limit").get(), "caps", caps(limit).get(), nullptr);
  gst_element_set_state(pipeline.get(), GST_STATE_READY);
  const auto pad =
      GstPtr<GstPad>::adopt(gst_element_get_static_pad(child(pipeline, "dec").get(), "sink"));
  const auto about = filter ? caps(filter) : GstPtr<GstCaps>();
  auto out = GstPtr<GstCaps>::adopt(gst_pad_query_caps(pad.get(), about.get()));
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return out;
}

void expect(const GstPtr<GstCaps>& got, const char* possible, const char* impossible) {
  GstCaps* raw = got.get();
  if (possible)
    fail_unless(gst_caps_can_intersect(raw, caps(possible).get()), "%s is not in %s", possible,
                dxva::gst::GlibString(gst_caps_to_string(raw)).get());
  fail_if(gst_caps_can_intersect(raw, caps(impossible).get()), "%s is in %s", impossible,
          dxva::gst::GlibString(gst_caps_to_string(raw)).get());
}

}  // namespace

GST_START_TEST(limits_of_downstream_reach_upstream) {
  const struct {
    const char* limit;
    const char* possible;
    const char* impossible;
  } cases[] = {
      {"video/x-raw,width=64", "video/x-h264,width=64", "video/x-h264,width=80"},
      {"video/x-raw,height=[16,64]", "image/jpeg,height=48", "image/jpeg,height=80"},
      {"video/x-raw,framerate=25/1", "video/x-vp9,framerate=25/1",
       "video/x-vp9,framerate=30/1"},
      {"video/x-raw,pixel-aspect-ratio=1/1", "video/x-h265,pixel-aspect-ratio=1/1",
       "video/x-h265,pixel-aspect-ratio=4/3"},
      {"video/x-raw(memory:DMABuf),width=64", "video/x-h264,width=64", "video/x-h264,width=80"},
      {"video/x-raw(memory:DMABuf),width=32;video/x-raw,format=GRAY8,width=64",
       "video/x-h264,width=64", "video/x-h264,width=80"},
      // Pictures that come out of none.
      {"video/x-raw,format=BGR,width=64", nullptr, "video/x-h264,width=64"},
      {"audio/x-raw", nullptr, "video/x-h264"},
      {"ANY", "video/x-h264,width=64", "video/x-raw"},
  };
  for (const auto& one : cases) {
    std::printf("# %s\n", one.limit);
    expect(taken(one.limit), one.possible, one.impossible);
    expect(taken(one.limit, "video/x-h264;video/x-h265;video/x-vp9;image/jpeg"), one.possible,
           one.impossible);
  }
}
GST_END_TEST

GST_START_TEST(the_answer_keeps_to_the_question) {
  const auto answer = taken("video/x-raw,width=[32,64]",
                            "video/x-h264,stream-format=avc,width=[48,80];video/x-theora");
  fail_if(gst_caps_is_empty(answer.get()));
  fail_unless(gst_caps_is_subset(answer.get(),
                                 caps("video/x-h264,stream-format=avc,width=[48,64]").get()));
  fail_unless(gst_caps_is_empty(taken("ANY", "EMPTY").get()));
  fail_unless(gst_caps_is_equal(taken("ANY", "ANY").get(), taken("ANY").get()));
}
GST_END_TEST

// As the class of all decoders does it, which asks about every memory.
GST_START_TEST(the_answer_is_that_of_other_decoders) {
  for (const char* limit :
       {"ANY", "video/x-raw,width=64,height=48,framerate=25/1",
        "video/x-raw,format=I420,width=[16,64];video/x-raw,format=NV12,height=48"}) {
    const char* filter = "video/x-h264,stream-format=avc,alignment=au,parsed=true";
    const auto ours = taken(limit, filter);
    const auto theirs = taken(limit, filter, "avdec_h264");
    const auto common = caps(
        "video/x-h264,stream-format=avc,alignment=au,parsed=true,"
        "width=[1,8192],height=[1,8192],framerate=[1/1,60/1]");
    const auto cut = [&](const GstPtr<GstCaps>& of) {
      return GstPtr<GstCaps>::adopt(gst_caps_intersect(common.get(), of.get()));
    };
    fail_unless(gst_caps_is_equal(cut(ours).get(), cut(theirs).get()), "%s: %s, wanted %s",
                limit, dxva::gst::GlibString(gst_caps_to_string(cut(ours).get())).get(),
                dxva::gst::GlibString(gst_caps_to_string(cut(theirs).get())).get());
  }
}
GST_END_TEST

GST_START_TEST(downstream_is_asked_of_system_memory_alone) {
  const auto pipeline = launch("dxvadec name=dec ! fakesink name=sink");
  gst_element_set_state(pipeline.get(), GST_STATE_READY);
  const auto asked =
      GstPtr<GstPad>::adopt(gst_element_get_static_pad(child(pipeline, "sink").get(), "sink"));
  std::vector<GstPtr<GstCaps>> questions;
  gst_pad_add_probe(
      asked.get(), GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
      [](GstPad*, GstPadProbeInfo* info, gpointer user) {
        GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
        GstCaps* filter = nullptr;
        if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS &&
            GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_PUSH) {
          gst_query_parse_caps(query, &filter);
          static_cast<std::vector<GstPtr<GstCaps>>*>(user)->push_back(
              GstPtr<GstCaps>::share(filter));
        }
        return GST_PAD_PROBE_OK;
      },
      &questions, nullptr);
  const auto pad =
      GstPtr<GstPad>::adopt(gst_element_get_static_pad(child(pipeline, "dec").get(), "sink"));
  for (const char* filter : {"", "video/x-h264,width=64", "ANY"}) {
    questions.clear();
    const auto about = *filter ? caps(filter) : GstPtr<GstCaps>();
    (void)GstPtr<GstCaps>::adopt(gst_pad_query_caps(pad.get(), about.get()));
    fail_unless_equals_int(questions.size(), 1);
    GstCaps* question = questions[0].get();
    fail_unless(question && !gst_caps_is_any(question) && !gst_caps_is_empty(question));
    for (guint i = 0; i < gst_caps_get_size(question); ++i)
      fail_unless(gst_caps_features_is_equal(gst_caps_get_features(question, i),
                                             GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY));
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}
GST_END_TEST

static Suite* dxvadec_limits_suite() {
  Suite* suite = suite_create("dxvadec_limits");
  TCase* tcase = tcase_create("general");
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, limits_of_downstream_reach_upstream);
  tcase_add_test(tcase, the_answer_keeps_to_the_question);
  tcase_add_test(tcase, the_answer_is_that_of_other_decoders);
  tcase_add_test(tcase, downstream_is_asked_of_system_memory_alone);
  suite_add_tcase(suite, tcase);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_limits_suite(), "dxvadec_limits", __FILE__);
}
