// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/tracer/timeline_file.hpp"

#include <algorithm>
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

Status TimelineFile::open() {
  auto opened = OutputFile::open(path_, OutputFile::Kind::Svg);
  if (!opened) return opened.error();
  file_.emplace(std::move(*opened));
  return Done{};
}

Status TimelineFile::write() const {
  const timeline::Streams streams = recorder_.streams();
  if (!file_ || (streams.empty() && file_->would_replace())) return Done{};
  return file_->write(timeline::draw(streams));
}

}  // namespace dxva::gst
