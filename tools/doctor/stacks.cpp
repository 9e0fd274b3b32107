// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/doctor/stacks.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <span>
#include <string_view>
#include <thread>

namespace dxva::doctor {
namespace {

constexpr int kSignal = SIGUSR2;  // libgcc and GLib leave it alone
constexpr int kUnasked = -1;

// Of the thread that was asked last.
std::array<void*, 64> frames;
std::atomic<int> depth{kUnasked};

void on_signal(int) {
  depth.store(::backtrace(frames.data(), static_cast<int>(frames.size())));
}

// Innermost first; nothing for a thread that takes no signals.
std::span<void* const> stack_of(pid_t thread) {
  depth.store(kUnasked);
  if (::syscall(SYS_tgkill, ::getpid(), thread, kSignal) != 0) return {};
  for (int looks = 0; looks < 50 && depth.load() == kUnasked; ++looks)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return {frames.data(), static_cast<size_t>(std::max(0, depth.load()))};
}

// Libraries between programs and drivers, and how their calls begin.
struct Library {
  std::string_view file, calls;
};
constexpr Library kLibraries[] = {{"libva", "va"},     {"libEGL", "egl"}, {"libGL", "gl"},
                                  {"libOpenGL", "gl"}, {"libcuda", "cu"}, {"libnvcuvid", "cu"},
                                  {"libvulkan", "vk"}};

// What a driver waits with.
constexpr std::string_view kSystem[] = {"libc.",      "libc-",     "libpthread", "ld-",
                                        "linux-vdso", "libstdc++", "libdrm.",    "libgcc"};

bool is_one_of(std::string_view file, std::span<const std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view one) { return file.starts_with(one); });
}

std::string call_in(std::span<void* const> stack) {
  Dl_info program{};
  ::dladdr(reinterpret_cast<const void*>(&call_that_hangs), &program);
  std::string driver;
  for (void* const frame : stack) {
    Dl_info about{};
    if (::dladdr(frame, &about) == 0 || !about.dli_fname) continue;
    const std::string file = std::filesystem::path(about.dli_fname).filename();
    const std::string_view name = about.dli_sname ? about.dli_sname : "";
    for (const Library& library : kLibraries)
      if (file.starts_with(library.file) && name.starts_with(library.calls))
        return std::string(name) + (driver.empty() ? "" : " (" + driver + ")");
    if (driver.empty() && about.dli_fbase != program.dli_fbase && !is_one_of(file, kSystem))
      driver = file;
  }
  return {};
}

}  // namespace

void prepare_stacks() {
  std::array<void*, 1> one;
  ::backtrace(one.data(), 1);
}

std::string call_that_hangs() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  if (::sigaction(kSignal, &action, nullptr) != 0) return {};
  std::error_code failed;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", failed)) {
    const auto thread =
        static_cast<pid_t>(std::strtol(task.path().filename().c_str(), nullptr, 10));
    if (thread == static_cast<pid_t>(::syscall(SYS_gettid))) continue;
    if (std::string call = call_in(stack_of(thread)); !call.empty()) return call;
  }
  return {};
}

}  // namespace dxva::doctor
