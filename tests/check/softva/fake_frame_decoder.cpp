// SPDX-License-Identifier: LGPL-2.1-or-later

// The decoder behind the driver "dxvasofttest": draws what its FakeOrder says.

#include <unistd.h>

#include <cstring>
#include <utility>

#include "lib/softva/frame_decoder.hpp"
#include "tests/check/softva/fake_order.hpp"

namespace dxva::softva {
namespace {

using test::FakeAction;
using test::FakeOrder;

constexpr VAProfile kProfiles[] = {VAProfileH264Main, VAProfileH264High, VAProfileHEVCMain10};

struct Canvas {
  std::vector<uint8_t> planes[3];
};

template <typename Sample>
void draw(const FakeOrder& order, uint32_t plane, uint32_t width, uint32_t height,
          std::vector<uint8_t>& out) {
  out.resize(sizeof(Sample) * width * height);
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x) {
      const auto value = static_cast<Sample>(test::fake_sample(order, plane, x, y));
      std::memcpy(&out[sizeof(Sample) * (size_t{y} * width + x)], &value, sizeof value);
    }
}

class FakeDecoder final : public FrameDecoder {
 public:
  Result<Pixels> decode(const Picture& picture) override {
    const FakeOrder* rendered = find_order(picture);
    if (!rendered) return Error{.code = ErrorCode::BadInput, .call = "fake"};
    FakeOrder counted = *rendered;
    if (counted.counts) counted.seed += drawn_;
    const FakeOrder* order = &counted;
    if (order->magic != test::kFakeMagic)
      return Error{.code = ErrorCode::BadInput, .call = "fake"};
    char byte = 1;
    if (order->began_fd >= 0 && ::write(order->began_fd, &byte, 1) != 1)
      return errno_error("write");
    if (order->go_fd >= 0 && ::read(order->go_fd, &byte, 1) != 1) return errno_error("read");
    if (order->action == FakeAction::BadInput)
      return Error{.code = ErrorCode::BadInput, .call = "fake"};
    if (order->action == FakeAction::NoMemory)
      return Error{.code = ErrorCode::NoMemory, .call = "fake"};

    auto canvas = std::make_shared<Canvas>();
    Pixels pixels{.layout = order->gray ? Pixels::Layout::Gray : Pixels::Layout::Yuv420,
                  .bit_depth = static_cast<int>(order->bit_depth),
                  .width = order->width,
                  .height = order->height};
    const uint32_t sample_bytes = order->bit_depth > 8 ? 2 : 1;
    for (uint32_t plane = 0; plane < (order->gray ? 1u : 3u); ++plane) {
      const uint32_t width = plane ? (order->width + 1) / 2 : order->width;
      const uint32_t height = plane ? (order->height + 1) / 2 : order->height;
      if (sample_bytes == 2)
        draw<uint16_t>(*order, plane, width, height, canvas->planes[plane]);
      else
        draw<uint8_t>(*order, plane, width, height, canvas->planes[plane]);
      pixels.planes[plane] = canvas->planes[plane].data();
      pixels.pitches[plane] = width * sample_bytes;
    }
    pixels.owner = std::move(canvas);
    ++drawn_;
    return pixels;
  }

  bool can_be_taken_over() const override { return true; }
  std::vector<VASurfaceID> references(const Picture& picture) const override {
    const FakeOrder* order = find_order(picture);
    if (!order || order->reference == 0) return {};
    return {order->reference};
  }

 private:
  static const FakeOrder* find_order(const Picture& picture) {
    for (const ParameterBuffer& buffer : picture.buffers)
      if (buffer.type == VASliceDataBufferType && buffer.bytes.size() == sizeof(FakeOrder))
        return reinterpret_cast<const FakeOrder*>(buffer.bytes.data());
    return nullptr;
  }

  uint32_t drawn_ = 0;
};

}  // namespace

Result<std::unique_ptr<FrameDecoder>> FrameDecoder::create(VAProfile) {
  return std::unique_ptr<FrameDecoder>(std::make_unique<FakeDecoder>());
}

std::span<const VAProfile> FrameDecoder::profiles() {
  return kProfiles;
}

}  // namespace dxva::softva
