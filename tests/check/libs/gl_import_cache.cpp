// SPDX-License-Identifier: LGPL-2.1-or-later
// Textures made once per buffer and layout, and what makes them go.

#include "lib/gl/import_cache.hpp"

#include "tests/check/support/check.hpp"
#include "tests/check/support/fake_gl.hpp"

using namespace dxva;
using gl::ImportCache;
using gl::ImportKey;
using Kind = gl::ImportCache::Answer::Kind;

namespace {

ImportKey key(uint64_t inode, uint64_t chroma_offset = 64 * 48) {
  video::ImageDescription image{
      .fourcc = 1, .width = 64, .height = 48, .object_count = 1, .plane_count = 2};
  image.objects[0].identity = {.device = 1, .inode = inode};
  image.planes[0] = {.object = 0, .offset = 0, .pitch_bytes = 64};
  image.planes[1] = {.object = 0, .offset = chroma_offset, .pitch_bytes = 64};
  return ImportKey::of(image);
}

std::shared_ptr<const gl::Imported> textures() {
  return std::make_shared<const gl::Imported>(
      gl::Imported{.step = Step::Egl,
                   .source = gl::PlaneTextures{gl::TextureSet::create(
                       std::make_shared<test::FakeGlThread>(),
                       std::make_shared<const gl::GlApi>(test::FakeGl::api()), 2)}});
}

}  // namespace

GST_START_TEST(the_same_buffer_in_the_same_layout_is_found) {
  ImportCache cache;
  fail_unless(cache.find(key(7)).kind == Kind::Miss);
  auto made = textures();
  cache.store(key(7), made);
  fail_unless(cache.find(key(7)).imported == made);
  fail_unless_equals_uint64(cache.counts().hits, 1);
  fail_unless_equals_uint64(cache.counts().misses, 1);
}
GST_END_TEST;

GST_START_TEST(another_layout_of_the_same_buffer_is_another_import) {
  ImportCache cache;
  cache.store(key(7), textures());
  fail_unless(cache.find(key(7, 64 * 50)).kind == Kind::Miss);
  fail_unless(cache.find(key(8)).kind == Kind::Miss);
}
GST_END_TEST;

GST_START_TEST(the_least_recently_used_import_leaves_first) {
  test::FakeGl::reset();
  ImportCache cache(3);
  for (uint64_t inode : {1, 2, 3}) cache.store(key(inode), textures());
  (void)cache.find(key(1));
  cache.store(key(4), textures());
  fail_unless(cache.find(key(2)).kind == Kind::Miss);
  for (uint64_t inode : {1, 3, 4}) fail_unless(cache.find(key(inode)).kind == Kind::Hit);
  fail_unless_equals_int(test::FakeGl::get().textures_alive, 6);
}
GST_END_TEST;

GST_START_TEST(textures_in_use_outlive_their_entry) {
  test::FakeGl::reset();
  ImportCache cache;
  cache.store(key(1), textures());
  auto shown = cache.find(key(1)).imported;
  cache.clear();
  fail_unless_equals_int(cache.size(), 0);
  fail_unless_equals_int(test::FakeGl::get().textures_alive, 2);
  shown.reset();
  fail_unless_equals_int(test::FakeGl::get().textures_alive, 0);
}
GST_END_TEST;

GST_START_TEST(a_buffer_that_dies_takes_all_its_layouts_along) {
  ImportCache cache;
  cache.store(key(1), textures());
  cache.store(key(1, 64 * 50), textures());
  cache.store(key(2), textures());
  cache.evict({.device = 1, .inode = 1});
  fail_unless_equals_int(cache.size(), 1);
  fail_unless(cache.find(key(2)).kind == Kind::Hit);
}
GST_END_TEST;

GST_START_TEST(a_refusal_is_remembered_and_retried_after_a_back_off) {
  ImportCache cache;
  (void)cache.find(key(1));
  cache.store_refusal(key(1), Reason::EglBadAlloc);
  for (uint64_t frame = 1; frame < ImportCache::kFirstBackOff; ++frame) {
    const ImportCache::Answer answer = cache.find(key(1));
    fail_unless(answer.kind == Kind::Refused && answer.reason == Reason::EglBadAlloc);
  }
  fail_unless(cache.find(key(1)).kind == Kind::Miss);
}
GST_END_TEST;

GST_START_TEST(each_further_refusal_doubles_the_back_off_up_to_a_bound) {
  ImportCache cache;
  const auto refused_frames = [&] {
    uint64_t frames = 0;
    while (cache.find(key(1)).kind == Kind::Refused) ++frames;
    return frames + 1;  // with the one that is asked again
  };
  cache.store_refusal(key(1), Reason::EglBadAlloc);
  uint64_t wanted = ImportCache::kFirstBackOff;
  for (int i = 0; i < 10; ++i) {
    fail_unless_equals_uint64(refused_frames(), wanted);
    cache.store_refusal(key(1), Reason::EglBadAlloc);
    wanted = std::min(wanted * 2, ImportCache::kLastBackOff);
  }
  cache.store(key(1), textures());
  fail_unless(cache.find(key(1)).kind == Kind::Hit);
  // A success forgets the past.
  cache.store_refusal(key(1), Reason::EglBadAlloc);
  fail_unless_equals_uint64(refused_frames(), ImportCache::kFirstBackOff);
}
GST_END_TEST;

GST_START_TEST(a_caps_change_forgets_refusals) {
  ImportCache cache;
  cache.store_refusal(key(1), Reason::EglBadAlloc);
  cache.clear();
  fail_unless(cache.find(key(1)).kind == Kind::Miss);
}
GST_END_TEST;

int main(int argc, char** argv) {
  gst_check_init(&argc, &argv);
  Suite* suite = suite_create("gl_import_cache");
  TCase* tests = tcase_create("general");
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, the_same_buffer_in_the_same_layout_is_found);
  tcase_add_test(tests, another_layout_of_the_same_buffer_is_another_import);
  tcase_add_test(tests, the_least_recently_used_import_leaves_first);
  tcase_add_test(tests, textures_in_use_outlive_their_entry);
  tcase_add_test(tests, a_buffer_that_dies_takes_all_its_layouts_along);
  tcase_add_test(tests, a_refusal_is_remembered_and_retried_after_a_back_off);
  tcase_add_test(tests, each_further_refusal_doubles_the_back_off_up_to_a_bound);
  tcase_add_test(tests, a_caps_change_forgets_refusals);
  return gst_check_run_suite(suite, "gl_import_cache", __FILE__);
}
