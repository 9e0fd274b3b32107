// SPDX-License-Identifier: LGPL-2.1-or-later
// The parts of dxvadec that need no pipeline: memories, copies, formats, refusals.
#include <gst/allocators/allocators.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "gst/dxva/codecs.hpp"
#include "gst/dxva/decoder_stats.hpp"
#include "gst/dxva/gstdxvaallocator.hpp"
#include "gst/dxva/modifier_choice.hpp"
#include "gst/dxva/negotiation.hpp"
#include "gst/dxva/output_format.hpp"
#include "gst/dxva/picture_copy.hpp"
#include "gst/dxva/refused_buffers.hpp"
#include "lib/base/fourcc.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva;
using namespace dxva::gst;

namespace {

constexpr size_t kSize = 4096;

UniqueFd filled_memfd(uint8_t value) {
  UniqueFd fd(memfd_create("test", MFD_CLOEXEC));
  const std::vector<uint8_t> bytes(kSize, value);
  fail_unless_equals_int(write(fd.get(), bytes.data(), kSize), kSize);
  return fd;
}

}  // namespace

// --- memory

GST_START_TEST(tiled_memory_is_read_back_once_for_all_maps) {
  const auto allocator = make_dxva_allocator();
  int read_backs = 0;
  const auto memory = wrap_dmabuf(allocator.get(), filled_memfd(1), kSize,
                                  {.linear = false, .read_back = [&](std::span<uint8_t> to) {
                                     ++read_backs;
                                     std::memset(to.data(), 42, to.size());
                                     return true;
                                   }});
  fail_unless(gst_is_dmabuf_memory(memory.get()));
  const auto part = GstPtr<GstMemory>::adopt(gst_memory_share(memory.get(), 100, 200));
  GstMapInfo one;
  GstMapInfo two;
  GstMapInfo three;
  fail_unless(gst_memory_map(memory.get(), &one, GST_MAP_READ));
  fail_unless(gst_memory_map(memory.get(), &two, GST_MAP_READ));
  fail_unless(gst_memory_map(part.get(), &three, GST_MAP_READ));
  fail_unless(one.data[0] == 42 && two.data[kSize - 1] == 42);
  fail_unless(three.data == one.data + 100 && three.size == 200);
  gst_memory_unmap(memory.get(), &one);
  fail_unless(two.data[7] == 42);
  gst_memory_unmap(memory.get(), &two);
  gst_memory_unmap(part.get(), &three);
  fail_unless_equals_int(read_backs, 1);
  fail_unless(gst_memory_map(memory.get(), &one, GST_MAP_READ));
  gst_memory_unmap(memory.get(), &one);
  fail_unless_equals_int(read_backs, 2);
}
GST_END_TEST

GST_START_TEST(memory_that_cannot_be_read_back_cannot_be_mapped) {
  const auto allocator = make_dxva_allocator();
  const auto memory =
      wrap_dmabuf(allocator.get(), filled_memfd(1), kSize,
                  {.linear = false, .read_back = [](std::span<uint8_t>) { return false; }});
  GstMapInfo map;
  fail_if(gst_memory_map(memory.get(), &map, GST_MAP_READ));
}
GST_END_TEST

GST_START_TEST(linear_memory_is_the_memory_itself) {
  const auto allocator = make_dxva_allocator();
  UniqueFd fd = filled_memfd(3);
  const UniqueFd ours = fd.duplicate();
  const auto memory = wrap_dmabuf(allocator.get(), std::move(fd), kSize, {.writable = true});
  GstMapInfo map;
  fail_unless(gst_memory_map(memory.get(), &map, GST_MAP_READWRITE));
  fail_unless(map.data[5] == 3);
  map.data[5] = 9;
  gst_memory_unmap(memory.get(), &map);
  uint8_t byte = 0;
  fail_unless_equals_int(pread(ours.get(), &byte, 1, 5), 1);
  fail_unless_equals_int(byte, 9);
}
GST_END_TEST

GST_START_TEST(surface_memory_is_not_written_to) {
  const auto allocator = make_dxva_allocator();
  const auto memory = wrap_dmabuf(allocator.get(), filled_memfd(3), kSize, {});
  GstMapInfo map;
  fail_if(gst_memory_map(memory.get(), &map, GST_MAP_WRITE));
  const auto copy = GstPtr<GstMemory>::adopt(gst_memory_copy(memory.get(), 0, -1));
  fail_if(gst_is_dmabuf_memory(copy.get()));
  fail_unless(gst_memory_map(copy.get(), &map, GST_MAP_READ));
  fail_unless(map.size == kSize && map.data[17] == 3);
  gst_memory_unmap(copy.get(), &map);
}
GST_END_TEST

// --- copies

namespace {

// 4:2:0 with odd sizes: every sample is its number.
struct Planar {
  static constexpr uint32_t kWidth = 7, kHeight = 5, kChromaWidth = 4, kChromaHeight = 3;
  std::vector<uint16_t> y, u, v;
  uint32_t bytes;
  std::vector<uint8_t> y8, u8, v8;

  explicit Planar(uint32_t sample_bytes) : bytes(sample_bytes) {
    y.resize(kWidth * kHeight);
    u.resize(kChromaWidth * kChromaHeight);
    v.resize(u.size());
    std::iota(y.begin(), y.end(), uint16_t{1});
    std::iota(u.begin(), u.end(), uint16_t{100});
    std::iota(v.begin(), v.end(), uint16_t{200});
    y8.assign(y.begin(), y.end());
    u8.assign(u.begin(), u.end());
    v8.assign(v.begin(), v.end());
  }
  PictureView view(GstVideoFormat format) const {
    PictureView out{.format = format, .plane_count = 3};
    const auto* a = bytes == 1 ? y8.data() : reinterpret_cast<const uint8_t*>(y.data());
    const auto* b = bytes == 1 ? u8.data() : reinterpret_cast<const uint8_t*>(u.data());
    const auto* c = bytes == 1 ? v8.data() : reinterpret_cast<const uint8_t*>(v.data());
    out.planes[0] = {.data = a, .pitch_bytes = kWidth * bytes};
    out.planes[1] = {.data = b, .pitch_bytes = kChromaWidth * bytes};
    out.planes[2] = {.data = c, .pitch_bytes = kChromaWidth * bytes};
    return out;
  }
};

class Target {
 public:
  Target(GstVideoFormat format, uint32_t width, uint32_t height) {
    GstVideoInfo info;
    gst_video_info_set_format(&info, format, width, height);
    buffer_ = GstPtr<GstBuffer>::adopt(gst_buffer_new_allocate(nullptr, info.size, nullptr));
    fail_unless(gst_video_frame_map(&frame, &info, buffer_.get(), GST_MAP_READWRITE));
  }
  ~Target() { gst_video_frame_unmap(&frame); }
  template <typename Sample>
  Sample at(uint32_t plane, uint32_t x, uint32_t y) const {
    const auto* row = static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane)) +
                      y * static_cast<uint32_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane));
    return reinterpret_cast<const Sample*>(row)[x];
  }
  GstVideoFrame frame;

 private:
  GstPtr<GstBuffer> buffer_;
};

}  // namespace

GST_START_TEST(planar_becomes_semi_planar_with_odd_sizes) {
  const Planar from(1);
  Target to(GST_VIDEO_FORMAT_NV12, 7, 5);
  fail_unless(
      copy_picture(from.view(GST_VIDEO_FORMAT_I420), {.width = 7, .height = 5}, to.frame));
  fail_unless_equals_int(to.at<uint8_t>(0, 6, 4), 35);
  fail_unless_equals_int(to.at<uint8_t>(1, 0, 0), 100);
  fail_unless_equals_int(to.at<uint8_t>(1, 1, 0), 200);
  fail_unless_equals_int(to.at<uint8_t>(1, 6, 2), 111);
  fail_unless_equals_int(to.at<uint8_t>(1, 7, 2), 211);
}
GST_END_TEST

GST_START_TEST(ten_bits_move_to_the_top_of_the_word) {
  const Planar from(2);
  Target to(GST_VIDEO_FORMAT_P010_10LE, 7, 5);
  fail_unless(
      copy_picture(from.view(GST_VIDEO_FORMAT_I420_10LE), {.width = 7, .height = 5}, to.frame));
  fail_unless_equals_int(to.at<uint16_t>(0, 6, 4), 35 << 6);
  fail_unless_equals_int(to.at<uint16_t>(1, 6, 2), 111 << 6);
  fail_unless_equals_int(to.at<uint16_t>(1, 7, 2), 211 << 6);
}
GST_END_TEST

GST_START_TEST(a_copy_takes_the_visible_part) {
  const Planar from(1);
  Target to(GST_VIDEO_FORMAT_I420, 3, 3);
  fail_unless(copy_picture(from.view(GST_VIDEO_FORMAT_I420),
                           {.x = 2, .y = 2, .width = 3, .height = 3}, to.frame));
  fail_unless_equals_int(to.at<uint8_t>(0, 0, 0), 17);
  fail_unless_equals_int(to.at<uint8_t>(0, 2, 2), 33);
  fail_unless_equals_int(to.at<uint8_t>(1, 0, 0), 105);
  fail_unless_equals_int(to.at<uint8_t>(2, 1, 1), 210);
}
GST_END_TEST

namespace {

// There and back is where it was: each way is the other's test.
template <typename Sample>
void expect_back(GstVideoFormat planar, GstVideoFormat semi_planar) {
  const Planar from(sizeof(Sample));
  Target between(semi_planar, 7, 5);
  fail_unless(copy_picture(from.view(planar), {.width = 7, .height = 5}, between.frame));
  PictureView view{.format = semi_planar, .plane_count = 2};
  for (uint32_t i = 0; i < 2; ++i)
    view.planes[i] = {
        .data = static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&between.frame, i)),
        .pitch_bytes = static_cast<uint32_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&between.frame, i))};
  // The visible part begins at the second chroma sample.
  Target to(planar, 5, 3);
  fail_unless(copy_picture(view, {.x = 2, .y = 2, .width = 5, .height = 3}, to.frame));
  fail_unless_equals_int(to.at<Sample>(0, 0, 0), 17);
  fail_unless_equals_int(to.at<Sample>(0, 4, 2), 35);
  fail_unless_equals_int(to.at<Sample>(1, 0, 0), 105);
  fail_unless_equals_int(to.at<Sample>(1, 2, 1), 111);
  fail_unless_equals_int(to.at<Sample>(2, 0, 0), 205);
  fail_unless_equals_int(to.at<Sample>(2, 2, 1), 211);
}

}  // namespace

GST_START_TEST(surfaces_become_planar_with_odd_sizes) {
  expect_back<uint8_t>(GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12);
  expect_back<uint16_t>(GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_P010_10LE);
}
GST_END_TEST

GST_START_TEST(gray_gets_chroma_of_no_colour) {
  const Planar from(1);
  PictureView view = from.view(GST_VIDEO_FORMAT_GRAY8);
  view.plane_count = 1;
  Target to(GST_VIDEO_FORMAT_NV12, 7, 5);
  fail_unless(copy_picture(view, {.width = 7, .height = 5}, to.frame));
  fail_unless_equals_int(to.at<uint8_t>(0, 6, 4), 35);
  for (uint32_t x = 0; x < 8; ++x) fail_unless_equals_int(to.at<uint8_t>(1, x, 2), 128);
}
GST_END_TEST

namespace {

// A row by GStreamer's own unpacker: 0, Y, U and V of 16 bits for each pixel.
std::vector<guint16> unpacked(const GstVideoFrame& frame, gint row) {
  const GstVideoFormatInfo* info = frame.info.finfo;
  fail_unless_equals_int(info->unpack_format, GST_VIDEO_FORMAT_AYUV64);
  gpointer planes[GST_VIDEO_MAX_PLANES] = {};
  gint strides[GST_VIDEO_MAX_PLANES] = {};
  for (guint i = 0; i < GST_VIDEO_FRAME_N_PLANES(&frame); ++i) {
    planes[i] = GST_VIDEO_FRAME_PLANE_DATA(&frame, i);
    strides[i] = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, i);
  }
  std::vector<guint16> out(size_t(GST_VIDEO_FRAME_WIDTH(&frame)) * 4);
  info->unpack_func(info, GST_VIDEO_PACK_FLAG_TRUNCATE_RANGE, out.data(), planes, strides, 0,
                    row, GST_VIDEO_FRAME_WIDTH(&frame));
  // Opaque in as many bits as the format has for it.
  for (size_t alpha = 0; alpha < out.size(); alpha += 4) {
    fail_unless(out[alpha] >= 0xc000);
    out[alpha] = 0;
  }
  return out;
}

void expect_same_samples(GstVideoFormat planar, GstVideoFormat other, uint32_t width) {
  fail_unless_equals_int(rearranged(planar, width), other);
  Target from(planar, width, 5);
  const auto most = (1u << GST_VIDEO_FORMAT_INFO_DEPTH(from.frame.info.finfo, 0)) - 1;
  PictureView view{.format = planar, .plane_count = 3};
  uint32_t code = 0;
  for (uint32_t i = 0; i < 3; ++i) {
    auto* data = static_cast<uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&from.frame, i));
    const auto pitch = static_cast<uint32_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&from.frame, i));
    const gint rows = GST_VIDEO_FRAME_COMP_HEIGHT(&from.frame, i);
    auto* words = reinterpret_cast<uint16_t*>(data);
    for (uint32_t at = 0; at < pitch / 2 * uint32_t(rows); ++at)
      words[at] = static_cast<uint16_t>((code = code * 5 + 1013) & most);
    view.planes[i] = {.data = data, .pitch_bytes = pitch};
  }
  Target to(other, width, 5);
  fail_unless(copy_picture(view, {.width = width, .height = 5}, to.frame));
  for (gint row = 0; row < 5; ++row)
    fail_unless(unpacked(from.frame, row) == unpacked(to.frame, row), "%s, row %d",
                gst_video_format_to_string(other), row);
}

}  // namespace

GST_START_TEST(planes_of_many_bits_become_what_opengl_has) {
  for (const uint32_t width : {7u, 8u}) {
    expect_same_samples(GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_P010_10LE, width);
    expect_same_samples(GST_VIDEO_FORMAT_I420_12LE, GST_VIDEO_FORMAT_P012_LE, width);
    expect_same_samples(GST_VIDEO_FORMAT_Y444_10LE, GST_VIDEO_FORMAT_Y410, width);
    expect_same_samples(GST_VIDEO_FORMAT_Y444_12LE, GST_VIDEO_FORMAT_Y412_LE, width);
  }
  expect_same_samples(GST_VIDEO_FORMAT_I422_10LE, GST_VIDEO_FORMAT_Y210, 8);
  expect_same_samples(GST_VIDEO_FORMAT_I422_12LE, GST_VIDEO_FORMAT_Y212_LE, 8);
  fail_unless_equals_int(rearranged(GST_VIDEO_FORMAT_I422_10LE, 7), GST_VIDEO_FORMAT_UNKNOWN);
  fail_unless_equals_int(rearranged(GST_VIDEO_FORMAT_I422_12LE, 7), GST_VIDEO_FORMAT_UNKNOWN);
}
GST_END_TEST

GST_START_TEST(formats_that_do_not_match_are_refused) {
  const Planar from(1);
  Target other(GST_VIDEO_FORMAT_RGBA, 7, 5);
  fail_if(
      copy_picture(from.view(GST_VIDEO_FORMAT_I420), {.width = 7, .height = 5}, other.frame));
  Target smaller(GST_VIDEO_FORMAT_I420, 6, 5);
  fail_if(
      copy_picture(from.view(GST_VIDEO_FORMAT_I420), {.width = 7, .height = 5}, smaller.frame));
}
GST_END_TEST

// --- bookkeeping

GST_START_TEST(a_refused_buffer_is_tried_again_after_a_while) {
  RefusedBuffers refused;
  const BufferIdentity one{.device = 1, .inode = 2};
  const BufferIdentity other{.device = 1, .inode = 3};
  refused.add(one, Reason::EglBadMatch);
  fail_unless(refused.ask(other).reason == Reason::None);
  // Looking is no picture.
  const auto is_bad_match = [](Reason reason) { return reason == Reason::EglBadMatch; };
  for (int i = 0; i < 1000; ++i) fail_unless(refused.any_of({one, other}, is_bad_match));
  fail_if(refused.any_of({other}, is_bad_match));
  fail_if(refused.any_of({one}, [](Reason reason) { return reason == Reason::GlError; }));
  int refusals = 0;
  while (refused.ask(one).reason == Reason::EglBadMatch) ++refusals;
  fail_unless(refusals > 10 && refusals < 1000);
  fail_unless(refused.ask(one).reason == Reason::None);
  refused.add(one, Reason::EglBadMatch);
  refused.clear();
  fail_unless(refused.ask(one).reason == Reason::None);
}
GST_END_TEST

GST_START_TEST(events_name_reasons) {
  fail_unless(reason_of_name("egl-bad-match") == Reason::EglBadMatch);
  fail_unless(reason_of_name("nonsense") == Reason::ImportDisabled);
  fail_unless(reason_of_name(nullptr) == Reason::ImportDisabled);
}
GST_END_TEST

GST_START_TEST(stats_tell_each_change_of_path_once) {
  DecoderStats stats;
  GstElement* element = gst_bin_new("bin");
  fail_if(stats.count(element, Leaving::Exported, Reason::None));
  fail_if(stats.count(element, Leaving::Exported, Reason::None));
  fail_unless(bool(stats.count(element, Leaving::CpuCopy, Reason::ExportFailed)));
  fail_if(stats.count(element, Leaving::CpuCopy, Reason::ExportFailed));
  gst_object_unref(element);
  const auto structure = stats.structure();
  guint64 frames = 0;
  fail_unless(gst_structure_get_uint64(structure.get(), "frames", &frames));
  fail_unless_equals_uint64(frames, 4);
}
GST_END_TEST

GST_START_TEST(templates_name_what_the_decoders_give) {
  const auto src = GstPtr<GstCaps>::adopt(src_template_caps());
  const auto sink = GstPtr<GstCaps>::adopt(sink_template_caps());
  fail_unless(gst_caps_features_contains(gst_caps_get_features(src.get(), 0),
                                         GST_CAPS_FEATURE_MEMORY_DMABUF));
  for (guint i = 0; i < gst_caps_get_size(sink.get()); ++i)
    fail_unless(codec_of(gst_caps_get_structure(sink.get(), i)).has_value());
  const auto drm = GstPtr<GstCaps>::adopt(gst_caps_from_string(
      "video/x-raw(memory:DMABuf),format=DMA_DRM,width=64,height=64,framerate=25/1"));
  fail_unless_equals_int(gst_caps_can_intersect(src.get(), drm.get()), has_dma_drm());
}
GST_END_TEST

// GStreamer passes such numbers on as enums; what the stream says is used in their place.
GST_START_TEST(colours_that_nobody_knows_are_not_told) {
  const auto input = GstPtr<GstCaps>::adopt(
      gst_caps_from_string("video/x-h264,width=64,height=64,colorimetry=(string)2:99:13:-1"));
  GstVideoInfo info;
  fail_unless(gst_video_info_set_format(&info, GST_VIDEO_FORMAT_NV12, 64, 64));
  // As the base class has them of these caps.
  fail_unless(gst_video_colorimetry_from_string(&info.colorimetry, "2:99:13:-1"));
  add_stream_facts(info, {.colour = {.primaries = 9}}, input.get());
  fail_unless_equals_int(info.colorimetry.range, GST_VIDEO_COLOR_RANGE_16_235);
  fail_unless_equals_int(info.colorimetry.matrix, GST_VIDEO_COLOR_MATRIX_UNKNOWN);
  fail_unless_equals_int(info.colorimetry.transfer, GST_VIDEO_TRANSFER_BT2020_10);
  fail_unless_equals_int(info.colorimetry.primaries, GST_VIDEO_COLOR_PRIMARIES_BT2020);
}
GST_END_TEST

// Typefind names a codec and sends blocks of 4096 bytes.
GST_START_TEST(only_whole_pictures_are_taken) {
  const auto sink = GstPtr<GstCaps>::adopt(sink_template_caps());
  const auto taken = [&sink](const char* text) {
    const auto caps = GstPtr<GstCaps>::adopt(gst_caps_from_string(text));
    return gst_caps_is_subset(caps.get(), sink.get()) != FALSE;
  };
  for (const char* raw :
       {"image/jpeg", "image/jpeg,width=64,height=64,framerate=25/1", "image/jpeg,parsed=false",
        "video/mpeg,mpegversion=2", "video/mpeg,mpegversion=2,systemstream=false",
        "video/mpeg,mpegversion=2,systemstream=false,parsed=false", "video/x-h264",
        "video/x-h264,stream-format=byte-stream",
        "video/x-h264,stream-format=byte-stream,alignment=nal",
        "video/x-h265,stream-format=byte-stream", "video/x-vp9", "video/x-vp9,alignment=frame",
        "video/x-av1", "video/x-av1,stream-format=obu-stream"})
    fail_if(taken(raw), "%s", raw);
  for (const char* whole : {"image/jpeg,parsed=true,width=64,height=64,framerate=25/1",
                            "video/mpeg,mpegversion=2,systemstream=false,parsed=true,width=64",
                            "video/x-h264,stream-format=byte-stream,alignment=au",
                            "video/x-h265,stream-format=hvc1,alignment=au",
                            "video/x-vp8,width=64", "video/x-vp9,alignment=super-frame",
                            "video/x-av1,stream-format=obu-stream,alignment=tu"})
    fail_unless(taken(whole), "%s", whole);
}
GST_END_TEST

// --- which layout

namespace {

constexpr uint64_t kTiled = 0x7f00000000000001;
constexpr uint64_t kOther = 0x0100000000000002;
constexpr uint64_t kInvalid = 0x00ffffffffffffff;

ModifiersTaken taken_of(std::initializer_list<uint64_t> list) {
  ModifiersTaken out;
  for (const uint64_t modifier : list) out.add(modifier);
  return out;
}

ModifiersTaken modifiers_of(const char* caps_text, bool dma_drm = true) {
  const auto caps = GstPtr<GstCaps>::adopt(gst_caps_from_string(caps_text));
  fail_unless(bool(caps), "%s", caps_text);
  return modifiers_in(caps.get(), format::kNV12, dma_drm);
}

}  // namespace

GST_START_TEST(drm_formats_are_read_to_the_letter) {
  const struct {
    const char* text;
    DrmFormat format;
  } cases[] = {{"NV12", {format::kNV12, 0}},
               {"NV12:0x0100000000000002", {format::kNV12, kOther}},
               {"P010:0x0", {format::kP010, 0}}};
  for (const auto& one : cases)
    fail_unless(parse_drm_format(one.text) == one.format, "%s", one.text);
  for (const char* text : {"", "NV1", "NV12:", "NV12:0x", "NV12:2", "NV12:0xzz", "NV12:0x1 ",
                           "NV12 0x1", "NV12:0x10000000000000000", "NV12:0x-1"})
    fail_if(parse_drm_format(text).has_value(), "\"%s\"", text);
}
GST_END_TEST

GST_START_TEST(downstreams_modifiers_keep_its_order) {
  const char* drm =
      "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format={P010:0x0100000000000002,"
      "NV12:0x7f00000000000001,nonsense,NV12:0x0100000000000002};"
      "video/x-raw(memory:DMABuf),format={NV12,P010_10LE};video/x-raw,format=NV12";
  fail_unless(modifiers_of(drm).list == std::vector<uint64_t>({kTiled, kOther, 0}));
  fail_if(modifiers_of(drm).any);
  // Before 1.24 nothing but linear can be said.
  fail_unless(modifiers_of(drm, false).list == std::vector<uint64_t>({0}));
  fail_unless(
      modifiers_of("video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:0x1").list ==
      std::vector<uint64_t>({1}));
  fail_unless(modifiers_of("video/x-raw(memory:DMABuf),format=DMA_DRM").any);
  fail_unless(modifiers_of("video/x-raw(memory:DMABuf)").any);
  const auto other_format = modifiers_of("video/x-raw(memory:DMABuf),format=P010_10LE");
  fail_unless(other_format.list.empty() && !other_format.any);
  const auto system = modifiers_of("video/x-raw,format=NV12;video/x-raw(memory:GLMemory)");
  fail_unless(system.list.empty() && !system.any);
}
GST_END_TEST

GST_START_TEST(what_the_driver_made_is_lent_wherever_it_stands_in_the_list) {
  for (const auto& taken :
       {taken_of({kTiled}), taken_of({0, kOther, kTiled}), ModifiersTaken{.any = true}}) {
    const auto choice = choose_modifiers(kTiled, taken, true, {});
    fail_unless(choice.way == SurfaceWay::Lend && choice.ask.empty());
  }
}
GST_END_TEST

GST_START_TEST(another_layout_is_asked_for_in_downstreams_order_and_once) {
  const auto choice = choose_modifiers(kTiled, taken_of({kOther, kInvalid, 0}), true, {});
  fail_unless(choice.way == SurfaceWay::Remake);
  fail_unless(choice.ask == std::vector<uint64_t>({kOther, 0}));
  const auto again = choose_modifiers(kTiled, taken_of({kOther, 0}), true, choice.ask);
  fail_unless(again.way == SurfaceWay::Copy);
  // Another consumer, another question.
  const auto changed = choose_modifiers(kTiled, taken_of({0}), true, choice.ask);
  fail_unless(changed.way == SurfaceWay::Remake);
}
GST_END_TEST

GST_START_TEST(nothing_is_asked_of_a_driver_that_takes_no_list) {
  fail_unless(choose_modifiers(kTiled, taken_of({0}), false, {}).way == SurfaceWay::Copy);
  fail_unless(choose_modifiers(kTiled, {}, true, {}).way == SurfaceWay::Copy);
  fail_unless(choose_modifiers(0, taken_of({kInvalid}), true, {}).way == SurfaceWay::Copy);
}
GST_END_TEST

GST_START_TEST(the_reason_for_a_copy_tells_linear_consumers_from_others) {
  fail_unless(reason_not_taken(taken_of({0})) == Reason::ModifierNotLinear);
  fail_unless(reason_not_taken({}) == Reason::ModifierNotLinear);
  fail_unless(reason_not_taken(taken_of({0, kOther})) == Reason::ModifierNotImportable);
  fail_unless(taken_of({kOther, 0}).only_linear().list == std::vector<uint64_t>({0}));
  fail_unless(ModifiersTaken{.any = true}.only_linear().list == std::vector<uint64_t>({0}));
  fail_unless(taken_of({kOther}).only_linear().list.empty());
}
GST_END_TEST

GST_START_TEST(a_layout_that_could_not_be_imported_is_taken_no_more) {
  ModifiersTaken listed = taken_of({kTiled, 0});
  listed.refuse(kTiled);
  fail_unless(!listed.take(kTiled) && listed.take(0));
  fail_unless(reason_not_taken(listed) == Reason::ModifierNotImportable);
  fail_unless(choose_modifiers(kTiled, listed, true, {}).ask == std::vector<uint64_t>({0}));
  // Who names no layouts refuses one all the same.
  ModifiersTaken any{.any = true};
  any.refuse(kTiled);
  fail_unless(!any.take(kTiled) && any.take(kOther));
  fail_unless(!any.only_linear().take(kTiled) && any.only_linear().take(0));
}
GST_END_TEST

// --- what downstream says

namespace {

using Answer = GstPadQueryFunction;

gboolean answer_as_ours(GstPad* pad, GstObject* parent, GstQuery* query) {
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
    return gst_pad_query_default(pad, parent, query);
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  AllocationWords{.mixed_memory = true,
                  .waits_for_fences = true,
                  .only_consumer = true,
                  .copy_pool = GstPtr<GstBufferPool>::adopt(gst_buffer_pool_new())}
      .add_to(query);
  return TRUE;
}

gboolean answer_as_a_stranger(GstPad* pad, GstObject* parent, GstQuery* query) {
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
    return gst_pad_query_default(pad, parent, query);
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  return TRUE;
}

GstPtr<GstPad> make_pad(const char* name, GstPadDirection direction) {
  return GstPtr<GstPad>::adopt(GST_PAD(gst_object_ref_sink(gst_pad_new(name, direction))));
}

// One, or a chain as on a line of gst-launch.
GstPtr<GstElement> make_element(const char* text) {
  GstElement* made = std::strchr(text, '!')
                         ? gst_parse_bin_from_description(text, TRUE, nullptr)
                         : gst_element_factory_make(text, nullptr);
  fail_unless(made != nullptr, "%s", text);
  return GstPtr<GstElement>::adopt(GST_ELEMENT(gst_object_ref_sink(made)));
}

GstPtr<GstCaps> some_caps() {
  return GstPtr<GstCaps>::adopt(
      gst_caps_from_string("video/x-raw,format=NV12,width=64,height=48,framerate=25/1"));
}

// Pads of ours on both sides of an element, the consumers' as many as there are answers.
class Between {
 public:
  explicit Between(const char* element, const std::vector<Answer>& consumers = {answer_as_ours})
      : element_(make_element(element)) {
    gst_pad_set_active(src_.get(), TRUE);
    auto in = GstPtr<GstPad>::adopt(gst_element_get_static_pad(element_.get(), "sink"));
    if (!in)
      in = GstPtr<GstPad>::adopt(gst_element_request_pad_simple(element_.get(), "sink_%u"));
    fail_unless_equals_int(gst_pad_link(src_.get(), in.get()), GST_PAD_LINK_OK);
    for (Answer answer : consumers) {
      auto out = GstPtr<GstPad>::adopt(gst_element_get_static_pad(element_.get(), "src"));
      if (!out)
        out = GstPtr<GstPad>::adopt(gst_element_request_pad_simple(element_.get(), "src_%u"));
      const auto& consumer = consumers_.emplace_back(make_pad("sink", GST_PAD_SINK));
      gst_pad_set_query_function(consumer.get(), answer);
      gst_pad_set_event_function(consumer.get(), [](GstPad*, GstObject*, GstEvent* event) {
        gst_event_unref(event);
        return gboolean{TRUE};
      });
      gst_pad_set_active(consumer.get(), TRUE);
      fail_unless_equals_int(gst_pad_link(out.get(), consumer.get()), GST_PAD_LINK_OK);
    }
    gst_element_set_state(element_.get(), GST_STATE_PAUSED);
    gst_pad_push_event(src_.get(), gst_event_new_stream_start("test"));
    gst_pad_push_event(src_.get(), gst_event_new_caps(some_caps().get()));
  }
  ~Between() { gst_element_set_state(element_.get(), GST_STATE_NULL); }

  [[nodiscard]] AllocationAnswer ask() const {
    auto query = GstPtr<GstQuery>::adopt(gst_query_new_allocation(some_caps().get(), FALSE));
    return gst_pad_peer_query(src_.get(), query.get()) ? AllocationAnswer::of(query.get())
                                                       : AllocationAnswer{};
  }

 private:
  GstPtr<GstElement> element_;
  GstPtr<GstPad> src_ = make_pad("src", GST_PAD_SRC);
  std::vector<GstPtr<GstPad>> consumers_;
};

bool says_nothing(const AllocationWords& words) {
  return !words.mixed_memory && !words.waits_for_fences && !words.only_consumer &&
         !words.copy_pool;
}

}  // namespace

GST_START_TEST(what_all_branches_of_a_tee_can_do_is_said_before_it) {
  for (const size_t branches : {2, 3}) {
    const AllocationAnswer answer =
        Between("tee", std::vector<Answer>(branches, answer_as_ours)).ask();
    fail_unless(answer.video_meta && answer.words.mixed_memory &&
                answer.words.waits_for_fences);
    // Each of them is, and both together are not.
    fail_if(answer.words.only_consumer || answer.words.copy_pool);
  }
}
GST_END_TEST

GST_START_TEST(what_one_branch_of_a_tee_cannot_do_is_not_said_before_it) {
  for (const auto& branches : {std::vector<Answer>{answer_as_ours, answer_as_a_stranger},
                               std::vector<Answer>{answer_as_a_stranger, answer_as_ours}}) {
    const AllocationAnswer answer = Between("tee", branches).ask();
    fail_unless(answer.video_meta);
    fail_unless(says_nothing(answer.words));
  }
  for (const auto& branches : {std::vector<Answer>{answer_as_ours, gst_pad_query_default},
                               std::vector<Answer>{gst_pad_query_default, answer_as_ours}}) {
    const AllocationAnswer answer = Between("tee", branches).ask();
    fail_if(answer.answered || answer.video_meta);
    fail_unless(says_nothing(answer.words));
  }
}
GST_END_TEST

GST_START_TEST(what_one_consumer_says_comes_through_what_only_passes_on) {
  for (const char* name :
       {"tee", "queue", "identity", "capsfilter", "valve", "input-selector", "videorate"}) {
    const AllocationAnswer answer = Between(name).ask();
    fail_unless(answer.video_meta && answer.words.mixed_memory &&
                    answer.words.waits_for_fences && answer.words.only_consumer &&
                    answer.words.copy_pool,
                "%s", name);
  }
}
GST_END_TEST

// It has pictures of its own, and writes them where its consumer wants them.
GST_START_TEST(what_a_consumer_says_is_not_said_of_what_makes_other_pictures_for_it) {
  for (const char* text : {"videoconvert ! capsfilter caps=video/x-raw,format=I420",
                           "videoscale ! capsfilter caps=\"video/x-raw,width=32,height=24\""}) {
    const AllocationAnswer answer = Between(text).ask();
    fail_unless(answer.video_meta && says_nothing(answer.words), "%s", text);
  }
}
GST_END_TEST

static Suite* dxvadec_parts_suite() {
  Suite* suite = suite_create("dxvadec_parts");
  TCase* memory = tcase_create("memory");
  tcase_add_test(memory, tiled_memory_is_read_back_once_for_all_maps);
  tcase_add_test(memory, memory_that_cannot_be_read_back_cannot_be_mapped);
  tcase_add_test(memory, linear_memory_is_the_memory_itself);
  tcase_add_test(memory, surface_memory_is_not_written_to);
  suite_add_tcase(suite, memory);
  TCase* copies = tcase_create("copies");
  tcase_add_test(copies, planar_becomes_semi_planar_with_odd_sizes);
  tcase_add_test(copies, ten_bits_move_to_the_top_of_the_word);
  tcase_add_test(copies, surfaces_become_planar_with_odd_sizes);
  tcase_add_test(copies, a_copy_takes_the_visible_part);
  tcase_add_test(copies, gray_gets_chroma_of_no_colour);
  tcase_add_test(copies, planes_of_many_bits_become_what_opengl_has);
  tcase_add_test(copies, formats_that_do_not_match_are_refused);
  suite_add_tcase(suite, copies);
  TCase* layouts = tcase_create("layouts");
  tcase_add_test(layouts, drm_formats_are_read_to_the_letter);
  tcase_add_test(layouts, downstreams_modifiers_keep_its_order);
  tcase_add_test(layouts, what_the_driver_made_is_lent_wherever_it_stands_in_the_list);
  tcase_add_test(layouts, another_layout_is_asked_for_in_downstreams_order_and_once);
  tcase_add_test(layouts, nothing_is_asked_of_a_driver_that_takes_no_list);
  tcase_add_test(layouts, the_reason_for_a_copy_tells_linear_consumers_from_others);
  tcase_add_test(layouts, a_layout_that_could_not_be_imported_is_taken_no_more);
  suite_add_tcase(suite, layouts);
  TCase* downstream = tcase_create("downstream");
  tcase_add_test(downstream, what_all_branches_of_a_tee_can_do_is_said_before_it);
  tcase_add_test(downstream, what_one_branch_of_a_tee_cannot_do_is_not_said_before_it);
  tcase_add_test(downstream, what_one_consumer_says_comes_through_what_only_passes_on);
  tcase_add_test(downstream,
                 what_a_consumer_says_is_not_said_of_what_makes_other_pictures_for_it);
  suite_add_tcase(suite, downstream);
  TCase* books = tcase_create("bookkeeping");
  tcase_add_test(books, a_refused_buffer_is_tried_again_after_a_while);
  tcase_add_test(books, events_name_reasons);
  tcase_add_test(books, stats_tell_each_change_of_path_once);
  tcase_add_test(books, templates_name_what_the_decoders_give);
  tcase_add_test(books, colours_that_nobody_knows_are_not_told);
  tcase_add_test(books, only_whole_pictures_are_taken);
  suite_add_tcase(suite, books);
  return suite;
}

GST_CHECK_MAIN(dxvadec_parts)
