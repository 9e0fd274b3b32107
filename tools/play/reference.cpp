// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/play/reference.hpp"

#include <algorithm>

namespace dxva::play {

namespace {

// Bytes of a sample in the two formats that one stream may have in turn: both are 4:2:0, so a
// frame has as many samples in either. 0: any other.
size_t sample_bytes(const std::string& pixel_format) {
  if (pixel_format == "nv12") return 1;
  return pixel_format == "p010le" ? 2 : 0;
}

}  // namespace

void Reference::mismatch(const std::string& text) {
  ++mismatches_;
  if (first_mismatch_.empty()) first_mismatch_ = text;
}

bool Reference::read(Form& form, const TightFrame& frame) {
  const size_t sample = std::max<size_t>(sample_bytes(frame.pixel_format), 1);
  samples_.push_back(frame.bytes.size() / sample);
  for (; form.next < samples_.size(); ++form.next) {
    bytes_.resize(samples_[form.next] * sample);
    if (form.stream.read(bytes_.data(), bytes_.size()) != bytes_.size()) return false;
  }
  return true;
}

Status Reference::compare(const TightFrame& frame, bool one_thread) {
  const std::string name = "frame " + std::to_string(compared_);
  ++compared_;
  if (!last_format_.empty() && frame.pixel_format != last_format_ &&
      (sample_bytes(last_format_) == 0 || sample_bytes(frame.pixel_format) == 0)) {
    mismatch(name + " changed from " + last_format_ + " to " + frame.pixel_format);
    return Done{};
  }
  last_format_ = frame.pixel_format;
  Form& form = forms_[frame.pixel_format];
  if (!form.stream.started()) {
    if (auto started = form.stream.start(media_, frame.pixel_format, one_thread); !started)
      return started.error();
  }
  if (!read(form, frame)) {
    mismatch(name + " is not in the reference, which ended before it");
    return Done{};
  }
  const auto [theirs, ours] = std::mismatch(bytes_.begin(), bytes_.end(), frame.bytes.begin());
  if (theirs != bytes_.end())
    mismatch(name + " differs first at byte " + std::to_string(theirs - bytes_.begin()) +
             " of " + std::to_string(bytes_.size()) + ": " + std::to_string(*ours) +
             ", reference " + std::to_string(*theirs));
  return Done{};
}

void Reference::finish() {
  if (bytes_.empty()) return;
  ReferenceStream& stream = forms_[last_format_].stream;
  uint64_t left = 0;
  while (stream.read(bytes_.data(), bytes_.size()) > 0) ++left;
  if (left == 0) return;
  mismatch("the reference has " + std::to_string(left) + " more frames");
  mismatches_ += left - 1;
}

}  // namespace dxva::play
