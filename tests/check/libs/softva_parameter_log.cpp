// SPDX-License-Identifier: LGPL-2.1-or-later

// DXVASOFT_PARAMETERS: the text of what a client rendered.

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>

#include "lib/softva/parameter_log.hpp"
#include "tests/check/support/va_buffers.hpp"
// Last: check's macros have names that the standard library uses too.
#include "tests/check/support/check.hpp"

using namespace dxva;
using namespace dxva::softva;
using namespace dxva::test;

namespace {

class File {
 public:
  File() { ::close(::mkstemp(name_.data())); }
  ~File() { ::unlink(name_.c_str()); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string text() const {
    std::ifstream file(name_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string name_ = "/tmp/parameters-XXXXXX";
};

Picture h264(VASurfaceID target, VASurfaceID reference) {
  VAPictureParameterBufferH264 parameters{};
  parameters.CurrPic.picture_id = target;
  for (auto& entry : parameters.ReferenceFrames) entry.picture_id = VA_INVALID_SURFACE;
  parameters.ReferenceFrames[0].picture_id = reference;
  parameters.ReferenceFrames[0].TopFieldOrderCnt = -4;
  parameters.seq_fields.bits.log2_max_frame_num_minus4 = 7;
  parameters.frame_num = 3;
  VAIQMatrixBufferH264 matrix{};
  matrix.ScalingList4x4[2][15] = 99;
  Picture picture{.target = target, .width = 64, .height = 48};
  picture.buffers.push_back(parameter_buffer(VAPictureParameterBufferType, parameters));
  picture.buffers.push_back(parameter_buffer(VAIQMatrixBufferType, matrix));
  render_whole_slice(picture, VASliceParameterBufferH264{}, Bytes{'a'});
  return picture;
}

bool has(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

GST_START_TEST(fields_have_the_names_of_va_h_and_surfaces_the_numbers_of_pictures) {
  const File file;
  auto log = ParameterLog::open(file.name());
  fail_unless(bool(log));
  log->picture(VAProfileH264High, h264(70, 90));
  const std::string first = file.text();
  fail_unless(has(first, "# picture 0 h264 64x48"));
  fail_unless(has(first, "picture.CurrPic.picture_id=this"));
  fail_unless(has(first, "picture.ReferenceFrames[0].picture_id=undecoded"));
  fail_unless(has(first, "picture.ReferenceFrames[0].TopFieldOrderCnt=-4"));
  fail_unless(has(first, "picture.ReferenceFrames[15].picture_id=none"));
  fail_unless(has(first, "picture.seq_fields.log2_max_frame_num_minus4=7"));
  fail_unless(has(first, "picture.frame_num=3"));
  fail_unless(has(first, "matrix.ScalingList4x4[2]=0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 99"));
  fail_unless(has(first, "slice[0].data.bytes=1"));
  // FNV-1a's published value of "a".
  fail_unless(has(first, "slice[0].data.fnv1a=e40c292c"));
  fail_unless(first.find("reserved") == std::string::npos);

  log->picture(VAProfileH264High, h264(71, 70));
  log->picture(VAProfileH264High, h264(70, 71));
  log->picture(VAProfileH264High, h264(72, 70));
  const std::string later = file.text().substr(first.size());
  for (const char* reference : {"0", "1", "2"})
    fail_unless(has(later, std::string("picture.ReferenceFrames[0].picture_id=") + reference));
}
GST_END_TEST;

GST_START_TEST(whatever_a_client_renders_is_read_inside_its_buffers) {
  const File file;
  auto log = ParameterLog::open(file.name());
  fail_unless(bool(log));
  Picture picture{.target = 1, .width = 64, .height = 48};
  picture.buffers.push_back(parameter_buffer(VAPictureParameterBufferType, uint64_t{0}));
  // A slice far outside its data.
  VASliceParameterBufferH264 slice{};
  slice.slice_data_offset = UINT32_MAX;
  slice.slice_data_size = UINT32_MAX;
  picture.buffers.push_back(parameter_buffer(VASliceParameterBufferType, slice));
  picture.buffers.push_back(data_buffer(Bytes(10, 1)));
  log->picture(VAProfileH264High, picture);
  fail_unless(has(file.text(), "picture.unreadable=8"));
  fail_unless(has(file.text(), "slice[0].data.bytes=0"));

  std::mt19937 random(1);
  for (const VAProfile profile :
       {VAProfileH264High, VAProfileHEVCMain10, VAProfileVP8Version0_3, VAProfileVP9Profile0,
        VAProfileMPEG2Main, VAProfileJPEGBaseline, VAProfileAV1Profile0, VAProfileNone})
    for (int type = 0; type < 16; ++type)
      for (const uint32_t bytes : {0u, 1u, 100u, 5000u}) {
        Bytes noise(bytes);
        for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random());
        Picture any{.target = 1, .width = 64, .height = 48};
        any.buffers.push_back({.type = static_cast<VABufferType>(type),
                               .element_bytes = bytes,
                               .element_count = 1,
                               .bytes = noise});
        any.buffers.push_back(data_buffer(std::move(noise)));
        log->picture(profile, any);
      }
}
GST_END_TEST;

GST_START_TEST(a_million_slices_do_not_fill_the_disk) {
  const File file;
  auto log = ParameterLog::open(file.name());
  fail_unless(bool(log));
  Picture picture{.target = 1, .width = 64, .height = 48};
  ParameterBuffer slices{.type = VASliceParameterBufferType,
                         .element_bytes = 1,
                         .element_count = 2'000'000,
                         .bytes = Bytes(2'000'000)};
  picture.buffers.push_back(std::move(slices));
  log->picture(VAProfileH264High, picture);
  const std::string text = file.text();
  fail_unless(text.size() < (size_t{17} << 20));
  fail_unless(has(text, "# too much"));
}
GST_END_TEST;

GST_START_TEST(a_file_that_cannot_be_opened_is_an_error) {
  const auto log = ParameterLog::open("/nonexistent/parameters");
  fail_unless(!log && log.error().code == ErrorCode::BadInput);
}
GST_END_TEST;

static Suite* softva_parameter_log_suite() {
  Suite* suite = suite_create("softva_parameter_log");
  TCase* tcase = tcase_create("log");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, fields_have_the_names_of_va_h_and_surfaces_the_numbers_of_pictures);
  tcase_add_test(tcase, whatever_a_client_renders_is_read_inside_its_buffers);
  tcase_add_test(tcase, a_million_slices_do_not_fill_the_disk);
  tcase_add_test(tcase, a_file_that_cannot_be_opened_is_an_error);
  return suite;
}

GST_CHECK_MAIN(softva_parameter_log)
