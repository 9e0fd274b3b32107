// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The seam inside the driver: VA calls on one side, decoding on the other. A context freezes
// what the client rendered between vaBeginPicture and vaEndPicture into a Picture, a
// FrameDecoder turns it into pixels. Nothing here knows surfaces' memory, and no decoder knows
// VA objects.

#include <va/va.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lib/base/result.hpp"

namespace dxva::softva {

// One VA buffer as it was when vaRenderPicture took it (the client may change or free it
// later).
struct ParameterBuffer {
  VABufferType type;
  uint32_t element_bytes;
  uint32_t element_count;
  std::vector<uint8_t> bytes;  // element_bytes * element_count of them
};

// Everything between vaBeginPicture and vaEndPicture, in the order in which it was rendered.
struct Picture {
  VASurfaceID target;
  uint32_t width;  // of the context, pixels
  uint32_t height;
  std::vector<ParameterBuffer> buffers;
};

// Pixels of one picture; planes stay valid as long as `owner` lives. Depth above 8 bits is
// little endian in 16-bit words, in the low bits.
struct Pixels {
  enum class Layout { Gray, Yuv420, Yuv422, Yuv440, Yuv444 };
  Layout layout = Layout::Yuv420;
  int bit_depth = 8;
  uint32_t width = 0;  // coded size, pixels
  uint32_t height = 0;
  const uint8_t* planes[3] = {};
  uint32_t pitches[3] = {};
  std::shared_ptr<const void> owner;
};

// A picture as it is shown, in another surface than the one it was decoded into.
struct ShownPicture {
  VASurfaceID surface = VA_INVALID_SURFACE;
  Pixels pixels;
};

// Stateful, one per VA context, called by one thread at a time.
class FrameDecoder {
 public:
  virtual ~FrameDecoder() = default;
  // Decodes `picture` to the end before it returns. Two field pictures with one target come as
  // two calls; the second returns the frame with both fields. BadInput: the parameters or the
  // slices cannot be decoded; the decoder stays usable.
  virtual Result<Pixels> decode(const Picture& picture) = 0;

  // Of the last picture, once: what belongs into a second surface (AV1's film grain, which no
  // reference has).
  virtual std::optional<ShownPicture> take_shown() { return std::nullopt; }

  // Clients of some codecs change the context in the middle of a stream and go on with
  // references from the old one (VP9, where a frame may have another size than its references):
  // the new context then goes on with the old one's decoder.
  virtual bool can_be_taken_over() const { return false; }
  // The surfaces that `picture` may refer to, of such a codec. Needs no lock.
  virtual std::vector<VASurfaceID> references(const Picture& picture) const { return {}; }

  // Unsupported: no decoder for this profile in this build.
  [[nodiscard]] static Result<std::unique_ptr<FrameDecoder>> create(VAProfile profile);
  // The profiles `create` would serve, for vaQueryConfigProfiles.
  [[nodiscard]] static std::span<const VAProfile> profiles();
};

}  // namespace dxva::softva
