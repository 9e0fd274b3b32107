// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/parameter_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "lib/base/unique_fd.hpp"
#include "lib/softva/parameter_text.hpp"
#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {
namespace {

// More than any stream needs. A client that renders the same parameters a million times does
// not get a million times the text.
constexpr size_t kMaxTextBytes = size_t{16} << 20;

struct Codec {
  const char* name;
  WriteParameters write;
};

Codec codec_of(VAProfile profile) {
  switch (profile) {
    case VAProfileH264ConstrainedBaseline:
    case VAProfileH264Main:
    case VAProfileH264High:
      return {"h264", write_h264_parameters};
    case VAProfileHEVCMain:
    case VAProfileHEVCMain10:
      return {"hevc", write_hevc_parameters};
    case VAProfileVP8Version0_3:
      return {"vp8", write_vp8_parameters};
    case VAProfileVP9Profile0:
    case VAProfileVP9Profile2:
      return {"vp9", write_vp9_parameters};
    case VAProfileMPEG2Simple:
    case VAProfileMPEG2Main:
      return {"mpeg2", write_mpeg2_parameters};
    case VAProfileJPEGBaseline:
      return {"jpeg", write_jpeg_parameters};
    case VAProfileAV1Profile0:
      return {"av1", write_av1_parameters};
    default:
      return {"unknown", [](const ParameterBuffer&, size_t, ParameterText&) { return false; }};
  }
}

const char* section_of(VABufferType type) {
  switch (type) {
    case VAPictureParameterBufferType:
      return "picture";
    case VAIQMatrixBufferType:
      return "matrix";
    case VAProbabilityBufferType:
      return "probability";
    case VAHuffmanTableBufferType:
      return "huffman";
    default:
      return nullptr;
  }
}

// FNV-1a: only equal bytes have to look equal.
std::string fingerprint(std::span<const uint8_t> bytes) {
  uint32_t hash = 0x811c9dc5;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x01000193;
  char text[16];
  std::snprintf(text, sizeof text, "%08x", hash);
  return text;
}

// All slices' structs begin with these.
struct SliceBase {
  uint32_t size;
  uint32_t offset;
};

class PictureWriter {
 public:
  PictureWriter(const Codec& codec, ParameterText& text) : codec_(codec), text_(text) {}

  void write(const ParameterBuffer& buffer) {
    if (buffer.type == VASliceDataBufferType) return write_data(buffer);
    const char* section = section_of(buffer.type);
    const bool slice = buffer.type == VASliceParameterBufferType;
    if (!slice && !section) return;
    for (size_t i = 0; i < (slice ? buffer.element_count : 1); ++i) {
      if (full()) return;
      text_.section(slice ? "slice[" + std::to_string(slices_++) + "]" : section);
      if (slice) pending_.push_back(element<SliceBase>(buffer, i).value_or(SliceBase{}));
      const std::string name = text_.section();
      if (!codec_.write(buffer, i, text_)) {
        text_.section(name);
        text_.line("unreadable", std::to_string(buffer.element_bytes));
      }
    }
  }

  [[nodiscard]] bool full() const { return text_.text().size() > kMaxTextBytes; }

 private:
  void write_data(const ParameterBuffer& buffer) {
    const std::span<const uint8_t> bytes = buffer.bytes;
    size_t slice = slices_ - pending_.size();
    for (const SliceBase& base : pending_) {
      const size_t offset = std::min<size_t>(base.offset, bytes.size());
      const size_t size = std::min<size_t>(base.size, bytes.size() - offset);
      text_.section("slice[" + std::to_string(slice++) + "]");
      text_.put("data.bytes", size);
      text_.line("data.fnv1a", fingerprint(bytes.subspan(offset, size)));
    }
    pending_.clear();
  }

  const Codec& codec_;
  ParameterText& text_;
  size_t slices_ = 0;
  std::vector<SliceBase> pending_;
};

}  // namespace

struct ParameterLog::State {
  UniqueFd fd;

  std::mutex mutex;
  uint64_t pictures = 0;
  std::unordered_map<VASurfaceID, uint64_t> decoded;  // ids are not used a second time
};

ParameterLog::ParameterLog() = default;
ParameterLog::ParameterLog(ParameterLog&&) noexcept = default;
ParameterLog& ParameterLog::operator=(ParameterLog&&) noexcept = default;
ParameterLog::~ParameterLog() = default;

Result<ParameterLog> ParameterLog::open(const std::string& file) {
  ParameterLog log;
  if (file.empty()) return log;
  constexpr mode_t kMode = 0644;
  auto state = std::make_unique<State>();
  state->fd.reset(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kMode));
  if (!state->fd.valid()) {
    Error error = errno_error("DXVASOFT_PARAMETERS");
    error.code = ErrorCode::BadInput;
    return error;
  }
  log.state_ = std::move(state);
  return log;
}

void ParameterLog::picture(VAProfile profile, const Picture& picture) const {
  if (!state_) return;
  const Codec codec = codec_of(profile);
  const std::lock_guard lock(state_->mutex);
  ParameterText text([&](VASurfaceID id) -> std::string {
    if (id == VA_INVALID_SURFACE) return "none";
    if (id == picture.target) return "this";
    const auto found = state_->decoded.find(id);
    return found == state_->decoded.end() ? "undecoded" : std::to_string(found->second);
  });
  const uint64_t number = state_->pictures++;
  PictureWriter writer(codec, text);
  for (const ParameterBuffer& buffer : picture.buffers) {
    writer.write(buffer);
    if (writer.full()) break;
  }
  state_->decoded[picture.target] = number;

  const std::string all = "# picture " + std::to_string(number) + " " + codec.name + " " +
                          std::to_string(picture.width) + "x" + std::to_string(picture.height) +
                          "\n" + text.text() + (writer.full() ? "# too much\n" : "");
  // A full disk loses lines; whoever reads them sees that there are too few.
  std::string_view rest = all;
  while (!rest.empty()) {
    const ssize_t written = ::write(state_->fd.get(), rest.data(), rest.size());
    if (written <= 0) break;
    rest.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace dxva::softva
