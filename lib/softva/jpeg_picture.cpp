// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/jpeg_picture.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>

#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

namespace {

using Parameters = VAPictureParameterBufferJPEGBaseline;
using SliceParameters = VASliceParameterBufferJPEGBaseline;
using Bytes = std::vector<uint8_t>;

// Table B.1.
enum Marker : uint8_t {
  kSof0 = 0xc0,
  kDht = 0xc4,
  kRst0 = 0xd0,
  kRst7 = 0xd7,
  kSoi = 0xd8,
  kEoi = 0xd9,
  kSos = 0xda,
  kDqt = 0xdb,
  kDri = 0xdd,
};

void append(Bytes& out, std::span<const uint8_t> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void put_word(Bytes& out, size_t value) {
  out.push_back(static_cast<uint8_t>(value >> 8));
  out.push_back(static_cast<uint8_t>(value));
}

void append_marker(Bytes& out, Marker marker) {
  append(out, {{0xff, marker}});
}

// A segment has its length in front, which counts itself.
void append_segment(Bytes& out, Marker marker, std::span<const uint8_t> body) {
  append_marker(out, marker);
  put_word(out, body.size() + 2);
  append(out, body);
}

Status check_picture(const Parameters& picture) {
  if (picture.picture_width == 0 || picture.picture_height == 0)
    return bad_input("JPEG picture without a size");
  // Four are CMYK, which no surface has.
  if (picture.num_components != 1 && picture.num_components != 3)
    return bad_input("JPEG with neither one component nor three");
  for (unsigned i = 0; i < picture.num_components; ++i) {
    const auto& component = picture.components[i];
    if (component.h_sampling_factor < 1 || component.h_sampling_factor > 4 ||
        component.v_sampling_factor < 1 || component.v_sampling_factor > 4 ||
        component.quantiser_table_selector > 3)
      return bad_input("JPEG component out of range");
  }
  return Done{};
}

Status append_quantiser_tables(Bytes& out, const Picture& picture,
                               const Parameters& parameters) {
  const auto tables =
      find_parameters<VAIQMatrixBufferJPEGBaseline>(picture, VAIQMatrixBufferType);
  if (!tables) return bad_input("no JPEG quantiser tables");
  for (uint8_t id = 0; id < std::size(tables->load_quantiser_table); ++id) {
    const bool used = std::any_of(
        parameters.components, parameters.components + parameters.num_components,
        [id](const auto& component) { return component.quantiser_table_selector == id; });
    if (!used) continue;
    if (!tables->load_quantiser_table[id])
      return bad_input("JPEG component without its quantiser table");
    Bytes body = {id};  // eight bits
    append(body, tables->quantiser_table[id]);
    append_segment(out, kDqt, body);
  }
  return Done{};
}

Status append_huffman_table(Bytes& out, uint8_t class_and_id, std::span<const uint8_t> counts,
                            std::span<const uint8_t> values) {
  const size_t count = std::accumulate(counts.begin(), counts.end(), size_t{0});
  if (count > values.size()) return bad_input("JPEG Huffman table with too many codes");
  Bytes body = {class_and_id};
  append(body, counts);
  append(body, values.first(count));
  append_segment(out, kDht, body);
  return Done{};
}

// Tables that nobody loads stay the decoder's: those of Motion JPEG (T.81 annex K.3).
Status append_huffman_tables(Bytes& out, const Picture& picture) {
  const auto tables =
      find_parameters<VAHuffmanTableBufferJPEGBaseline>(picture, VAHuffmanTableBufferType);
  if (!tables) return Done{};
  constexpr uint8_t kAc = 0x10;
  for (uint8_t id = 0; id < std::size(tables->load_huffman_table); ++id) {
    if (!tables->load_huffman_table[id]) continue;
    const auto& table = tables->huffman_table[id];
    if (Status dc = append_huffman_table(out, id, table.num_dc_codes, table.dc_values); !dc)
      return dc;
    if (Status ac = append_huffman_table(out, kAc | id, table.num_ac_codes, table.ac_values);
        !ac)
      return ac;
  }
  return Done{};
}

void append_frame_header(Bytes& out, const Parameters& picture) {
  Bytes body = {8};  // bits of a sample
  put_word(body, picture.picture_height);
  put_word(body, picture.picture_width);
  body.push_back(picture.num_components);
  for (unsigned i = 0; i < picture.num_components; ++i) {
    const auto& component = picture.components[i];
    body.push_back(component.component_id);
    body.push_back(
        static_cast<uint8_t>(component.h_sampling_factor << 4 | component.v_sampling_factor));
    body.push_back(component.quantiser_table_selector);
  }
  append_segment(out, kSof0, body);
}

// B.1.1.5: a 0xff in the data is followed by 0, by a restart marker, or by another 0xff.
std::span<const uint8_t> entropy_coded(std::span<const uint8_t> data) {
  for (size_t i = 0; i + 1 < data.size(); ++i) {
    if (data[i] != 0xff) continue;
    const uint8_t next = data[i + 1];
    if (next != 0 && next != 0xff && (next < kRst0 || next > kRst7)) return data.first(i);
  }
  return data;
}

Status append_scan(Bytes& out, const Slice<SliceParameters>& slice) {
  const SliceParameters& scan = slice.parameters;
  if (scan.num_components < 1 || scan.num_components > std::size(scan.components))
    return bad_input("JPEG scan with too many components");
  Bytes interval;
  put_word(interval, scan.restart_interval);
  append_segment(out, kDri, interval);

  Bytes body = {scan.num_components};
  for (unsigned i = 0; i < scan.num_components; ++i) {
    const auto& component = scan.components[i];
    if (component.dc_table_selector > 1 || component.ac_table_selector > 1)
      return bad_input("JPEG scan with a Huffman table that baseline has not");
    body.push_back(component.component_selector);
    body.push_back(
        static_cast<uint8_t>(component.dc_table_selector << 4 | component.ac_table_selector));
  }
  append(body, {{0, 63, 0}});  // all coefficients, all of their bits
  append_segment(out, kSos, body);
  append(out, entropy_coded(slice.data));
  return Done{};
}

}  // namespace

Result<std::vector<uint8_t>> rebuild_jpeg(const Picture& picture) {
  const auto parameters = find_parameters<Parameters>(picture, VAPictureParameterBufferType);
  if (!parameters) return bad_input("no JPEG picture parameters");
  if (Status sane = check_picture(*parameters); !sane) return sane.error();
  const auto slices = collect_slices<SliceParameters>(picture);
  if (!slices) return slices.error();

  Bytes file;
  append_marker(file, kSoi);
  if (Status tables = append_quantiser_tables(file, picture, *parameters); !tables)
    return tables.error();
  append_frame_header(file, *parameters);
  if (Status tables = append_huffman_tables(file, picture); !tables) return tables.error();
  for (const auto& slice : *slices)
    if (Status scan = append_scan(file, slice); !scan) return scan.error();
  append_marker(file, kEoi);
  return file;
}

}  // namespace dxva::softva
