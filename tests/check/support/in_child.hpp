// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace dxva::test {

// What `question` answers in a process of its own, which ends without its exit handlers. A
// program whose cases are forked must not load OpenGL or Vulkan itself: Mesa's threads stay
// behind in the parent, and each case would wait for them when it ends (signal 11 in lavapipe
// of Mesa 25). Also false: the process died.
template <typename Question>
bool yes_in_child(const Question& question) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool yes = question();
    std::fflush(nullptr);
    ::_exit(yes ? 0 : 1);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

}  // namespace dxva::test
