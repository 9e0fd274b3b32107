// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/dav1d_picture_decoder.hpp"

#include <dav1d/dav1d.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace dxva::softva {

namespace {

constexpr unsigned kMaxPixels = 8192u * 8192u;

std::shared_ptr<Dav1dPicture> empty_picture() {
  return {new Dav1dPicture{}, [](Dav1dPicture* picture) {
            dav1d_picture_unref(picture);
            delete picture;
          }};
}

template <size_t Count>
void copy_points(uint8_t (&out)[Count][2], const uint8_t* values, const uint8_t* scalings,
                 int count) {
  for (int i = 0; i < count; ++i) {
    out[i][0] = values[i];
    out[i][1] = scalings[i];
  }
}

Dav1dFilmGrainData grain_data(const VAFilmGrainStructAV1& grain) {
  const auto& bits = grain.film_grain_info_fields.bits;
  Dav1dFilmGrainData out{};
  out.seed = grain.grain_seed;
  out.num_y_points = grain.num_y_points;
  copy_points(out.y_points, grain.point_y_value, grain.point_y_scaling, out.num_y_points);
  out.chroma_scaling_from_luma = bits.chroma_scaling_from_luma;
  out.num_uv_points[0] = grain.num_cb_points;
  out.num_uv_points[1] = grain.num_cr_points;
  copy_points(out.uv_points[0], grain.point_cb_value, grain.point_cb_scaling,
              out.num_uv_points[0]);
  copy_points(out.uv_points[1], grain.point_cr_value, grain.point_cr_scaling,
              out.num_uv_points[1]);
  out.scaling_shift = static_cast<int>(bits.grain_scaling_minus_8) + 8;
  out.ar_coeff_lag = static_cast<int>(bits.ar_coeff_lag);
  std::copy(std::begin(grain.ar_coeffs_y), std::end(grain.ar_coeffs_y), out.ar_coeffs_y);
  std::copy(std::begin(grain.ar_coeffs_cb), std::end(grain.ar_coeffs_cb), out.ar_coeffs_uv[0]);
  std::copy(std::begin(grain.ar_coeffs_cr), std::end(grain.ar_coeffs_cr), out.ar_coeffs_uv[1]);
  out.ar_coeff_shift = bits.ar_coeff_shift_minus_6 + 6;
  out.grain_scale_shift = static_cast<int>(bits.grain_scale_shift);
  out.uv_mult[0] = grain.cb_mult - 128;
  out.uv_mult[1] = grain.cr_mult - 128;
  out.uv_luma_mult[0] = grain.cb_luma_mult - 128;
  out.uv_luma_mult[1] = grain.cr_luma_mult - 128;
  out.uv_offset[0] = (grain.cb_offset & 0x1ff) - 256;
  out.uv_offset[1] = (grain.cr_offset & 0x1ff) - 256;
  out.overlap_flag = bits.overlap_flag;
  out.clip_to_restricted_range = bits.clip_to_restricted_range;
  return out;
}

}  // namespace

Result<std::unique_ptr<Dav1dPictureDecoder>> Dav1dPictureDecoder::create() {
  Dav1dSettings settings;
  dav1d_default_settings(&settings);
  settings.n_threads = 1;
  settings.max_frame_delay = 1;
  settings.apply_grain = 0;
  settings.all_layers = 1;
  settings.frame_size_limit = kMaxPixels;
  settings.output_invisible_frames = 1;
  // Its messages are for the process's log, which is not ours.
  settings.logger = {.cookie = nullptr, .callback = nullptr};
  Dav1dContext* context = nullptr;
  if (const int status = dav1d_open(&context, &settings); status < 0)
    return Error{.code = ErrorCode::Failed, .call = "dav1d_open", .native = status};
  return std::unique_ptr<Dav1dPictureDecoder>(new Dav1dPictureDecoder(context));
}

Dav1dPictureDecoder::~Dav1dPictureDecoder() {
  dav1d_close(&context_);
}

std::shared_ptr<const Dav1dPicture> Dav1dPictureDecoder::decode(std::span<const uint8_t> unit) {
  Dav1dData data{};
  uint8_t* bytes = dav1d_data_create(&data, unit.size());
  if (!bytes) return nullptr;
  std::memcpy(bytes, unit.data(), unit.size());
  std::shared_ptr<Dav1dPicture> last;
  // A picture that waits must be taken before more data goes in.
  for (;;) {
    // Damaged data stays ours, and would be damaged again.
    if (const int sent = data.sz > 0 ? dav1d_send_data(context_, &data) : 0;
        sent < 0 && sent != DAV1D_ERR(EAGAIN))
      break;
    auto picture = empty_picture();
    const int status = dav1d_get_picture(context_, picture.get());
    if (status == 0) last = std::move(picture);
    if (status < 0 && (status != DAV1D_ERR(EAGAIN) || data.sz == 0)) break;
  }
  dav1d_data_unref(&data);
  return last;
}

std::shared_ptr<const Dav1dPicture> Dav1dPictureDecoder::with_grain(
    const Dav1dPicture& picture, const VAFilmGrainStructAV1& grain) {
  // dav1d looks for the parameters in the frame header, and only there.
  Dav1dFrameHeader header = *picture.frame_hdr;
  header.film_grain.data = grain_data(grain);
  Dav1dPicture plain = picture;
  plain.frame_hdr = &header;
  auto out = empty_picture();
  if (dav1d_apply_grain(context_, out.get(), &plain) < 0) return nullptr;
  out->frame_hdr = picture.frame_hdr;
  return out;
}

Result<Pixels> pixels_of(std::shared_ptr<const Dav1dPicture> picture) {
  Pixels pixels;
  switch (picture->p.layout) {
    case DAV1D_PIXEL_LAYOUT_I400:
      pixels.layout = Pixels::Layout::Gray;
      break;
    case DAV1D_PIXEL_LAYOUT_I420:
      pixels.layout = Pixels::Layout::Yuv420;
      break;
    case DAV1D_PIXEL_LAYOUT_I422:
      pixels.layout = Pixels::Layout::Yuv422;
      break;
    case DAV1D_PIXEL_LAYOUT_I444:
      pixels.layout = Pixels::Layout::Yuv444;
      break;
  }
  pixels.bit_depth = picture->p.bpc;
  pixels.width = static_cast<uint32_t>(picture->p.w);
  pixels.height = static_cast<uint32_t>(picture->p.h);
  const int planes = pixels.layout == Pixels::Layout::Gray ? 1 : 3;
  for (int i = 0; i < planes; ++i) {
    pixels.planes[i] = static_cast<const uint8_t*>(picture->data[i]);
    pixels.pitches[i] = static_cast<uint32_t>(picture->stride[i > 0 ? 1 : 0]);
  }
  pixels.owner = std::move(picture);
  return pixels;
}

}  // namespace dxva::softva
