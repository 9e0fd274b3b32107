// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace dxva::doctor {

// A driver that hangs cannot be asked why, but the process it hangs in can look: a thread of
// its own sees that the process, which has an answer to give, does nothing, and gives the
// answer for it, with the call that does not come back. Nothing here goes by the clock alone: a
// machine that is slow or busy lets a process that works have at least a little of its time.
//
// Thread-safe. One in a process, which lives to the process's end.
class HangWatch {
 public:
  // From now on. `answer_fd` is where the answer goes, lent.
  explicit HangWatch(int answer_fd);
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;

  // Writes the answer and ends the process, without destructors: a driver's exit handlers may
  // crash. When the watch has begun to answer this never returns either.
  [[noreturn]] void answer(const std::string& text);

 private:
  [[noreturn]] void give(const std::string& text) const;
  void watch();

  const int answer_fd_;
};

// To be called when a part of the answer is there: a device that is slow does not hang. Without
// a watch it does nothing. Thread-safe.
void note_progress();

}  // namespace dxva::doctor
