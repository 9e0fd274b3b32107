// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/cuda/slot_mapping.hpp"

#include <utility>
#include <vector>

#include "lib/base/fourcc.hpp"
#include "lib/cuda/api.hpp"
#include "lib/video/nv12_layout.hpp"

namespace dxva::cuda {
namespace {

constexpr const char* kWay = "device-to-host";  // ABI, in dxvadec's `stats`

// Device memory to the CPU's, finished when it returns.
Status copy_down(const Stream& stream, uint64_t from, uint32_t from_pitch_bytes, uint8_t* to,
                 uint32_t to_pitch_bytes, uint32_t row_bytes, uint32_t rows) {
  const Current current(stream.device()->context());
  if (!current) return current.status();
  Memcpy2D copy{.width_bytes = row_bytes, .height = rows};
  copy.from.device = from;
  copy.from.pitch_bytes = from_pitch_bytes;
  copy.to.type = Memcpy2D::kHost;
  copy.to.host = to;
  copy.to.pitch_bytes = to_pitch_bytes;
  if (auto begun = check(api()->memcpy_2d_async(&copy, stream.get()), "cuMemcpy2DAsync");
      !begun)
    return begun;
  return check(api()->stream_synchronize(stream.get()), "cuStreamSynchronize");
}

video::FrameView view_at(const uint8_t* data, const SlotLayout& layout) {
  video::FrameView out{.fourcc = layout.fourcc,
                       .width = layout.width,
                       .height = layout.height,
                       .plane_count = 2};
  for (uint32_t plane = 0; plane < out.plane_count; ++plane)
    out.planes[plane] = {.data = data + (plane == 0 ? 0 : layout.chroma_offset),
                         .pitch_bytes = layout.pitch_bytes,
                         .row_bytes = static_cast<uint32_t>(
                             video::plane_row_bytes(layout.fourcc, plane, layout.width)),
                         .rows = video::plane_rows(plane, layout.height)};
  return out;
}

class StagedMapping final : public surface::Mapping {
 public:
  explicit StagedMapping(const SlotLayout& layout)
      : bytes_(layout.chroma_offset / 2 * 3), view_(view_at(bytes_.data(), layout)) {}
  [[nodiscard]] uint8_t* data() { return bytes_.data(); }
  const video::FrameView& view() const override { return view_; }
  void copy_plane(const video::PlaneView& from, uint8_t* to, uint32_t to_pitch_bytes) override {
    video::copy_plane(from, to, to_pitch_bytes);
  }
  Result<bool> whole_picture_copied() override { return false; }
  const char* way_name() const override { return kWay; }

 private:
  std::vector<uint8_t> bytes_;
  const video::FrameView view_;
};

// The view's pointers are the device's, and mean nothing to the CPU.
class DirectMapping final : public surface::Mapping {
 public:
  DirectMapping(std::shared_ptr<Stream> stream, uint64_t address, const SlotLayout& layout)
      : stream_(std::move(stream)),
        view_(view_at(reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(address)),
                      layout)) {}
  const video::FrameView& view() const override { return view_; }
  void copy_plane(const video::PlaneView& from, uint8_t* to, uint32_t to_pitch_bytes) override {
    auto copied = copy_down(*stream_, reinterpret_cast<uintptr_t>(from.data), from.pitch_bytes,
                            to, to_pitch_bytes, from.row_bytes, from.rows);
    if (!copied && status_) status_ = std::move(copied);
  }
  Result<bool> whole_picture_copied() override {
    if (!status_) return status_.error();
    return false;
  }
  const char* way_name() const override { return kWay; }

 private:
  const std::shared_ptr<Stream> stream_;
  const video::FrameView view_;
  Status status_ = Done{};
};

}  // namespace

Result<std::unique_ptr<surface::Mapping>> map_slot(std::shared_ptr<Stream> stream,
                                                   uint64_t address, const SlotLayout& layout,
                                                   surface::Reads reads) {
  if (reads == surface::Reads::ByCopy)
    return std::unique_ptr<surface::Mapping>(
        std::make_unique<DirectMapping>(std::move(stream), address, layout));
  auto out = std::make_unique<StagedMapping>(layout);
  // Both planes lie in rows of one pitch.
  if (auto copied = copy_down(*stream, address, layout.pitch_bytes, out->data(),
                              layout.pitch_bytes, layout.pitch_bytes, layout.height / 2 * 3);
      !copied)
    return copied.error();
  return std::unique_ptr<surface::Mapping>(std::move(out));
}

}  // namespace dxva::cuda
