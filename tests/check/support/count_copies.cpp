// SPDX-License-Identifier: LGPL-2.1-or-later

// Definitions of the program win over those of libraries, so every caller that goes through the
// dynamic linker comes by here; glibc's own are found by their other names.

#undef _FORTIFY_SOURCE

#include <dlfcn.h>
#include <execinfo.h>
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tests/check/support/copy_counts.hpp"
#include "tests/check/support/page_watch.hpp"

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* memory);
}

namespace {

constexpr size_t kSmallCopy = 64;
constexpr size_t kLarge = 4096;
constexpr size_t kBlock = 65536;

std::atomic<bool> counting{false};
thread_local bool inside = false;  // what looking up costs is not counted
thread_local const void* volatile copy_caller = nullptr;  // a signal looks at it

// Who decodes and who draws; everybody else is a client of theirs.
enum class Party : uint8_t { kClient, kDecoder, kRenderer };

struct Tally {
  std::atomic<uint64_t> copied_bytes{0};
  std::atomic<uint64_t> large_mallocs{0};
  std::atomic<uint64_t> large_malloc_bytes{0};
};
std::array<Tally, 3> tallies;
Tally& tally_of(Party party) {
  return tallies[static_cast<size_t>(party)];
}

Party party_of(const void* address) {
  const std::string_view name = dxva::test::library_of(address);
  for (const char* driver : {"dxvasoft", "libav", "libsw", "libdav1d"})
    if (name.find(driver) != std::string_view::npos) return Party::kDecoder;
  for (const char* driver :
       {"libgallium", "swrast", "kms_swrast", "libLLVM", "libEGL_mesa", "_dri"})
    if (name.find(driver) != std::string_view::npos) return Party::kRenderer;
  return Party::kClient;
}

// Of a place in code: asked for each row of each picture, so it is remembered.
Party party_cached(const void* address) {
  struct Known {
    const void* address;
    Party party;
  };
  thread_local std::array<Known, 256> known{};
  Known& slot = known[(reinterpret_cast<uintptr_t>(address) >> 2) % known.size()];
  if (slot.address != address) slot = {address, party_of(address)};
  return slot.party;
}

// Allocators are called by allocators: the whole stack says for whom.
Party party_that_asks() {
  void* stack[64];
  const int depth = ::backtrace(stack, 64);
  for (int i = 0; i < depth; ++i)
    if (const Party party = party_of(stack[i]); party != Party::kClient) return party;
  return Party::kClient;
}

void count_copy(size_t size, const void* caller) {
  if (size < kSmallCopy || inside || !counting.load(std::memory_order_relaxed)) return;
  inside = true;
  tally_of(party_cached(caller)).copied_bytes += size;
  inside = false;
}

void count_malloc(size_t size) {
  if (size <= kLarge || inside || !counting.load(std::memory_order_relaxed)) return;
  inside = true;
  Tally& tally = tally_of(party_that_asks());
  ++tally.large_mallocs;
  tally.large_malloc_bytes += size;
  inside = false;
}

// Written out, or the compiler makes a call of memmove of it, which is ourselves.
void move_bytes(unsigned char* to, const unsigned char* from, size_t size) {
  if (to <= from || to >= from + size) {
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
      uint64_t word;
      __builtin_memcpy(&word, from + i, 8);
      __builtin_memcpy(to + i, &word, 8);
      __asm__ volatile("" ::: "memory");
    }
    for (; i < size; ++i) {
      to[i] = from[i];
      __asm__ volatile("" ::: "memory");
    }
    return;
  }
  while (size-- > 0) {
    to[size] = from[size];
    __asm__ volatile("" ::: "memory");
  }
}

}  // namespace

#define EXPORTED extern "C" [[gnu::visibility("default")]]
#define COPY_FUNCTION(name, ...)                                                         \
  EXPORTED void* name(void* to, const void* from, size_t size __VA_ARGS__) noexcept {    \
    count_copy(size, __builtin_return_address(0));                                       \
    const void* outer = copy_caller; /* of whom a signal interrupted */                  \
    copy_caller = __builtin_return_address(0);                                           \
    move_bytes(static_cast<unsigned char*>(to), static_cast<const unsigned char*>(from), \
               size);                                                                    \
    copy_caller = outer;                                                                 \
    return to;                                                                           \
  }
COPY_FUNCTION(memcpy)
COPY_FUNCTION(memmove)
COPY_FUNCTION(__memcpy_chk, , size_t)
COPY_FUNCTION(__memmove_chk, , size_t)

EXPORTED void* malloc(size_t size) noexcept {
  count_malloc(size);
  return __libc_malloc(size);
}
EXPORTED void* calloc(size_t count, size_t size) noexcept {
  count_malloc(size == 0 ? 0 : count * size);
  return __libc_calloc(count, size);
}
EXPORTED void* realloc(void* old, size_t size) noexcept {
  count_malloc(size);
  return __libc_realloc(old, size);
}
EXPORTED void* memalign(size_t alignment, size_t size) noexcept {
  count_malloc(size);
  return __libc_memalign(alignment, size);
}
EXPORTED void* aligned_alloc(size_t alignment, size_t size) noexcept {
  count_malloc(size);
  return __libc_memalign(alignment, size);
}
EXPORTED int posix_memalign(void** out, size_t alignment, size_t size) noexcept {
  count_malloc(size);
  void* found = __libc_memalign(alignment, size);
  if (!found) return ENOMEM;
  *out = found;
  // Pictures of libavcodec are among libavutil's.
  if (size >= kBlock && dxva::test::is_watching_pages() &&
      dxva::test::library_of(__builtin_return_address(0)).starts_with("libavutil"))
    dxva::test::note_block(found, size);
  return 0;
}
EXPORTED void free(void* memory) noexcept {
  if (memory && dxva::test::is_watching_pages() && ::malloc_usable_size(memory) >= kBlock)
    dxva::test::forget_block(memory);
  __libc_free(memory);
}

namespace dxva::test {

std::string_view library_of(const void* address) {
  Dl_info found{};
  if (::dladdr(address, &found) == 0 || !found.dli_fname) return {};
  const std::string_view path = found.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

bool is_driver_code(const void* address) {
  return party_cached(address) != Party::kClient;
}

const void* copying_for() {
  return copy_caller;
}

CopyCounts copy_counts() {
  const Tally& client = tally_of(Party::kClient);
  const Tally& decoder = tally_of(Party::kDecoder);
  const Tally& renderer = tally_of(Party::kRenderer);
  return {.copied_bytes = client.copied_bytes,
          .decoder_bytes = decoder.copied_bytes,
          .renderer_bytes = renderer.copied_bytes,
          .large_mallocs = client.large_mallocs,
          .decoder_mallocs = decoder.large_mallocs,
          .renderer_mallocs = renderer.large_mallocs,
          .renderer_malloc_bytes = renderer.large_malloc_bytes};
}

void start_counting_copies() {
  (void)party_that_asks();  // its first call loads a library
  counting = true;
}

}  // namespace dxva::test
