// SPDX-License-Identifier: LGPL-2.1-or-later
// Uploads with every kind of pitch, textures used again.

#include "lib/gl/texture_pool.hpp"
#include "lib/gl/texture_uploader.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/fake_gl.hpp"

using namespace dxva;
using test::FakeGl;

namespace {

constexpr gl::TextureSpec kRgb = {.width = 20,
                                  .height = 4,
                                  .internal_format = GL_RGB8,
                                  .format = GL_RGB,
                                  .type = GL_UNSIGNED_BYTE,
                                  .texel_bytes = 3};
const uint8_t kPixels[4096] = {};

std::vector<std::string> uploads(const gl::GlApi& api, uint64_t pitch) {
  FakeGl::get().calls.clear();
  fail_unless(gl::upload_plane(api, 1, kRgb, {.data = kPixels, .pitch_bytes = pitch}));
  std::erase_if(FakeGl::get().calls,
                [](const std::string& call) { return call.starts_with("buffer"); });
  return FakeGl::get().calls;
}

struct Pool {
  std::shared_ptr<test::FakeGlThread> thread = std::make_shared<test::FakeGlThread>();
  gl::TexturePool pool{thread, std::make_shared<const gl::GlApi>(FakeGl::api())};
};

}  // namespace

GST_START_TEST(a_pitch_of_whole_texels_is_a_row_length) {
  FakeGl::reset();
  fail_unless(uploads(FakeGl::api(), 60) == std::vector<std::string>{"upload 20x4 at 0 row 0"});
  fail_unless(uploads(FakeGl::api(), 90) ==
              std::vector<std::string>{"upload 20x4 at 0 row 30"});
  fail_unless_equals_int(FakeGl::get().pixel_store[GL_UNPACK_ROW_LENGTH], 0);
  fail_unless_equals_int(FakeGl::get().pixel_store[GL_UNPACK_ALIGNMENT], 4);
}
GST_END_TEST;

GST_START_TEST(other_pitches_go_row_by_row) {
  FakeGl::reset();
  fail_unless_equals_int(uploads(FakeGl::api(), 64).size(), 4);
  gl::GlApi old = FakeGl::api();
  old.facts.row_length = false;
  fail_unless_equals_int(uploads(old, 90).size(), 4);
  fail_unless_equals_int(uploads(old, 60).size(), 1);
}
GST_END_TEST;

GST_START_TEST(a_buffer_that_somebody_left_bound_is_not_read_from) {
  FakeGl::reset();
  fail_unless(gl::upload_plane(FakeGl::api(), 1, kRgb, {.data = kPixels, .pitch_bytes = 60}));
  fail_unless(FakeGl::get().calls[0] == "buffer 0");
  FakeGl::get().calls.clear();
  fail_unless(gl::upload_plane(FakeGl::api(), 1, kRgb,
                               {.data = nullptr, .pitch_bytes = 60, .unpack_buffer = 5}));
  fail_unless(FakeGl::get().calls.front() == "buffer 5");
  fail_unless(FakeGl::get().calls.back() == "buffer 0");
}
GST_END_TEST;

GST_START_TEST(textures_come_back_for_the_same_specs_only) {
  FakeGl::reset();
  Pool rig;
  gl::TextureSpec other = kRgb;
  other.width = 21;
  auto one = rig.pool.acquire({kRgb});
  const GLuint name = one->names()[0];
  rig.pool.give_back({kRgb}, std::move(one));
  auto different = rig.pool.acquire({other});
  fail_unless(different->names()[0] != name);
  auto same = rig.pool.acquire({kRgb});
  fail_unless_equals_int(same->names()[0], name);
  fail_unless_equals_int(FakeGl::get().textures_made, 2);
}
GST_END_TEST;

GST_START_TEST(idle_textures_are_bounded_and_go_with_clear) {
  FakeGl::reset();
  Pool rig;
  std::vector<std::unique_ptr<gl::TextureSet>> out;
  for (size_t i = 0; i < gl::TexturePool::kMaxIdle + 5; ++i)
    out.push_back(rig.pool.acquire({kRgb}));
  for (auto& textures : out) rig.pool.give_back({kRgb}, std::move(textures));
  fail_unless_equals_int(FakeGl::get().textures_alive, gl::TexturePool::kMaxIdle);
  rig.pool.clear();
  fail_unless_equals_int(FakeGl::get().textures_alive, 0);
}
GST_END_TEST;

GST_START_TEST(gl_out_of_memory_gives_no_textures) {
  FakeGl::reset();
  Pool rig;
  gl::GlApi api = FakeGl::api();
  api.TexImage2D = [](GLenum, GLint, GLint, GLsizei, GLsizei, GLint, GLenum, GLenum,
                      const void*) { FakeGl::get().errors.push_back(GL_OUT_OF_MEMORY); };
  gl::TexturePool pool(rig.thread, std::make_shared<const gl::GlApi>(api));
  fail_unless(pool.acquire({kRgb}) == nullptr);
  fail_unless_equals_int(FakeGl::get().textures_alive, 0);
}
GST_END_TEST;

int main(int argc, char** argv) {
  gst_check_init(&argc, &argv);
  Suite* suite = suite_create("gl_textures");
  TCase* tests = tcase_create("general");
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, a_pitch_of_whole_texels_is_a_row_length);
  tcase_add_test(tests, other_pitches_go_row_by_row);
  tcase_add_test(tests, a_buffer_that_somebody_left_bound_is_not_read_from);
  tcase_add_test(tests, textures_come_back_for_the_same_specs_only);
  tcase_add_test(tests, idle_textures_are_bounded_and_go_with_clear);
  tcase_add_test(tests, gl_out_of_memory_gives_no_textures);
  return gst_check_run_suite(suite, "gl_textures", __FILE__);
}
