// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/timeline/recorder.hpp"

#include <string_view>

#include "lib/base/path.hpp"

namespace dxva::timeline {
namespace {

constexpr std::string_view kNone = "none";

}  // namespace

// A step that only this program's decoder knows ("exported", and nobody told of the rest) is as
// good as the best; one that nobody knows ("dropped") is the worst.
int step_rank(const char* step) {
  if (std::string_view(step) == "exported") return 0;
  for (size_t i = 0; i < kStepCount; ++i)
    if (step == std::string_view(step_name(static_cast<Step>(i)))) return static_cast<int>(i);
  return static_cast<int>(kStepCount);
}

const char* Frame::step() const {
  if (!went_up) return left_as ? left_as : "";
  return left_as && step_rank(left_as) > step_rank(went_up) ? left_as : went_up;
}

// "It was no surface" says nothing where the decoder has said why it gave none.
const char* Frame::reason() const {
  if (left_for != kNone) return left_for;
  return up_for;
}

Frame* Recorder::find(uint64_t memory) {
  const auto found = memory == 0 ? last_in_memory_.end() : last_in_memory_.find(memory);
  if (found == last_in_memory_.end()) return nullptr;
  auto& frames = streams_[found->second.stream].frames;
  return &frames[found->second.index - frames.front().index];
}

Frame& Recorder::add(const trace::Part& part) {
  const auto [known, is_new] =
      stream_of_.try_emplace(Element{part.element, part.element_name}, streams_.size());
  if (is_new) streams_.push_back({.name = part.element_name});
  Stream& stream = streams_[known->second];
  if (stream.frames.size() == frames_kept_) {
    const Frame& oldest = stream.frames.front();
    ++stream.gone[{oldest.step(), oldest.reason()}];
    const auto last = last_in_memory_.find(oldest.memory);
    if (last != last_in_memory_.end() && last->second.stream == known->second &&
        last->second.index == oldest.index)
      last_in_memory_.erase(last);
    stream.frames.pop_front();
  }
  stream.frames.push_back({.index = stream.frames_told++,
                           .surface = part.surface,
                           .pts_ns = part.pts_ns,
                           .memory = part.memory});
  if (part.memory != 0)
    last_in_memory_[part.memory] = {.stream = known->second,
                                    .index = stream.frames.back().index};
  return stream.frames.back();
}

void Recorder::part(const trace::Part& part) {
  const std::lock_guard guard(lock_);
  Frame* frame = nullptr;
  if (part.role == trace::Part::Role::Decoder) {
    frame = &add(part);
    frame->left_as = part.step;
    frame->left_for = part.reason;
  } else {
    frame = find(part.memory);
    // A second part of the same uploader is about another frame, in memory that came again. A
    // frame that goes two ways is as good as the worse of them.
    if (!frame || (!frame->left_as && frame->went_up)) frame = &add(part);
    if (!frame->went_up || step_rank(part.step) > step_rank(frame->went_up)) {
      frame->went_up = part.step;
      frame->up_for = part.reason;
    }
  }
  frame->damaged |= part.damaged;
  frame->spans.insert(frame->spans.end(), part.spans.begin(), part.spans.end());
}

void Recorder::fence(uint64_t memory, trace::Time begin, trace::Time end) {
  const std::lock_guard guard(lock_);
  if (Frame* frame = find(memory))
    frame->spans.push_back({.stage = trace::Stage::Fence, .begin = begin, .end = end});
}

void Recorder::home(uint64_t memory, trace::Time at) {
  const std::lock_guard guard(lock_);
  if (Frame* frame = find(memory)) frame->home = at;
}

Streams Recorder::streams() const {
  const std::lock_guard guard(lock_);
  return streams_;
}

}  // namespace dxva::timeline
