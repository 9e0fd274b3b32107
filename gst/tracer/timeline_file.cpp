// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/tracer/timeline_file.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "lib/base/trace.hpp"
#include "lib/timeline/svg.hpp"

namespace dxva::gst {
namespace {

// Never destroyed: an element that runs while the process ends may still tell something.
struct Listeners {
  std::mutex lock;
  std::vector<TimelineFile*> files;
};
Listeners& listeners() {
  static auto* all = new Listeners;
  return *all;
}

template <typename Tell>
void tell_all(Tell tell) {
  const std::lock_guard guard(listeners().lock);
  for (TimelineFile* file : listeners().files) tell(file->recorder());
}

constexpr trace::Listener kListener{
    .part =
        [](const trace::Part& part) {
          tell_all([&](timeline::Recorder& recorder) { recorder.part(part); });
        },
    .fence =
        [](uint64_t memory, trace::Time begin, trace::Time end) {
          tell_all([&](timeline::Recorder& recorder) { recorder.fence(memory, begin, end); });
        },
    .home =
        [](uint64_t memory, trace::Time at) {
          tell_all([&](timeline::Recorder& recorder) { recorder.home(memory, at); });
        },
};

struct Close {
  void operator()(FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<FILE, Close>;

Error file_error(const std::string& path) {
  Error out = errno_error("");
  out.text = path + ": " + out.text;
  return out;
}

}  // namespace

TimelineFile::TimelineFile(std::string path, size_t frames)
    : path_(std::move(path)), recorder_(frames) {
  const std::lock_guard guard(listeners().lock);
  listeners().files.push_back(this);
  trace::board().store(&kListener, std::memory_order_release);
}

TimelineFile::~TimelineFile() {
  const std::lock_guard guard(listeners().lock);
  std::erase(listeners().files, this);
  if (listeners().files.empty()) trace::board().store(nullptr, std::memory_order_release);
}

Status TimelineFile::check() const {
  const File file(std::fopen(path_.c_str(), "we"));
  if (!file) return file_error(path_);
  return Done{};
}

Status TimelineFile::write() const {
  const std::string picture = timeline::draw(recorder_.streams());
  const File file(std::fopen(path_.c_str(), "we"));
  if (!file) return file_error(path_);
  // stdio keeps what it cannot write to itself until somebody asks.
  if (std::fwrite(picture.data(), 1, picture.size(), file.get()) != picture.size() ||
      std::fflush(file.get()) != 0)
    return file_error(path_);
  return Done{};
}

}  // namespace dxva::gst
