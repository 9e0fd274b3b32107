// SPDX-License-Identifier: LGPL-2.1-or-later

// dxvaglupload tells which GPU OpenGL draws with: to a decoder that asks, and to the bins for
// one that comes later. And it follows to another display.

#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "gst/common/gl_device_context.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_rig.hpp"

using namespace dxva;
using gst::GstPtr;

namespace {

std::optional<gst::GlDeviceFacts> ask(GstElement* element) {
  const auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(element, "sink"));
  const auto query = GstPtr<GstQuery>::adopt(gst_query_new_context(gst::kGlDeviceContext));
  if (!gst_pad_query(pad.get(), query.get())) return std::nullopt;
  GstContext* found = nullptr;
  gst_query_parse_context(query.get(), &found);
  return gst::gl_device_of(found);
}

std::string renderer_in_stats(GstElement* element) {
  GstStructure* raw = nullptr;
  g_object_get(element, "stats", &raw, nullptr);
  const gst::StructurePtr stats(raw);
  const char* renderer = gst_structure_get_string(raw, "renderer");
  return renderer ? renderer : "";
}

GstPtr<GstElement> make_uploader() {
  GstElement* made = gst_element_factory_make("dxvaglupload", nullptr);
  fail_unless(made != nullptr);
  return GstPtr<GstElement>::adopt(GST_ELEMENT(gst_object_ref_sink(made)));
}

GST_START_TEST(gpu_is_told_before_any_caps) {
  const auto element = make_uploader();
  fail_if(ask(element.get()).has_value(), "there is no display in NULL");
  fail_unless(gst_element_set_state(element.get(), GST_STATE_READY) ==
              GST_STATE_CHANGE_SUCCESS);
  const auto facts = ask(element.get());
  fail_unless(facts.has_value());
  fail_if(facts->renderer.empty());
  fail_unless(facts->renderer == renderer_in_stats(element.get()));
  // Mesa's llvmpipe is on no GPU, unless there is a node that it sits on.
  if (test::rig_must_import()) fail_unless(facts->node.empty(), "%s", facts->node.c_str());
  gst_element_set_state(element.get(), GST_STATE_NULL);
  fail_if(ask(element.get()).has_value());
}
GST_END_TEST;

GST_START_TEST(bins_are_told_once_for_each_start) {
  const auto bus = GstPtr<GstBus>::adopt(gst_bus_new());
  const auto element = make_uploader();
  gst_element_set_bus(element.get(), bus.get());
  for (int start = 0; start < 2; ++start) {
    gst_element_set_state(element.get(), GST_STATE_READY);
    for (int i = 0; i < 3; ++i) fail_unless(ask(element.get()).has_value());
    gst_element_set_state(element.get(), GST_STATE_NULL);
  }
  int told = 0;
  while (auto message = GstPtr<GstMessage>::adopt(
             gst_bus_pop_filtered(bus.get(), GST_MESSAGE_HAVE_CONTEXT))) {
    GstContext* raw = nullptr;
    gst_message_parse_have_context(message.get(), &raw);
    const auto context = GstPtr<GstContext>::adopt(raw);
    if (!gst::gl_device_of(raw)) continue;
    ++told;
    fail_if(gst_context_is_persistent(raw));
  }
  gst_element_set_bus(element.get(), nullptr);
  fail_unless_equals_int(told, 2);
}
GST_END_TEST;

GST_START_TEST(other_contexts_are_no_devices) {
  fail_if(gst::gl_device_of(nullptr).has_value());
  const auto other = GstPtr<GstContext>::adopt(gst_context_new("gst.gl.GLDisplay", TRUE));
  fail_if(gst::gl_device_of(other.get()).has_value());
  const auto empty = GstPtr<GstContext>::adopt(gst_context_new(gst::kGlDeviceContext, TRUE));
  const auto facts = gst::gl_device_of(empty.get());
  fail_unless(facts && facts->node.empty() && facts->renderer.empty());
  const auto made = gst::make_gl_device_context({.node = "/dev/dri/card0", .renderer = "R"});
  const auto back = gst::gl_device_of(made.get());
  fail_unless(back && back->node == "/dev/dri/card0" && back->renderer == "R");
}
GST_END_TEST;

// --- another display, in the middle of a picture

const test::FrameLayout kLayout =
    test::make_layout("64x48", GST_VIDEO_FORMAT_NV12, 64, 48, 64, 48);

// Memory that does something when it is read.
struct EventfulMemory {
  GstMemory parent;
  std::vector<uint8_t> bytes;
  std::function<void()> at_map;
};

struct EventfulAllocator {
  GstAllocator parent;
};
struct EventfulAllocatorClass {
  GstAllocatorClass parent;
};
G_DEFINE_TYPE(EventfulAllocator, eventful_allocator, GST_TYPE_ALLOCATOR)

void eventful_allocator_class_init(EventfulAllocatorClass* klass) {
  GST_ALLOCATOR_CLASS(klass)->free = [](GstAllocator*, GstMemory* memory) {
    delete reinterpret_cast<EventfulMemory*>(memory);
  };
}

void eventful_allocator_init(EventfulAllocator* self) {
  auto* allocator = GST_ALLOCATOR(self);
  allocator->mem_type = "Eventful";
  allocator->mem_map = [](GstMemory* raw, gsize, GstMapFlags) -> gpointer {
    auto* memory = reinterpret_cast<EventfulMemory*>(raw);
    if (auto event = std::exchange(memory->at_map, nullptr)) event();
    return memory->bytes.data();
  };
  allocator->mem_unmap = [](GstMemory*) {};
}

GstPtr<GstBuffer> picture(uint32_t seed, std::function<void()> at_map) {
  test::MemfdFrame frame(kLayout);
  frame.fill(seed);
  auto* memory = new EventfulMemory{
      .parent = {}, .bytes = {frame.data(), frame.data() + kLayout.size}, .at_map = at_map};
  const auto allocator = GstPtr<GstAllocator>::adopt(
      GST_ALLOCATOR(gst_object_ref_sink(g_object_new(eventful_allocator_get_type(), nullptr))));
  gst_memory_init(&memory->parent, GST_MEMORY_FLAG_NO_SHARE, allocator.get(), nullptr,
                  kLayout.size, 0, 0, kLayout.size);
  auto out = GstPtr<GstBuffer>::adopt(gst_buffer_new());
  gst_buffer_append_memory(out.get(), &memory->parent);
  test::add_video_meta(out.get(), kLayout);
  return out;
}

// An application sets the display, and somebody asks for caps, for which the context on the
// display is needed: on other threads than that of the stream, which here waits for them.
void change_display(GstElement* element) {
  const auto display = GstPtr<GstGLDisplay>::adopt(gst_gl_display_new());
  const auto context =
      GstPtr<GstContext>::adopt(gst_context_new(GST_GL_DISPLAY_CONTEXT_TYPE, TRUE));
  gst_context_set_gl_display(context.get(), display.get());
  gst_element_set_context(element, context.get());
  const auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(element, "sink"));
  const auto caps = GstPtr<GstCaps>::adopt(gst_pad_query_caps(pad.get(), nullptr));
  fail_unless(caps && !gst_caps_is_empty(caps.get()));
}

GST_START_TEST(the_display_may_change_in_the_middle_of_a_picture) {
  test::UploadHarness harness("video/x-raw(memory:GLMemory),format=NV12",
                              kLayout.caps(nullptr));
  for (uint32_t seed = 0; seed < 4; ++seed) {
    const auto out = harness.push(
        picture(seed, [&] { std::thread(change_display, harness.element()).join(); }));
    fail_unless(bool(out));
    const test::Comparison result = test::compare(out.get(), kLayout, seed);
    fail_unless(result.wrong_bytes == 0, "%s", result.first.c_str());
  }
}
GST_END_TEST;

Suite* dxvaglupload_device_suite() {
  Suite* suite = suite_create("dxvaglupload_device");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, gpu_is_told_before_any_caps);
  tcase_add_test(tcase, bins_are_told_once_for_each_start);
  tcase_add_test(tcase, other_contexts_are_no_devices);
  tcase_add_test(tcase, the_display_may_change_in_the_middle_of_a_picture);
  return suite;
}

}  // namespace

int main(int argc, char** argv) {
  if (!test::set_up_gl_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvaglupload_device_suite(), "dxvaglupload_device", __FILE__);
}
