// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the element knows of decoding: packets go in with a number, pictures come out with the
// same number, on a surface of the device or in system memory. Which library parses the stream
// is hidden behind this; so is the change to software in the middle of a stream.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/surface/pool.hpp"

namespace dxva::decode {

enum class Codec { H264, H265, Vp8, Vp9, Av1, Mpeg2, Jpeg };
[[nodiscard]] const char* codec_name(Codec codec);  // "h264", "h265", …

// One access unit (or field, or temporal unit), as a parser gives it.
struct Packet {
  std::span<const uint8_t> data;
  uint32_t number = 0;      // rises with each packet; the picture comes back with it
  bool sync_point = false;  // the container says that decoding can start here
};

struct StreamParams {
  Codec codec = Codec::H264;
  std::vector<uint8_t> codec_data;  // avcC, hvcC, av1C, …; empty for byte streams
  bool low_latency = false;     // pictures leave early; streams that reorder more than they say
                                // lose some at the start
  uint32_t extra_surfaces = 0;  // beyond what decoding itself needs: for downstream
  // What surfaces should be laid out as from the start, as of remake_surfaces().
  std::vector<uint64_t> modifiers;
};

struct Rect {
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  friend bool operator==(const Rect&, const Rect&) = default;
};

// Code points of ISO/IEC 23091-2 (H.264 table E-3 and following); 2 is "unspecified".
struct Colour {
  uint8_t primaries = 2;
  uint8_t transfer = 2;
  uint8_t matrix = 2;
  enum class Range : uint8_t { Unspecified, Limited, Full } range = Range::Unspecified;
  // Where chroma samples sit; the four that streams really use.
  enum class Site : uint8_t {
    Unspecified,
    Left,
    Centre,
    TopLeft,
    Other
  } site = Site::Unspecified;
  friend bool operator==(const Colour&, const Colour&) = default;
};

// Units of SMPTE ST 2086 as HEVC's SEI has them: chromaticity in 0.00002, luminance in
// 0.0001 cd/m2.
struct MasteringDisplay {
  std::array<uint16_t, 2> red{}, green{}, blue{}, white{};
  uint32_t max_luminance = 0;
  uint32_t min_luminance = 0;
  friend bool operator==(const MasteringDisplay&, const MasteringDisplay&) = default;
};

struct ContentLight {
  uint16_t max_content = 0;        // cd/m2
  uint16_t max_frame_average = 0;  // cd/m2
  friend bool operator==(const ContentLight&, const ContentLight&) = default;
};

enum class Chroma : uint8_t { Gray, Yuv420, Yuv411, Yuv422, Yuv440, Yuv444, Rgb };

// A picture in system memory: planar, 8 bits in bytes or more in little-endian 16-bit words
// (low bits). RGB planes come in the order green, blue, red.
struct SoftwarePicture {
  struct Plane {
    const uint8_t* data = nullptr;
    uint32_t pitch_bytes = 0;  // 0: all rows are one
  };
  uint32_t plane_count = 0;
  std::array<Plane, 4> planes{};
  std::shared_ptr<const void> owner;  // the pixels live as long
};

struct DecodedFrame {
  uint32_t number = 0;  // of the packet that began it
  uint32_t width = 0;   // coded size, pixels
  uint32_t height = 0;
  Rect visible;
  Chroma chroma = Chroma::Yuv420;
  uint32_t bit_depth = 8;

  bool interlaced = false;
  bool lone_field = false;  // one field, and half as high as the frame it was taken from
  bool top_field_first = false;
  bool repeat_first_field = false;
  bool sync_point = false;
  bool corrupt = false;  // something went wrong since the last sync point

  uint32_t aspect_num = 0;  // of a pixel; 0 = not told
  uint32_t aspect_den = 0;
  Colour colour;
  std::optional<MasteringDisplay> mastering;
  std::optional<ContentLight> light;

  surface::Lease surface;  // null: the pixels are in `software`
  SoftwarePicture software;
};

// How pictures are made now.
struct Mode {
  bool hardware = false;
  Reason reason = Reason::None;  // why not in hardware
};

// Thread rules: one thread at a time, but interrupt() comes from any thread.
class BitstreamDecoder {
 public:
  virtual ~BitstreamDecoder() = default;

  // Decodes one packet as far as it goes. Pictures that became ready wait in receive(), also
  // after an error.
  //   BadInput    the packet is broken; go on with the next one
  //   Busy        interrupted; the packet is lost, which a flush does not mind
  //   DeviceLost  the device failed and software is not allowed
  //   NoMemory    downstream holds every surface
  //   Unsupported no decoder for this stream; without a reason it is none for a device or the
  //               CPU, and the text says what the stream is and what to do
  // A device that fails where software is allowed is no error: the packets since the last sync
  // point are decoded again on the CPU, and mode() says so.
  [[nodiscard]] virtual Status send(const Packet& packet) = 0;
  // The next picture in output order, or none yet.
  [[nodiscard]] virtual std::optional<DecodedFrame> receive() = 0;
  // The surface of `picture`, which receive() gave last, cannot be read. Decodes it and all
  // that come after it again, in software; errors as of send().
  [[nodiscard]] virtual Status decode_again(const DecodedFrame& picture, Reason reason) = 0;
  // Whether the driver says that it reads such a list.
  [[nodiscard]] virtual bool takes_modifiers() const = 0;
  // The surface of `picture`, which receive() gave last, is not laid out as somebody needs it.
  // Decodes it and all that come after it again, on surfaces that the driver is asked to lay
  // out as one of `modifiers`, best first. What it makes of that only the surfaces show. False
  // when the packets are gone: nothing has happened then. Errors as of send().
  [[nodiscard]] virtual Result<bool> remake_surfaces(
      const DecodedFrame& picture, const std::vector<uint64_t>& modifiers) = 0;
  // Packets that will never have a picture of their own: second fields, hidden frames, broken
  // ones.
  [[nodiscard]] virtual std::vector<uint32_t> take_abandoned() = 0;
  // End of a stretch: everything still inside becomes ready. Decoding may go on after it.
  virtual void drain() = 0;
  // Forgets everything sent; the next packet should be a sync point.
  virtual void flush() = 0;
  // Ends a wait inside send(), now and until interrupt(false).
  virtual void interrupt(bool on) = 0;

  [[nodiscard]] virtual Mode mode() const = 0;
  // Pictures that stay inside before the first comes out; known after the first header.
  [[nodiscard]] virtual uint32_t delay() const = 0;
  struct Pools {
    uint32_t surfaces = 0;
    uint32_t late_surfaces = 0;
  };
  [[nodiscard]] virtual Pools pools() const = 0;
  // The surfaces in use, which the decoder of the next stream may take over. Null: none, or of
  // a device that failed.
  [[nodiscard]] virtual std::shared_ptr<surface::Pool> surfaces() const = 0;
  // libavcodec's name of the profile, e.g. "High 10"; empty until the first header.
  [[nodiscard]] virtual std::string profile() const = 0;
};

}  // namespace dxva::decode
