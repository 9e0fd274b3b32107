// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/play/reference.hpp"

#include <algorithm>
#include <cstring>

namespace dxva::play {

namespace {

// Bytes of a sample in the two formats that one stream may have in turn: both are 4:2:0, so a
// frame has as many samples in either. 0: any other.
size_t sample_bytes(const std::string& pixel_format) {
  if (pixel_format == "nv12") return 1;
  return pixel_format == "p010le" ? 2 : 0;
}

// libswscale leaves out the last chroma samples of each row when it makes P010 of an odd width
// (FFmpeg 5.1), so it is not asked to.
const char* asked_format(const std::string& pixel_format) {
  return pixel_format == "p010le" ? "yuv420p10le" : pixel_format.c_str();
}

// Planes of samples at the low end of their word become P010, in place. Little-endian hosts
// only, as everything that reads P010 here.
void to_p010(std::vector<uint8_t>& bytes, size_t luma_samples) {
  std::vector<uint16_t> planes(bytes.size() / 2);
  std::memcpy(planes.data(), bytes.data(), planes.size() * 2);
  const size_t chroma_samples = (planes.size() - luma_samples) / 2;
  const auto put = [&bytes](size_t at, uint16_t sample) {
    const auto shifted = static_cast<uint16_t>(sample << 6);
    std::memcpy(bytes.data() + at * 2, &shifted, 2);
  };
  for (size_t i = 0; i < luma_samples; ++i) put(i, planes[i]);
  for (size_t i = 0; i < chroma_samples; ++i)
    for (size_t c = 0; c < 2; ++c)
      put(luma_samples + i * 2 + c, planes[luma_samples + c * chroma_samples + i]);
}

}  // namespace

void Reference::mismatch(const std::string& text) {
  ++mismatches_;
  if (first_mismatch_.empty()) first_mismatch_ = text;
}

Status Reference::start(Form& form, const std::string& pixel_format, unsigned threads) {
  if (form.stream.started()) return Done{};
  form.threads = threads;
  return form.stream.start(media_, asked_format(pixel_format), threads);
}

bool Reference::read(Form& form, const TightFrame& frame, std::vector<uint8_t>& bytes) {
  const size_t sample = std::max<size_t>(sample_bytes(frame.pixel_format), 1);
  for (; form.next < samples_.size(); ++form.next) {
    bytes.resize(samples_[form.next] * sample);
    if (form.stream.read(bytes.data(), bytes.size()) != bytes.size()) return false;
  }
  if (frame.pixel_format == "p010le")
    to_p010(bytes, static_cast<size_t>(frame.width) * static_cast<size_t>(frame.height));
  return true;
}

// Decodes the file once more up to this frame, which differs.
Result<bool> Reference::is_told_in_two_ways(const TightFrame& frame) {
  constexpr unsigned kSeveral = 4;  // also where there are fewer processors
  Form& other = others_[frame.pixel_format];
  const bool one = forms_[frame.pixel_format].threads == 1;
  if (auto started = start(other, frame.pixel_format, one ? kSeveral : 1); !started)
    return started.error();
  std::vector<uint8_t> bytes;
  return !read(other, frame, bytes) || bytes != bytes_;
}

Status Reference::compare(const TightFrame& frame, About about) {
  const std::string name = "frame " + std::to_string(compared_);
  ++compared_;
  const size_t sample = std::max<size_t>(sample_bytes(frame.pixel_format), 1);
  if (!last_format_.empty() && frame.pixel_format != last_format_ &&
      (sample_bytes(last_format_) == 0 || sample_bytes(frame.pixel_format) == 0)) {
    mismatch(name + " changed from " + last_format_ + " to " + frame.pixel_format);
    return Done{};
  }
  last_format_ = frame.pixel_format;
  samples_.push_back(frame.bytes.size() / sample);
  Form& form = forms_[frame.pixel_format];
  if (auto started = start(form, frame.pixel_format, about.one_thread ? 1 : 0); !started)
    return started.error();
  if (!read(form, frame, bytes_)) {
    mismatch(name + " is not in the reference, which ended before it");
    return Done{};
  }
  const auto [theirs, ours] = std::mismatch(bytes_.begin(), bytes_.end(), frame.bytes.begin());
  if (theirs == bytes_.end()) return Done{};
  const auto differs = about.damaged ? Result<bool>(true) : is_told_in_two_ways(frame);
  if (!differs) return differs.error();
  if (*differs) {
    ++damaged_;
    if (first_damaged_.empty())
      first_damaged_ = name + (about.damaged ? ", says dxvadec"
                                             : ", of which libavcodec makes one thing with one "
                                               "thread and another with several");
    return Done{};
  }
  mismatch(name + " differs first at byte " + std::to_string(theirs - bytes_.begin()) + " of " +
           std::to_string(bytes_.size()) + ": " + std::to_string(*ours) + ", reference " +
           std::to_string(*theirs));
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
