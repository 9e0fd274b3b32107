// SPDX-License-Identifier: LGPL-2.1-or-later

// Copies of rows: right for every start, length and pitch, and nothing read or written beside
// them: the source ends where the memory does.
#include "lib/video/streaming_copy.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "tests/check/support/check.hpp"

using namespace dxva::video;

namespace {

constexpr uint8_t kUntouched = 0xa5;

// One readable page with nothing behind it.
class LastPage {
 public:
  LastPage() : size_(static_cast<size_t>(::sysconf(_SC_PAGESIZE))) {
    void* at =
        ::mmap(nullptr, 2 * size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fail_if(at == MAP_FAILED);
    data_ = static_cast<uint8_t*>(at);
    fail_unless_equals_int(::mprotect(data_ + size_, size_, PROT_NONE), 0);
    for (size_t i = 0; i < size_; ++i) data_[i] = static_cast<uint8_t>(i * 7 + i / 251);
  }
  ~LastPage() { ::munmap(data_, 2 * size_); }
  LastPage(const LastPage&) = delete;
  LastPage& operator=(const LastPage&) = delete;
  [[nodiscard]] const uint8_t* end() const { return data_ + size_; }

 private:
  size_t size_;
  uint8_t* data_ = nullptr;
};

void expect_rows_copied(PlaneCopy copy, const PlaneView& from, uint32_t to_pitch,
                        uint32_t to_offset) {
  std::vector<uint8_t> to(to_offset + size_t{to_pitch} * from.rows + 64, kUntouched);
  copy(from, to.data() + to_offset, to_pitch);
  std::vector<uint8_t> wanted(to.size(), kUntouched);
  for (uint32_t row = 0; row < from.rows; ++row)
    for (uint32_t x = 0; x < from.row_bytes; ++x)
      wanted[to_offset + size_t{row} * to_pitch + x] =
          from.data[size_t{row} * from.pitch_bytes + x];
  fail_unless(to == wanted, "%u bytes, %u rows, pitches %u and %u, offset %u", from.row_bytes,
              from.rows, from.pitch_bytes, to_pitch, to_offset);
}

void expect_right(PlaneCopy copy) {
  const LastPage memory;
  for (uint32_t bytes : {0u,  1u,  15u, 16u,  17u,  31u,  32u,  33u,  47u,  63u,  64u, 65u,
                         95u, 96u, 97u, 127u, 128u, 129u, 255u, 320u, 511u, 513u, 620u})
    for (uint32_t padding = 0; padding < 65; ++padding)
      for (uint32_t to_offset : {0u, 1u, 15u, 16u, 33u}) {
        // Each number of bytes before the end is another alignment, 0 included.
        const uint8_t* one = memory.end() - bytes - padding;
        expect_rows_copied(copy,
                           {.data = one, .pitch_bytes = bytes, .row_bytes = bytes, .rows = 1},
                           bytes, to_offset);
        if (padding > 16) continue;
        // Odd pitches move the alignment from row to row; the last row has no padding.
        const uint32_t pitch = bytes + padding;
        expect_rows_copied(copy,
                           {.data = memory.end() - bytes - size_t{2} * pitch,
                            .pitch_bytes = pitch,
                            .row_bytes = bytes,
                            .rows = 3},
                           bytes + to_offset, to_offset);
      }
  expect_rows_copied(
      copy, {.data = memory.end(), .pitch_bytes = 64, .row_bytes = 64, .rows = 0}, 64, 0);
}

}  // namespace

GST_START_TEST(plain_copies_are_right) {
  expect_right(&copy_plane);
}
GST_END_TEST

GST_START_TEST(streaming_copies_are_right) {
  if (!streaming_copy()) DXVA_SKIP("this CPU has no streaming loads");
  expect_right(streaming_copy());
  for (const PlaneCopy copy : {streaming_copy_sse41(), streaming_copy_avx2()})
    if (copy) expect_right(copy);
}
GST_END_TEST

static Suite* video_streaming_copy_suite() {
  Suite* suite = suite_create("video_streaming_copy");
  TCase* tcase = tcase_create("general");
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, plain_copies_are_right);
  tcase_add_test(tcase, streaming_copies_are_right);
  suite_add_tcase(suite, tcase);
  return suite;
}

GST_CHECK_MAIN(video_streaming_copy)
