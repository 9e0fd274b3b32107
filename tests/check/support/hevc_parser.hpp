// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What GStreamer's parser reads in an H.265 stream rebuilt by lib/softva.

#include <gst/codecparsers/gsth265parser.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "lib/softva/bits.hpp"
#include "lib/softva/hevc_parameter_sets.hpp"
#include "tests/check/support/hevc_pictures.hpp"
// Last: check's macros have names that the standard library uses too.
#include "tests/check/support/check.hpp"

namespace dxva::test {

using Types = std::vector<int>;
constexpr int kIdr = 20;  // IDR_N_LP
constexpr int kVps = 32, kSps = 33, kPps = 34;

// A stream read back, NAL unit by NAL unit.
class HevcParser {
 public:
  HevcParser() : parser_(gst_h265_parser_new()) {}
  ~HevcParser() {
    for (GstH265SliceHdr& slice : slices) gst_h265_slice_hdr_free(&slice);
    gst_h265_parser_free(parser_);
  }
  HevcParser(const HevcParser&) = delete;
  HevcParser& operator=(const HevcParser&) = delete;

  void read(const Bytes& stream) {
    types.clear();
    GstH265NalUnit nal;
    for (guint offset = 0; offset < stream.size(); offset = nal.offset + nal.size) {
      const GstH265ParserResult found =
          gst_h265_parser_identify_nalu(parser_, stream.data(), offset, stream.size(), &nal);
      fail_unless(found == GST_H265_PARSER_OK || found == GST_H265_PARSER_NO_NAL_END);
      types.push_back(nal.type);
      fail_unless_equals_int(nal.layer_id, 0);
      if (nal.type == GST_H265_NAL_VPS) {
        GstH265VPS vps;
        fail_unless_equals_int(gst_h265_parser_parse_vps(parser_, &nal, &vps),
                               GST_H265_PARSER_OK);
      } else if (nal.type == GST_H265_NAL_SPS) {
        fail_unless_equals_int(gst_h265_parser_parse_sps(parser_, &nal, &sps, TRUE),
                               GST_H265_PARSER_OK);
      } else if (nal.type == GST_H265_NAL_PPS) {
        fail_unless_equals_int(gst_h265_parser_parse_pps(parser_, &nal, &pps),
                               GST_H265_PARSER_OK);
      } else {
        GstH265SliceHdr slice;
        fail_unless_equals_int(gst_h265_parser_parse_slice_hdr(parser_, &nal, &slice),
                               GST_H265_PARSER_OK);
        slices.push_back(slice);
        slice_nals.emplace_back(nal.data + nal.offset, nal.data + nal.offset + nal.size);
      }
    }
  }

  Types types;  // of the last stream
  GstH265SPS sps{};
  GstH265PPS pps{};
  std::vector<GstH265SliceHdr> slices;
  std::vector<Bytes> slice_nals;

 private:
  GstH265Parser* parser_;
};

inline Bytes parameter_sets(const PictureParameters& picture,
                            const std::optional<VAIQMatrixBufferHEVC>& matrix = {}) {
  Bytes stream;
  softva::append_escaped_nal(stream, softva::write_hevc_vps(picture));
  softva::append_escaped_nal(stream, softva::write_hevc_sps(picture));
  const auto pps = softva::write_hevc_pps(
      picture, matrix, picture.slice_parsing_fields.bits.lists_modification_present_flag);
  fail_unless(bool(pps));
  softva::append_escaped_nal(stream, *pps);
  return stream;
}

// What comes after the header, however long that is.
inline void expect_data(const Bytes& nal, const Bytes& data) {
  const Bytes payload = softva::unescape(nal);
  fail_unless(payload.size() > data.size());
  fail_unless(std::equal(data.rbegin(), data.rend(), payload.rbegin()));
  fail_unless(payload[payload.size() - data.size() - 1] != 0);  // byte_alignment()
}

}  // namespace dxva::test
