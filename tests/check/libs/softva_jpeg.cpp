// SPDX-License-Identifier: LGPL-2.1-or-later

// JPEG from rendered buffers to a file, which GStreamer's parser reads, and to pixels.

#include <gst/codecparsers/gstjpegparser.h>

#include <random>

#include "lib/softva/jpeg_picture.hpp"
#include "tests/check/support/jpeg_pictures.hpp"
#include "tests/check/support/pixel_sum.hpp"
// Last: check's macros have names that the standard library uses too.
#include "tests/check/support/check.hpp"

using namespace dxva;
using namespace dxva::softva;
using namespace dxva::test;

namespace {

using Parameters = VAPictureParameterBufferJPEGBaseline;
using Matrix = VAIQMatrixBufferJPEGBaseline;
using Huffman = VAHuffmanTableBufferJPEGBaseline;
using Scan = VASliceParameterBufferJPEGBaseline;

struct Parsed {
  std::vector<unsigned> markers;
  GstJpegFrameHdr frame{};
  GstJpegScanHdr scan{};
  GstJpegHuffmanTables huffman{};
  GstJpegQuantTables matrices{};
  guint restart_interval = 0;
  Bytes entropy_coded;
};

Parsed parse(const Bytes& file) {
  Parsed out;
  GstJpegSegment segment;
  for (guint offset = 0; gst_jpeg_parse(&segment, file.data(), file.size(), offset);
       offset = static_cast<guint>(segment.offset + segment.size)) {
    out.markers.push_back(segment.marker);
    bool parsed = true;
    switch (segment.marker) {
      case GST_JPEG_MARKER_SOF0:
        parsed = gst_jpeg_segment_parse_frame_header(&segment, &out.frame);
        break;
      case GST_JPEG_MARKER_SOS:
        parsed = gst_jpeg_segment_parse_scan_header(&segment, &out.scan);
        out.entropy_coded.assign(file.begin() + segment.offset + segment.size, file.end() - 2);
        break;
      case GST_JPEG_MARKER_DHT:
        parsed = gst_jpeg_segment_parse_huffman_table(&segment, &out.huffman);
        break;
      case GST_JPEG_MARKER_DQT:
        parsed = gst_jpeg_segment_parse_quantization_table(&segment, &out.matrices);
        break;
      case GST_JPEG_MARKER_DRI:
        parsed = gst_jpeg_segment_parse_restart_interval(&segment, &out.restart_interval);
        break;
      default:
        break;
    }
    fail_unless(parsed, "marker %x", segment.marker);
  }
  return out;
}

template <typename T>
T value_of(const Picture& picture, size_t buffer) {
  T value;
  std::memcpy(&value, picture.buffers[buffer].bytes.data(), sizeof value);
  return value;
}

std::unique_ptr<FrameDecoder> create_decoder() {
  auto decoder = FrameDecoder::create(VAProfileJPEGBaseline);
  fail_unless(bool(decoder));
  return std::move(*decoder);
}

}  // namespace

GST_START_TEST(a_file_says_what_the_buffers_say) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    Parameters parameters = plain_jpeg(static_cast<uint16_t>(random() % 65535 + 1), 16,
                                       random() % 2 ? 3 : 1, {2, 2});
    for (unsigned i = 0; i < parameters.num_components; ++i) {
      parameters.components[i].component_id = static_cast<uint8_t>(i * 80 + random() % 80);
      parameters.components[i].quantiser_table_selector = static_cast<uint8_t>(random() % 4);
    }
    Picture picture = flat_jpeg(parameters, 128);
    Matrix matrix{};
    for (int id = 0; id < 4; ++id) {
      matrix.load_quantiser_table[id] = 1;
      for (uint8_t& entry : matrix.quantiser_table[id])
        entry = static_cast<uint8_t>(random() % 255 + 1);
    }
    Huffman huffman{};
    for (auto& table : huffman.huffman_table) {
      for (int i = 0; i < 12; ++i) ++table.num_dc_codes[4 + random() % 4];
      for (int i = 0; i < 162; ++i) ++table.num_ac_codes[10 + random() % 4];
      for (uint8_t& value : table.dc_values) value = static_cast<uint8_t>(random());
      for (uint8_t& value : table.ac_values) value = static_cast<uint8_t>(random());
    }
    huffman.load_huffman_table[0] = huffman.load_huffman_table[1] = 1;
    Scan scan = value_of<Scan>(picture, 3);
    scan.restart_interval = static_cast<uint16_t>(random());
    for (unsigned i = 0; i < scan.num_components; ++i) {
      scan.components[i].dc_table_selector = random() % 2;
      scan.components[i].ac_table_selector = random() % 2;
    }
    picture.buffers[1] = parameter_buffer(VAIQMatrixBufferType, matrix);
    picture.buffers[2] = parameter_buffer(VAHuffmanTableBufferType, huffman);
    picture.buffers[3] = parameter_buffer(VASliceParameterBufferType, scan);

    const auto file = rebuild_jpeg(picture);
    fail_unless(bool(file));
    const Parsed parsed = parse(*file);
    fail_unless_equals_int(parsed.markers.front(), GST_JPEG_MARKER_SOI);
    fail_unless_equals_int(parsed.frame.width, parameters.picture_width);
    fail_unless_equals_int(parsed.frame.height, 16);
    fail_unless_equals_int(parsed.frame.num_components, parameters.num_components);
    fail_unless_equals_int(parsed.restart_interval, scan.restart_interval);
    fail_unless_equals_int(parsed.scan.num_components, scan.num_components);
    for (unsigned i = 0; i < parameters.num_components; ++i) {
      const auto& component = parameters.components[i];
      fail_unless_equals_int(parsed.frame.components[i].identifier, component.component_id);
      fail_unless_equals_int(parsed.frame.components[i].horizontal_factor,
                             component.h_sampling_factor);
      fail_unless_equals_int(parsed.frame.components[i].vertical_factor,
                             component.v_sampling_factor);
      fail_unless_equals_int(parsed.frame.components[i].quant_table_selector,
                             component.quantiser_table_selector);
      fail_unless_equals_int(parsed.scan.components[i].component_selector,
                             scan.components[i].component_selector);
      fail_unless_equals_int(parsed.scan.components[i].dc_selector,
                             scan.components[i].dc_table_selector);
      fail_unless_equals_int(parsed.scan.components[i].ac_selector,
                             scan.components[i].ac_table_selector);
      const auto& table = parsed.matrices.quant_tables[component.quantiser_table_selector];
      fail_unless(table.valid);
      for (int k = 0; k < 64; ++k)
        fail_unless_equals_int(table.quant_table[k],
                               matrix.quantiser_table[component.quantiser_table_selector][k]);
    }
    for (int id = 0; id < 2; ++id) {
      const auto& table = huffman.huffman_table[id];
      fail_unless(std::equal(table.num_dc_codes, table.num_dc_codes + 16,
                             parsed.huffman.dc_tables[id].huf_bits));
      fail_unless(std::equal(table.dc_values, table.dc_values + 12,
                             parsed.huffman.dc_tables[id].huf_values));
      fail_unless(std::equal(table.num_ac_codes, table.num_ac_codes + 16,
                             parsed.huffman.ac_tables[id].huf_bits));
      fail_unless(std::equal(table.ac_values, table.ac_values + 162,
                             parsed.huffman.ac_tables[id].huf_values));
    }
    fail_unless(parsed.entropy_coded == picture.buffers[4].bytes);
  }
}
GST_END_TEST;

GST_START_TEST(values_that_make_no_file_are_refused) {
  const auto refused = [](auto change, size_t buffer) {
    Picture picture = flat_jpeg(plain_jpeg(32, 32, 3, {2, 2}), 128);
    change(picture.buffers[buffer].bytes.data());
    const auto file = rebuild_jpeg(picture);
    return !file && file.error().code == ErrorCode::BadInput;
  };
  const auto with = []<typename T>(void (*change)(T&)) {
    return [change](uint8_t* bytes) {
      T value;
      std::memcpy(&value, bytes, sizeof value);
      change(value);
      std::memcpy(bytes, &value, sizeof value);
    };
  };
  fail_if(refused([](uint8_t*) {}, 0));
  fail_unless(refused(with(+[](Parameters& p) { p.picture_width = 0; }), 0));
  fail_unless(refused(with(+[](Parameters& p) { p.picture_height = 0; }), 0));
  fail_unless(refused(with(+[](Parameters& p) { p.num_components = 0; }), 0));
  fail_unless(refused(with(+[](Parameters& p) { p.num_components = 4; }), 0));
  fail_unless(refused(with(+[](Parameters& p) { p.num_components = 255; }), 0));
  fail_unless(refused(with(+[](Parameters& p) { p.components[1].h_sampling_factor = 0; }), 0));
  fail_unless(refused(with(+[](Parameters& p) { p.components[0].v_sampling_factor = 5; }), 0));
  fail_unless(
      refused(with(+[](Parameters& p) { p.components[2].quantiser_table_selector = 4; }), 0));
  // One that was not loaded.
  fail_unless(
      refused(with(+[](Parameters& p) { p.components[2].quantiser_table_selector = 1; }), 0));
  fail_unless(refused(with(+[](Huffman& h) { h.huffman_table[0].num_dc_codes[15] = 11; }), 2));
  fail_unless(refused(with(+[](Huffman& h) { h.huffman_table[0].num_ac_codes[9] = 255; }), 2));
  fail_unless(refused(with(+[](Scan& s) { s.num_components = 0; }), 3));
  fail_unless(refused(with(+[](Scan& s) { s.num_components = 5; }), 3));
  fail_unless(refused(with(+[](Scan& s) { s.components[0].dc_table_selector = 2; }), 3));
}
GST_END_TEST;

GST_START_TEST(data_ends_at_a_marker_that_does_not_belong_there) {
  Picture picture = flat_jpeg(plain_jpeg(8, 8, 1, {1, 1}), 128);
  Bytes data = {1, 0xff, 0, 2, 0xff, 0xd3, 3, 0xff, 0xff, 0xd0, 4};
  const Bytes kept = data;
  for (const uint8_t byte : {0xff, 0xc4, 0, 3, 9}) data.push_back(byte);
  picture.buffers.resize(3);
  Scan scan{};
  scan.num_components = 1;
  scan.components[0].component_selector = 1;
  render_whole_slice(picture, scan, data);
  const auto file = rebuild_jpeg(picture);
  fail_unless(bool(file));
  const Parsed parsed = parse(*file);
  fail_unless(std::equal(kept.begin(), kept.end(), file->end() - 2 - kept.size()));
}
GST_END_TEST;

GST_START_TEST(every_sampling_comes_out_in_its_layout) {
  using Layout = Pixels::Layout;
  const struct {
    uint8_t components;
    JpegSampling sampling;
    Layout layout;
  } kCases[] = {{3, {2, 2}, Layout::Yuv420}, {3, {2, 1}, Layout::Yuv422},
                {3, {1, 1}, Layout::Yuv444}, {3, {1, 2}, Layout::Yuv440},
                {1, {1, 1}, Layout::Gray},   {1, {2, 2}, Layout::Gray}};
  const auto decoder = create_decoder();
  for (const auto& one : kCases)
    for (const uint16_t width : {64, 33, 1}) {
      const auto pixels =
          decoder->decode(flat_jpeg(plain_jpeg(width, 17, one.components, one.sampling), 200));
      fail_unless(bool(pixels));
      fail_unless(pixels->layout == one.layout);
      fail_unless_equals_int(pixels->width, width);
      fail_unless_equals_int(pixels->height, 17);
      fail_unless_equals_int(pixels->planes[0][16 * pixels->pitches[0] + width - 1], 200);
      if (one.components == 3) fail_unless_equals_int(pixels->planes[2][0], 128);
    }
}
GST_END_TEST;

// Whatever a client renders, decoding ends, and a picture that comes out can be read.
GST_START_TEST(random_damage_never_hurts) {
  std::mt19937 random(13);
  const auto decoder = create_decoder();
  unsigned decoded = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto side = [&random] { return static_cast<uint16_t>(random() % 70 + 1); };
    const JpegSampling sampling{static_cast<uint8_t>(random() % 2 + 1),
                                static_cast<uint8_t>(random() % 2 + 1)};
    Picture picture =
        flat_jpeg(plain_jpeg(side(), side(), random() % 3 ? 3 : 1, sampling), 200);
    for (unsigned n = random() % 4; n > 0; --n) {
      ParameterBuffer& buffer = picture.buffers[random() % picture.buffers.size()];
      const size_t reach =
          random() % 4 ? std::min<size_t>(buffer.bytes.size(), 40) : buffer.bytes.size();
      buffer.bytes[random() % reach] ^= static_cast<uint8_t>(1U << random() % 8);
    }
    if (random() % 50 == 0) picture.buffers.erase(picture.buffers.begin() + random() % 5);
    const auto pixels = decoder->decode(picture);
    if (!pixels) continue;
    ++decoded;
    fail_unless(pixel_sum(*pixels) != 1);  // keeps the reads
  }
  fail_unless(decoded > 1000, "only %u decoded", decoded);
}
GST_END_TEST;

static Suite* softva_jpeg_suite() {
  Suite* suite = suite_create("softva-jpeg");
  TCase* chain = tcase_create("jpeg");
  suite_add_tcase(suite, chain);
  tcase_set_timeout(chain, 60);
  tcase_add_test(chain, a_file_says_what_the_buffers_say);
  tcase_add_test(chain, values_that_make_no_file_are_refused);
  tcase_add_test(chain, data_ends_at_a_marker_that_does_not_belong_there);
  tcase_add_test(chain, every_sampling_comes_out_in_its_layout);
  tcase_add_test(chain, random_damage_never_hurts);
  return suite;
}

GST_CHECK_MAIN(softva_jpeg);
