// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/video/streaming_copy.hpp"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#define DXVA_HAVE_STREAMING_LOADS 1
#endif

namespace dxva::video {

#ifdef DXVA_HAVE_STREAMING_LOADS
namespace {

// Up to where the loads may be aligned. A row is read once and nothing outside of it.
size_t bytes_to_alignment(const uint8_t* from, size_t alignment, size_t bytes) {
  const size_t past = reinterpret_cast<uintptr_t>(from) % alignment;
  return past == 0 ? 0 : std::min(alignment - past, bytes);
}

[[gnu::target("sse4.1")]] void copy_row_sse41(uint8_t* to, const uint8_t* from, size_t bytes) {
  const size_t head = bytes_to_alignment(from, 16, bytes);
  std::memcpy(to, from, head);
  size_t at = head;
  // A line at once: its four loads come out of one fill buffer.
  for (; at + 64 <= bytes; at += 64) {
    // The intrinsic of older compilers takes no const.
    auto* in = reinterpret_cast<__m128i*>(const_cast<uint8_t*>(from + at));
    auto* out = reinterpret_cast<__m128i*>(to + at);
    const __m128i a = _mm_stream_load_si128(in);
    const __m128i b = _mm_stream_load_si128(in + 1);
    const __m128i c = _mm_stream_load_si128(in + 2);
    const __m128i d = _mm_stream_load_si128(in + 3);
    _mm_storeu_si128(out, a);
    _mm_storeu_si128(out + 1, b);
    _mm_storeu_si128(out + 2, c);
    _mm_storeu_si128(out + 3, d);
  }
  for (; at + 16 <= bytes; at += 16)
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(to + at),
        _mm_stream_load_si128(reinterpret_cast<__m128i*>(const_cast<uint8_t*>(from + at))));
  std::memcpy(to + at, from + at, bytes - at);
}

[[gnu::target("avx2")]] void copy_row_avx2(uint8_t* to, const uint8_t* from, size_t bytes) {
  const size_t head = bytes_to_alignment(from, 32, bytes);
  std::memcpy(to, from, head);
  size_t at = head;
  // Four lines a turn: what counts them is a good part of the loop else.
  for (; at + 256 <= bytes; at += 256) {
    auto* in = reinterpret_cast<__m256i*>(const_cast<uint8_t*>(from + at));
    auto* out = reinterpret_cast<__m256i*>(to + at);
    const __m256i a = _mm256_stream_load_si256(in);
    const __m256i b = _mm256_stream_load_si256(in + 1);
    const __m256i c = _mm256_stream_load_si256(in + 2);
    const __m256i d = _mm256_stream_load_si256(in + 3);
    const __m256i e = _mm256_stream_load_si256(in + 4);
    const __m256i f = _mm256_stream_load_si256(in + 5);
    const __m256i g = _mm256_stream_load_si256(in + 6);
    const __m256i h = _mm256_stream_load_si256(in + 7);
    _mm256_storeu_si256(out, a);
    _mm256_storeu_si256(out + 1, b);
    _mm256_storeu_si256(out + 2, c);
    _mm256_storeu_si256(out + 3, d);
    _mm256_storeu_si256(out + 4, e);
    _mm256_storeu_si256(out + 5, f);
    _mm256_storeu_si256(out + 6, g);
    _mm256_storeu_si256(out + 7, h);
  }
  for (; at + 64 <= bytes; at += 64) {
    auto* in = reinterpret_cast<__m256i*>(const_cast<uint8_t*>(from + at));
    auto* out = reinterpret_cast<__m256i*>(to + at);
    const __m256i a = _mm256_stream_load_si256(in);
    const __m256i b = _mm256_stream_load_si256(in + 1);
    _mm256_storeu_si256(out, a);
    _mm256_storeu_si256(out + 1, b);
  }
  if (at + 32 <= bytes) {
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(to + at),
        _mm256_stream_load_si256(reinterpret_cast<__m256i*>(const_cast<uint8_t*>(from + at))));
    at += 32;
  }
  std::memcpy(to + at, from + at, bytes - at);
}

template <auto CopyRow>
void copy_rows(const PlaneView& from, uint8_t* to, uint32_t to_pitch_bytes) {
  // Streaming loads may come out of a fill buffer that is older than what the device wrote.
  _mm_mfence();
  copy_plane_by(CopyRow, from, to, to_pitch_bytes);
}

}  // namespace

PlaneCopy streaming_copy_sse41() {
  return __builtin_cpu_supports("sse4.1") ? &copy_rows<&copy_row_sse41> : nullptr;
}
PlaneCopy streaming_copy_avx2() {
  return __builtin_cpu_supports("avx2") ? &copy_rows<&copy_row_avx2> : nullptr;
}
#else
PlaneCopy streaming_copy_sse41() {
  return nullptr;
}
PlaneCopy streaming_copy_avx2() {
  return nullptr;
}
#endif

PlaneCopy streaming_copy() {
  static const PlaneCopy best =
      streaming_copy_avx2() ? streaming_copy_avx2() : streaming_copy_sse41();
  return best;
}

}  // namespace dxva::video
