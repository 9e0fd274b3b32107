// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/doctor/hang_watch.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <thread>

#include "tools/doctor/json.hpp"
#include "tools/doctor/stacks.hpp"

namespace dxva::doctor {
namespace {

// Looks, not seconds: a machine that stood still meanwhile did not look either.
constexpr std::chrono::milliseconds kBetweenLooks(250);
constexpr unsigned kLooks = 40;
constexpr unsigned kSeconds = 10;  // what these are, for people
static_assert(kLooks * kBetweenLooks == std::chrono::seconds(kSeconds));
// Of the processor, over all of them: far more than this thread takes, and less than anything
// that works gets on the busiest machine.
constexpr int64_t kIdleNs = 50'000'000;

std::atomic_flag answering;
std::atomic<unsigned> parts{0};

int64_t processor_ns() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

}  // namespace

HangWatch::HangWatch(int answer_fd) : answer_fd_(answer_fd) {
  prepare_stacks();
  std::thread([this] { watch(); }).detach();
}

void HangWatch::give(const std::string& text) const {
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(answer_fd_, text.data() + done, text.size() - done);
    if (written <= 0) break;
    done += static_cast<size_t>(written);
  }
  ::_exit(0);
}

void HangWatch::answer(const std::string& text) {
  while (answering.test_and_set()) std::this_thread::sleep_for(kBetweenLooks);
  give(text);
}

void HangWatch::watch() {
  int64_t used = processor_ns();
  unsigned known_parts = parts;
  for (unsigned looks = 0; looks < kLooks; ++looks) {
    std::this_thread::sleep_for(kBetweenLooks);
    const int64_t now = processor_ns();
    if (now - used < kIdleNs && parts == known_parts) continue;
    used = now;
    known_parts = parts;
    looks = 0;
  }
  if (answering.test_and_set()) return;
  const std::string call = call_that_hangs();
  Json out = Json::object();
  out.set("error", "hangs" + (call.empty() ? "" : " in " + call) + ": no answer in " +
                       std::to_string(kSeconds) + " seconds");
  give(out.to_text());
}

void note_progress() {
  ++parts;
}

}  // namespace dxva::doctor
