// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/support/page_watch.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>

#include "tests/check/support/call_counts.hpp"
#include "tests/check/support/copy_counts.hpp"

namespace dxva::test {
namespace {

constexpr size_t kRanges = 512;
// Pages of one range that are open at once: an access across two pages, the row that memcpy
// begins at its end, and two planes that are written in turns.
constexpr size_t kOpen = 4;

uintptr_t page_bytes() {
  static const auto bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

// Whole pages only: the first and the last may have neighbours.
struct Range {
  uintptr_t data = 0;  // as it was told
  uintptr_t begin = 0;
  uintptr_t end = 0;
  PixelMemory kind = PixelMemory::Picture;
  bool armed = false;
  bool block = false;  // of libavcodec
  std::array<uintptr_t, kOpen> open{};
  size_t next = 0;
};

// Taken by the signal handler as well; nobody who has it touches watched memory.
class Lock {
 public:
  Lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) ::usleep(1);
  }
  ~Lock() { flag_.clear(std::memory_order_release); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  static inline std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

std::array<Range, kRanges> ranges;
std::atomic<bool> watching{false};
PageCounts counts;
uint64_t run = 0;
bool run_reads = false;

void protect(uintptr_t begin, uintptr_t end, int protection) {
  ::mprotect(reinterpret_cast<void*>(begin), end - begin, protection);
}

void arm(Range& range) {
  if (range.armed || range.begin >= range.end) return;
  range.open = {};
  range.armed = true;
  protect(range.begin, range.end, PROT_NONE);
}

void disarm(Range& range) {
  if (!range.armed) return;
  range.armed = false;
  protect(range.begin, range.end, PROT_READ | PROT_WRITE);
}

Range* add(PixelMemory kind, void* data, size_t size) {
  const auto start = reinterpret_cast<uintptr_t>(data);
  const uintptr_t page = page_bytes();
  for (Range& range : ranges) {
    if (range.data != 0) continue;
    range = {.data = start,
             .begin = (start + page - 1) / page * page,
             .end = (start + size) / page * page,
             .kind = kind};
    return &range;
  }
  return nullptr;
}

void drop(void* data) {
  for (Range& range : ranges)
    if (range.data == reinterpret_cast<uintptr_t>(data)) {
      disarm(range);
      range.data = 0;  // the rest stays: a thread may be on its way to the handler
    }
}

// Drivers map what is theirs, and orc the files that it makes code in.
bool holds_pixels(const void* caller) {
  return !is_driver_code(caller) && !library_of(caller).starts_with("liborc");
}

void on_mapping(const PixelMapping& mapping) {
  if (!watching || (mapping.begins && !holds_pixels(mapping.caller))) return;
  const Lock lock;
  if (!mapping.begins) return drop(mapping.data);
  if (Range* range = add(mapping.kind, mapping.data, mapping.size_bytes)) arm(*range);
}

#ifdef __x86_64__
// A driver's shaders are code of no library; so are other compilers', on other threads.
bool is_driver_thread() {
  char name[17] = {};
  ::prctl(PR_GET_NAME, name);
  return std::strncmp(name, "llvmpipe", 8) == 0;
}

void count(const Range& range, bool writes, bool driver) {
  const bool slot = range.kind == PixelMemory::Slot;
  PageTouches& touches = driver ? counts.drivers : counts.ours;
  ++(slot ? (writes ? touches.slot_writes : touches.slot_reads)
          : (writes ? touches.picture_writes : touches.picture_reads));
  const bool reads_picture = !slot && !writes;
  if (!reads_picture && !(slot && writes)) return;
  run = reads_picture == run_reads ? run + 1 : 1;
  run_reads = reads_picture;
  if (run > counts.longest_run) counts.longest_run = run;
}

void on_fault(int signal, siginfo_t* info, void* data) {
  const auto* context = static_cast<const ucontext_t*>(data);
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  const uintptr_t page = at / page_bytes() * page_bytes();
  const bool writes = (context->uc_mcontext.gregs[REG_ERR] & 2) != 0;
  // Our own memcpy is called by everybody.
  const void* code = copying_for();
  if (!code) code = reinterpret_cast<const void*>(context->uc_mcontext.gregs[REG_RIP]);
  const bool driver = is_driver_code(code) || is_driver_thread();

  const Lock lock;
  bool known = false;
  for (Range& range : ranges) {
    if (at < range.begin || at >= range.end) continue;
    known = true;  // or was, until a moment ago
    if (!range.armed) continue;
    count(range, writes, driver);
    const int wanted = writes ? PROT_READ | PROT_WRITE : PROT_READ;
    for (const uintptr_t open : range.open)
      if (open == page) return protect(page, page + page_bytes(), wanted);
    uintptr_t& oldest = range.open[range.next++ % kOpen];
    if (oldest != 0) protect(oldest, oldest + page_bytes(), PROT_NONE);
    oldest = page;
    return protect(page, page + page_bytes(), wanted);
  }
  // Somebody else's: as if nobody had watched.
  if (!known) ::signal(signal, SIG_DFL);
}
#endif

}  // namespace

bool can_watch_pages() {
#ifdef __x86_64__
  return true;
#else
  return false;
#endif
}

void start_watching_pages() {
#ifdef __x86_64__
  (void)page_bytes();
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  ::sigaction(SIGSEGV, &action, nullptr);
  watch_mappings(on_mapping);
  watching = true;
#endif
}

bool is_watching_pages() {
  return watching;
}

void stop_watching_pages() {
  watching = false;
  watch_mappings(nullptr);
  const Lock lock;
  for (Range& range : ranges) {
    disarm(range);
    range.data = 0;
  }
}

PageCounts page_counts() {
  const Lock lock;
  return counts;
}

void forget_longest_run() {
  const Lock lock;
  run = counts.longest_run = 0;
}

void begin_copy() {
  if (!watching) return;
  const Lock lock;
  for (Range& range : ranges)
    if (range.data != 0 && range.block) arm(range);
}

void end_copy() {
  const Lock lock;
  for (Range& range : ranges)
    if (range.block) disarm(range);
}

void note_block(void* data, size_t size) {
  if (!watching) return;
  const Lock lock;
  if (Range* range = add(PixelMemory::Picture, data, size)) range->block = true;
}

void forget_block(void* data) {
  if (!watching) return;
  const Lock lock;
  drop(data);
}

}  // namespace dxva::test
