// SPDX-License-Identifier: LGPL-2.1-or-later
// A decoder's surfaces take turns, so each is shown again and again: what was found out about
// it holds as long as nothing about it changes, and the buffer that it went out in is its
// buffer the next time as well. Nobody must see the last frame in it.

#include <sys/stat.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "gst/common/finished_memory.hpp"
#include "gst/common/memory_identity.hpp"
#include "gst/dxvagl/known_pictures.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_rig.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

const FrameLayout kSmall = make_layout("64x48", GST_VIDEO_FORMAT_NV12, 64, 48, 64, 48);

// A surface of dxvadec's: its memory says which buffer it is, and that it is written.
class Surface {
 public:
  explicit Surface(const FrameLayout& layout = kSmall) : frame_(layout) {
    struct stat file {};
    fail_unless(fstat(frame_.fd(), &file) == 0);
    dxva::gst::set_memory_identity(memory(), {.device = file.st_dev, .inode = file.st_ino});
    dxva::gst::set_finished(memory(), true);
  }
  [[nodiscard]] GstPtr<GstBuffer> show(uint32_t seed) {
    frame_.fill(seed);
    return frame_.buffer();
  }
  // Lent by the frame.
  [[nodiscard]] GstMemory* memory() { return gst_buffer_peek_memory(frame_.buffer().get(), 0); }
  [[nodiscard]] MemfdFrame& frame() { return frame_; }

 private:
  MemfdFrame frame_;
};

bool imports(UploadHarness& harness) {
  Surface surface;
  (void)harness.push(surface.show(0));
  if (!harness.imports()) std::printf("# SKIP not the rig that imports\n");
  return harness.imports();
}

void expect_picture(const GstPtr<GstBuffer>& buffer, uint32_t seed,
                    const FrameLayout& layout = kSmall) {
  const Comparison found = compare(buffer.get(), layout, seed);
  fail_unless(found.wrong_bytes == 0, "%s", found.first.c_str());
}

// What is in the textures, without the CPU's map that leaves pixels in the memories: those are
// not lent again.
void expect_picture_kept(const GstPtr<GstBuffer>& buffer, uint32_t seed) {
  expect_picture(GstPtr<GstBuffer>::adopt(gst_buffer_copy_deep(buffer.get())), seed);
}

guint metas_of(const GstPtr<GstBuffer>& buffer) {
  guint count = 0;
  for (gpointer state = nullptr; gst_buffer_iterate_meta(buffer.get(), &state);) ++count;
  return count;
}

// Of a buffer that is shown twice, so that it has a known one.
GstPtr<GstBuffer> show_known(UploadHarness& harness, Surface& surface, uint32_t seed) {
  for (int i = 0; i < 2; ++i) (void)harness.push(surface.show(0));
  return harness.push(surface.show(seed));
}

GST_START_TEST(a_surface_that_comes_again_has_the_buffer_that_it_had) {
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  std::array<Surface, 3> surfaces;
  std::array<const GstBuffer*, 3> had{};
  for (uint32_t i = 0; i < 12; ++i) {
    auto in = surfaces[i % 3].show(i);
    GST_BUFFER_PTS(in.get()) = i * GST_MSECOND;
    GST_BUFFER_DURATION(in.get()) = i % 2 ? GST_MSECOND : GST_CLOCK_TIME_NONE;
    if (i % 2) GST_BUFFER_FLAG_SET(in.get(), GST_BUFFER_FLAG_CORRUPTED);
    const GstPtr<GstBuffer> out = harness.push(std::move(in));
    if (had[i % 3]) fail_unless(out.get() == had[i % 3]);
    had[i % 3] = out.get();
    fail_unless_equals_uint64(GST_BUFFER_PTS(out.get()), i * GST_MSECOND);
    fail_unless(GST_BUFFER_DTS(out.get()) == GST_CLOCK_TIME_NONE);
    fail_unless(GST_BUFFER_DURATION_IS_VALID(out.get()) == (i % 2 == 1));
    fail_unless(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_CORRUPTED) == (i % 2 == 1));
    fail_unless(gst_buffer_is_writable(out.get()));
    fail_unless_equals_int(metas_of(out), 2);
    expect_picture_kept(out, i);
  }
  fail_unless_equals_uint64(harness.step("egl"), 13);
  fail_unless_equals_uint64(harness.stat("cache-hits"), 9);
}
GST_END_TEST;

GST_START_TEST(what_others_put_on_a_buffer_is_not_on_the_next_frame) {
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  Surface surface;
  (void)show_known(harness, surface, 1);
  for (uint32_t i = 0; i < 4; ++i) {
    auto in = surface.show(i);
    // Of the frame, and of a consumer, which moves the picture as well.
    gst_buffer_add_video_region_of_interest_meta(in.get(), "face", 1, 2, 3, 4);
    const GstPtr<GstBuffer> out = harness.push(std::move(in));
    fail_unless(gst_buffer_get_video_region_of_interest_meta_id(out.get(), 0));
    gst_buffer_add_video_crop_meta(out.get());
    GST_BUFFER_OFFSET(out.get()) = 7;
    GST_BUFFER_FLAG_SET(out.get(), GST_BUFFER_FLAG_DISCONT);
    fail_unless_equals_int(metas_of(out), 4);
  }
  const GstPtr<GstBuffer> out = harness.push(surface.show(9));
  fail_unless_equals_int(metas_of(out), 2);
  fail_unless(GST_BUFFER_OFFSET(out.get()) == GST_BUFFER_OFFSET_NONE);
  fail_unless(!GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DISCONT));
  expect_picture(out, 9);
}
GST_END_TEST;

// Each of these is done to a buffer that came for the third time.
void (*const kChanges[])(GstBuffer*) = {
    [](GstBuffer* buffer) { gst_buffer_get_video_meta(buffer)->width = 2; },
    [](GstBuffer* buffer) { gst_buffer_get_video_meta(buffer)->offset[1] = 0; },
    [](GstBuffer* buffer) {
      gst_buffer_remove_meta(buffer, &gst_buffer_get_video_meta(buffer)->meta);
    },
    [](GstBuffer* buffer) {
      gst_buffer_remove_meta(buffer, &gst_buffer_get_gl_sync_meta(buffer)->parent);
    },
    [](GstBuffer* buffer) {
      gst_buffer_append_memory(buffer, gst_allocator_alloc(nullptr, 16, nullptr));
    },
    [](GstBuffer* buffer) { gst_buffer_remove_memory(buffer, 1); },
    [](GstBuffer* buffer) { gst_buffer_remove_all_memory(buffer); },
    [](GstBuffer* buffer) {
      gst_buffer_replace_memory(buffer, 0, gst_allocator_alloc(nullptr, 16, nullptr));
    },
    [](GstBuffer* buffer) {
      gst_buffer_replace_memory(buffer, 1, gst_allocator_alloc(nullptr, 16, nullptr));
    },
    [](GstBuffer* buffer) { gst_buffer_resize(buffer, 8, 64); },
};

GST_START_TEST(a_buffer_that_was_changed_is_not_shown_again) {
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  for (const auto change : kChanges) {
    Surface surface;
    {
      const GstPtr<GstBuffer> out = show_known(harness, surface, 1);
      change(out.get());
    }
    for (uint32_t seed = 3; seed < 6; ++seed) {
      const GstPtr<GstBuffer> out = harness.push(surface.show(seed));
      fail_unless_equals_int(metas_of(out), 2);
      fail_unless_equals_int(gst_buffer_n_memory(out.get()), 2);
      fail_unless_equals_int(gst_buffer_get_video_meta(out.get())->width, kSmall.width);
      expect_picture_kept(out, seed);
    }
  }
}
GST_END_TEST;

GST_START_TEST(who_waits_for_a_buffers_end_sees_it) {
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  Surface surface;
  std::atomic<int> ended{0};
  for (int i = 1; i < 4; ++i) {
    GstPtr<GstBuffer> out = show_known(harness, surface, 1);
    gst_mini_object_weak_ref(
        GST_MINI_OBJECT_CAST(out.get()),
        [](gpointer count, GstMiniObject*) { ++*static_cast<std::atomic<int>*>(count); },
        &ended);
    out.reset();
    fail_unless_equals_int(ended.load(), i);
  }
}
GST_END_TEST;

// A consumer's meta, and what is done when it is freed. As large as the one that ours is.
struct Note {
  GstMeta meta;
  std::function<void()>* freed;
  std::array<std::byte, sizeof(GstGLSyncMeta) - sizeof(GstMeta) - sizeof(void*)> rest;
};

const GstMetaInfo* note_info() {
  static const GstMetaInfo* info = [] {
    const gchar* tags[] = {nullptr};
    return gst_meta_register(
        gst_meta_api_type_register("DxvaTestNoteAPI", tags), "DxvaTestNote", sizeof(Note),
        [](GstMeta* meta, gpointer, GstBuffer*) -> gboolean {
          reinterpret_cast<Note*>(meta)->freed = nullptr;
          return TRUE;
        },
        [](GstMeta* meta, GstBuffer*) { (*reinterpret_cast<Note*>(meta)->freed)(); },
        [](GstBuffer*, GstMeta*, GstBuffer*, GQuark, gpointer) -> gboolean { return FALSE; });
  }();
  return info;
}

// It may wait for the GL thread, where another frame of the surface is being shown.
GST_START_TEST(a_consumers_meta_may_show_the_surface_while_it_is_freed) {
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  Surface surface;
  GstPtr<GstBuffer> out = show_known(harness, surface, 1), beside;
  std::function<void()> show = [&] { beside = harness.push(surface.show(2)); };
  reinterpret_cast<Note*>(gst_buffer_add_meta(out.get(), note_info(), nullptr))->freed = &show;
  out.reset();
  fail_unless(beside);
  expect_picture_kept(beside, 2);
}
GST_END_TEST;

// A meta that the allocator has put where the buffer's sync meta was; null: it never did.
GstMeta* in_the_place_of_ours(GstBuffer* buffer, const std::function<GstMeta*()>& add) {
  GstMeta* ours = &gst_buffer_get_gl_sync_meta(buffer)->parent;
  gst_buffer_remove_meta(buffer, ours);
  for (int i = 0; i < 1000; ++i) {
    GstMeta* theirs = add();
    if (theirs == ours) return theirs;
    gst_buffer_remove_meta(buffer, theirs);
  }
  std::printf("# SKIP the allocator gives no address twice\n");  // AddressSanitizer's
  return nullptr;
}

std::atomic<int> sync_metas_freed{0};

GST_START_TEST(a_consumers_sync_meta_in_the_place_of_ours_is_freed_by_him) {
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  Surface surface;
  sync_metas_freed = 0;
  for (int i = 1; i < 4; ++i) {
    GstPtr<GstBuffer> out = show_known(harness, surface, 1);
    GstGLContext* context = gst_buffer_get_gl_sync_meta(out.get())->context;
    auto* theirs = reinterpret_cast<GstGLSyncMeta*>(in_the_place_of_ours(
        out.get(), [&] { return &gst_buffer_add_gl_sync_meta(context, out.get())->parent; }));
    if (!theirs) return;
    theirs->free = [](GstGLSyncMeta*, GstGLContext*) { ++sync_metas_freed; };
    out.reset();
    fail_unless_equals_int(sync_metas_freed.load(), i);
  }
}
GST_END_TEST;

GST_START_TEST(a_consumers_meta_in_the_place_of_ours_is_freed_by_him) {
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  Surface surface;
  int freed = 0;
  std::function<void()> count = [&] { ++freed; }, nothing = [] {};
  for (int i = 1; i < 4; ++i) {
    GstPtr<GstBuffer> out = show_known(harness, surface, 1);
    GstMeta* theirs = in_the_place_of_ours(out.get(), [&] {
      GstMeta* meta = gst_buffer_add_meta(out.get(), note_info(), nullptr);
      reinterpret_cast<Note*>(meta)->freed = &nothing;
      return meta;
    });
    if (!theirs) return;
    reinterpret_cast<Note*>(theirs)->freed = &count;
    out.reset();
    fail_unless_equals_int(freed, i);
  }
}
GST_END_TEST;

GST_START_TEST(a_frame_that_cannot_be_lent_again_is_one_hit) {
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  Surface surface;
  (void)show_known(harness, surface, 1);
  const uint64_t before = harness.stat("cache-hits");
  for (uint32_t i = 0; i < 4; ++i) expect_picture(harness.push(surface.show(i)), i);
  fail_unless_equals_uint64(harness.stat("cache-hits"), before + 4);
}
GST_END_TEST;

GST_START_TEST(who_keeps_a_buffer_or_a_part_of_it_keeps_its_picture) {
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  Surface surface;
  GstPtr<GstBuffer> kept = show_known(harness, surface, 1);
  // As a tee with a queue does: the surface is sent while it is out, and then once more.
  GstPtr<GstBuffer> beside = harness.push(surface.show(1));
  fail_unless(beside && beside.get() != kept.get());
  expect_picture_kept(beside, 1);
  kept.reset();
  expect_picture_kept(beside, 1);
  beside.reset();

  // A writable copy shares the memories.
  kept = show_known(harness, surface, 2);
  const GstPtr<GstBuffer> shared = kept;
  auto writable = GstPtr<GstBuffer>::adopt(gst_buffer_make_writable(kept.release()));
  fail_unless(writable.get() != shared.get());
  GST_BUFFER_PTS(writable.get()) = 5;
  expect_picture_kept(writable, 2);

  // One memory alone is enough to keep the surface, and with it the other pictures away.
  Surface other;
  GstPtr<GstBuffer> out = show_known(harness, other, 3);
  const auto part = GstPtr<GstMemory>::adopt(gst_buffer_get_memory(out.get(), 1));
  out.reset();
  out = harness.push(other.show(3));
  fail_unless(gst_buffer_peek_memory(out.get(), 1) != part.get());
  expect_picture_kept(out, 3);
}
GST_END_TEST;

// The input buffer goes when the picture is read, and the textures with the caps or the
// element, though their buffer is at home and nobody has it.
GST_START_TEST(nothing_outlives_its_caps_or_its_element) {
  for (const bool by_caps : {true, false}) {
    auto harness = std::make_unique<UploadHarness>(kSmall);
    if (!imports(*harness)) return;
    std::vector<std::unique_ptr<Surface>> surfaces;
    std::atomic<int> freed{0}, back{0};
    const auto count = [](gpointer to, GstMiniObject*) {
      ++*static_cast<std::atomic<int>*>(to);
      static_cast<std::atomic<int>*>(to)->notify_all();
    };
    for (int i = 0; i < 4; ++i) {
      surfaces.push_back(std::make_unique<Surface>());
      (void)show_known(*harness, *surfaces.back(), 1);
      auto in = surfaces.back()->show(2);
      gst_mini_object_weak_ref(GST_MINI_OBJECT_CAST(in.get()), count, &back);
      const GstPtr<GstBuffer> out = harness->push(std::move(in));
      for (guint k = 0; k < gst_buffer_n_memory(out.get()); ++k)
        gst_mini_object_weak_ref(GST_MINI_OBJECT_CAST(gst_buffer_peek_memory(out.get(), k)),
                                 count, &freed);
    }
    for (int now = back; now < 4; now = back) back.wait(now);
    fail_unless_equals_int(freed.load(), 0);
    if (by_caps) {
      const FrameLayout other = make_layout("32x32", GST_VIDEO_FORMAT_NV12, 32, 32, 64, 32);
      gst_harness_set_src_caps_str(harness->get(), other.caps("memory:DMABuf").c_str());
      Surface small(other);
      expect_picture(harness->push(small.show(1)), 1, other);
    } else {
      harness.reset();
    }
    fail_unless_equals_int(freed.load(), 8);
  }
}
GST_END_TEST;

// Whatever is said of the same memory the next time is heard.
GST_START_TEST(a_known_surface_whose_picture_lies_elsewhere_is_looked_at_again) {
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  // Two pictures in one memory, the second one behind the first, and wider apart.
  const FrameLayout far =
      make_layout("64x48 far", GST_VIDEO_FORMAT_NV12, 64, 48, 128, 48, 64 * 80);
  MemfdFrame frame(far);
  struct stat file {};
  fail_unless(fstat(frame.fd(), &file) == 0);
  GstMemory* memory = gst_buffer_peek_memory(frame.buffer().get(), 0);
  dxva::gst::set_memory_identity(memory, {.device = file.st_dev, .inode = file.st_ino});
  dxva::gst::set_finished(memory, true);
  const auto near = [&] {
    auto buffer = GstPtr<GstBuffer>::adopt(gst_buffer_new());
    gst_buffer_append_memory(buffer.get(), gst_memory_ref(memory));
    add_video_meta(buffer.get(), kSmall);
    return buffer;
  };
  frame.fill(4);
  for (int i = 0; i < 3; ++i) expect_picture_kept(harness.push(frame.buffer()), 4);
  const Comparison found = compare(harness.push(near()).get(), kSmall, 4);
  fail_unless(found.wrong_bytes > 0);  // not the picture that is 5 KB further on
  for (int i = 0; i < 3; ++i) expect_picture_kept(harness.push(frame.buffer()), 4);
  // By a rectangle of the caps' size, in a picture that is larger than they say.
  auto cropped = frame.buffer();
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(cropped.get());
  *crop = {.meta = crop->meta, .x = 0, .y = 2, .width = 64, .height = 48};
  gst_buffer_get_video_meta(cropped.get())->offset[0] -= 256;
  gst_buffer_get_video_meta(cropped.get())->offset[1] -= 128;
  expect_picture_kept(harness.push(std::move(cropped)), 4);
  expect_picture_kept(harness.push(frame.buffer()), 4);
  // Shares of it begin elsewhere in the file.
  auto shared = GstPtr<GstBuffer>::adopt(gst_buffer_new());
  gst_buffer_append_memory(shared.get(), gst_memory_share(memory, 64 * 80, -1));
  FrameLayout moved = far;
  moved.offset = {0, far.offset[1] - far.offset[0]};
  add_video_meta(shared.get(), moved);
  expect_picture_kept(harness.push(std::move(shared)), 4);
}
GST_END_TEST;

GST_START_TEST(a_wish_is_heard_by_known_surfaces) {
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  Surface surface;
  (void)show_known(harness, surface, 1);
  const uint64_t before = harness.step("egl");
  g_object_set(harness.element(), "import", 3, nullptr);  // copy
  expect_picture(harness.push(surface.show(2)), 2);
  fail_unless_equals_uint64(harness.step("egl"), before);
  g_object_set(harness.element(), "import", 0, nullptr);  // auto
  expect_picture(harness.push(surface.show(3)), 3);
  fail_unless_equals_uint64(harness.step("egl"), before + 1);
}
GST_END_TEST;

// KnownPictures itself, in a session that only the test knows.
struct Known {
  UploadHarness harness{kSmall};
  std::shared_ptr<dxva::gst::GlSession> session;
  dxva::gst::KnownPictures pictures;
  std::shared_ptr<const dxva::gl::Imported> imported =
      std::make_shared<const dxva::gl::Imported>();

  [[nodiscard]] bool begin() {
    if (!imports(harness)) return false;
    const auto context = get_gl_context(harness);
    dxva::gst::GstGlThread(context.get()).run([&] {
      session = dxva::gst::GlSession::create(context.get());
    });
    return session != nullptr;
  }
  void keep(GstBuffer* buffer) { pictures.keep(*session, buffer, imported); }
  [[nodiscard]] bool finds(GstBuffer* buffer) {
    return pictures.find(*session, buffer) == imported;
  }
};

GST_START_TEST(known_is_what_its_maker_answers_for_and_nobody_has_changed) {
  Known known;
  if (!known.begin()) return;
  Surface surface, other;
  const auto buffer = surface.show(0);
  fail_unless(!known.finds(buffer.get()));
  known.keep(buffer.get());
  fail_unless(known.finds(buffer.get()));
  fail_unless(known.finds(surface.show(1).get()));  // the memory counts
  fail_unless(!known.finds(other.show(1).get()));
  // A fence may be pending.
  dxva::gst::set_finished(surface.memory(), false);
  fail_unless(!known.finds(buffer.get()));
  dxva::gst::set_finished(surface.memory(), true);
  fail_unless(known.finds(buffer.get()));
  // More is said than was looked at.
  gst_buffer_add_video_crop_meta(buffer.get());
  fail_unless(!known.finds(buffer.get()));
  // Nobody answers for a stranger's descriptor.
  MemfdFrame stranger(kSmall);
  dxva::gst::set_finished(gst_buffer_peek_memory(stranger.buffer().get(), 0), true);
  known.keep(stranger.buffer().get());
  fail_unless(!known.finds(stranger.buffer().get()));
}
GST_END_TEST;

GST_START_TEST(known_is_nothing_that_has_left_the_cache_or_lost_its_import) {
  Known known;
  if (!known.begin()) return;
  Surface surface;
  const auto buffer = surface.show(0);
  known.keep(buffer.get());
  known.session->cache()->clear();
  fail_unless(!known.finds(buffer.get()));
  known.keep(buffer.get());
  fail_unless(known.finds(buffer.get()));
  {
    // A memory's end, though it was never imported: another may be where it was.
    Surface brief;
    known.keep(brief.show(0).get());
  }
  fail_unless(!known.finds(buffer.get()));
  known.keep(buffer.get());
  fail_unless(known.finds(buffer.get()));
  // It is not kept alive by being known.
  known.imported.reset();
  fail_unless(!known.pictures.find(*known.session, buffer.get()));
}
GST_END_TEST;

}  // namespace

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv)) return 77;
  Suite* suite = suite_create("dxvaglupload_again");
  TCase* tests = tcase_create("general");
  tcase_set_timeout(tests, 120);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, a_surface_that_comes_again_has_the_buffer_that_it_had);
  tcase_add_test(tests, what_others_put_on_a_buffer_is_not_on_the_next_frame);
  tcase_add_test(tests, a_buffer_that_was_changed_is_not_shown_again);
  tcase_add_test(tests, who_waits_for_a_buffers_end_sees_it);
  tcase_add_test(tests, a_consumers_meta_may_show_the_surface_while_it_is_freed);
  tcase_add_test(tests, a_consumers_sync_meta_in_the_place_of_ours_is_freed_by_him);
  tcase_add_test(tests, a_consumers_meta_in_the_place_of_ours_is_freed_by_him);
  tcase_add_test(tests, a_frame_that_cannot_be_lent_again_is_one_hit);
  tcase_add_test(tests, who_keeps_a_buffer_or_a_part_of_it_keeps_its_picture);
  tcase_add_test(tests, nothing_outlives_its_caps_or_its_element);
  tcase_add_test(tests, a_known_surface_whose_picture_lies_elsewhere_is_looked_at_again);
  tcase_add_test(tests, a_wish_is_heard_by_known_surfaces);
  tcase_add_test(tests, known_is_what_its_maker_answers_for_and_nobody_has_changed);
  tcase_add_test(tests, known_is_nothing_that_has_left_the_cache_or_lost_its_import);
  return gst_check_run_suite(suite, "dxvaglupload_again", __FILE__);
}
