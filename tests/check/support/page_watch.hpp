// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace dxva::test {

// How often the CPU went over the memory that pictures are in, counted by the processor: the
// pages cannot be touched, and who touches one comes by here (SIGSEGV), is counted, and gets
// it. The page is closed again when the next few of its memory have been touched, so each pass
// over a page counts as one touch, by whatever instruction: a call of memcpy, a loop, vectors.
// Drivers (see copy_counts.hpp) are told apart by the code that touches.
//
// Watched are, from start_watching_pages() on: images of surfaces while they are mapped
// (vaMapBuffer), memory of descriptors that is mapped by others than drivers, upload slots
// (glMapBufferRange, persistent), and, between begin_copy() and end_copy(), all large blocks
// that libavcodec has. Linked with count_calls.cpp and count_copies.cpp.

struct PageTouches {
  uint64_t picture_reads = 0;
  uint64_t picture_writes = 0;
  uint64_t slot_reads = 0;
  uint64_t slot_writes = 0;
};
struct PageCounts {
  PageTouches ours;  // anybody's but drivers
  PageTouches drivers;
  // Most pages in a row that were read of pictures without one of a slot being written, or the
  // other way round: a copy that goes by another buffer of a picture's size has all of them in
  // a row.
  uint64_t longest_run = 0;
};

// False: not on this kind of processor.
[[nodiscard]] bool can_watch_pages();
void start_watching_pages();
[[nodiscard]] bool is_watching_pages();
// Opens everything. Before the process goes on to free it.
void stop_watching_pages();
[[nodiscard]] PageCounts page_counts();
void forget_longest_run();

// A copy out of libavcodec's memory begins: nobody else may be at work there.
void begin_copy();
void end_copy();

// For count_copies.cpp: memory that libavutil allocated, and somebody freed.
void note_block(void* data, size_t size);
void forget_block(void* data);

}  // namespace dxva::test
