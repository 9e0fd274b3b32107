// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/bits.hpp"

#include <random>
#include <vector>

#include "tests/check/support/check.hpp"

using namespace dxva::softva;

namespace {

using Bytes = std::vector<uint8_t>;

Bytes escaped(const Bytes& payload) {
  Bytes stream;
  append_escaped_nal(stream, payload);
  return Bytes(stream.begin() + 4, stream.end());
}

}  // namespace

GST_START_TEST(bits_come_out_as_they_went_in) {
  std::mt19937 random(1);
  std::vector<std::pair<uint32_t, unsigned>> fields;
  BitWriter out;
  for (int i = 0; i < 2000; ++i) {
    const unsigned width = random() % 32 + 1;
    const uint32_t value = random() >> (32 - width);
    fields.emplace_back(value, width);
    out.put(value, width);
  }
  const size_t written = out.position();
  out.trailing();
  fail_unless_equals_int(out.bytes().size(), written / 8 + 1);

  BitReader in(out.bytes());
  for (const auto& [value, width] : fields) fail_unless(in.read(width) == value);
  fail_unless(in.position() == written);
  fail_unless(in.flag());
  while (in.left() > 0) fail_if(in.flag());
  fail_unless(in.ok());
}
GST_END_TEST;

GST_START_TEST(exp_golomb_codes_are_those_of_the_standard) {
  // H.264 table 9-2: 1, 010, 011, 00100, then the codes padded to bytes.
  BitWriter out;
  for (uint32_t value = 0; value < 4; ++value) out.ue(value);
  out.align(false);
  fail_unless(out.bytes() == (Bytes{0b10100110, 0b01000000}));
  // Table 9-3: 1, -1, 2, -2 are codes 1, 2, 3, 4.
  BitWriter with_sign;
  for (const int32_t value : {1, -1, 2, -2}) with_sign.se(value);
  with_sign.align(false);
  fail_unless(with_sign.bytes() == (Bytes{0b01001100, 0b10000101}));
}
GST_END_TEST;

GST_START_TEST(exp_golomb_numbers_come_back_at_their_limits) {
  const std::vector<uint32_t> plain = {0, 1, 254, 255, 65535, 0x7fffffff, 0xfffffffe};
  const std::vector<int32_t> with_sign = {0, 1, -1, 127, -128, 0x7fffffff, -0x7fffffff};
  BitWriter out;
  for (const uint32_t value : plain) out.ue(value);
  for (const int32_t value : with_sign) out.se(value);
  out.trailing();
  BitReader in(out.bytes());
  for (const uint32_t value : plain) fail_unless(in.ue() == value);
  for (const int32_t value : with_sign) fail_unless(in.se() == value);
  fail_unless(in.ok());
}
GST_END_TEST;

GST_START_TEST(reading_past_the_end_fails_once_and_for_all) {
  const Bytes bytes = {0xff, 0xff};
  BitReader in(bytes);
  fail_unless(in.read(12) == 0xfff);
  fail_unless(in.read(5) == 0);
  fail_if(in.ok());
  fail_unless(in.read(1) == 0);  // although four bits were there
  fail_unless(in.left() == 0);

  const Bytes zeros(64, 0);
  BitReader endless(zeros);
  fail_unless(endless.ue() == 0);  // no code is that long
  fail_if(endless.ok());

  BitReader skipper(bytes);
  skipper.skip(SIZE_MAX);
  fail_if(skipper.ok());
}
GST_END_TEST;

GST_START_TEST(copied_bits_shift_a_payload) {
  std::mt19937 random(2);
  Bytes payload(100);
  for (uint8_t& byte : payload) byte = static_cast<uint8_t>(random());
  for (unsigned shift = 0; shift < 8; ++shift) {
    BitReader in(payload);
    BitWriter out;
    out.put(0, shift);
    out.copy(in, in.left());
    out.align(false);
    fail_unless(in.ok());
    BitReader back(out.bytes());
    back.skip(shift);
    for (const uint8_t byte : payload) fail_unless(back.read(8) == byte);
  }
}
GST_END_TEST;

GST_START_TEST(emulation_prevention_guards_what_looks_like_a_start_code) {
  fail_unless(escaped({1, 0, 0, 0}) == (Bytes{1, 0, 0, 3, 0}));
  fail_unless(escaped({1, 0, 0, 1}) == (Bytes{1, 0, 0, 3, 1}));
  fail_unless(escaped({1, 0, 0, 2}) == (Bytes{1, 0, 0, 3, 2}));
  fail_unless(escaped({1, 0, 0, 3}) == (Bytes{1, 0, 0, 3, 3}));
  fail_unless(escaped({1, 0, 0, 4}) == (Bytes{1, 0, 0, 4}));
  fail_unless(escaped({0, 0, 0, 0, 0}) == (Bytes{0, 0, 3, 0, 0, 3, 0}));
  fail_unless(escaped({0, 1, 0, 1}) == (Bytes{0, 1, 0, 1}));
}
GST_END_TEST;

GST_START_TEST(escaped_payloads_come_back_whole) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    Bytes payload(random() % 40);
    for (uint8_t& byte : payload) byte = static_cast<uint8_t>(random() % 5);
    const Bytes nal = escaped(payload);
    for (size_t i = 2; i < nal.size(); ++i)
      fail_if(nal[i - 2] == 0 && nal[i - 1] == 0 && nal[i] < 3);
    fail_unless(unescape(nal) == payload);
    const size_t limit = random() % 40;
    const Bytes head = unescape(nal, limit);
    fail_unless(head ==
                Bytes(payload.begin(), payload.begin() + std::min(limit, payload.size())));
  }
}
GST_END_TEST;

GST_START_TEST(a_raw_nal_ends_where_no_nal_can_go_on) {
  const auto raw = [](const Bytes& nal) {
    Bytes stream;
    append_raw_nal(stream, nal);
    return Bytes(stream.begin() + 4, stream.end());
  };
  fail_unless(raw({0x65, 9, 0, 0, 3, 1, 9}) == (Bytes{0x65, 9, 0, 0, 3, 1, 9}));
  fail_unless(raw({0x65, 9, 0, 0, 1, 0x67, 1}) == (Bytes{0x65, 9}));
  fail_unless(raw({0x65, 0, 0, 0, 1, 0x67}) == (Bytes{0x65}));
  fail_unless(raw({0x65, 9, 9, 9, 0, 0, 2}) == (Bytes{0x65, 9, 9, 9}));
  fail_unless(raw({0x65}) == (Bytes{0x65}));
  fail_unless(raw({}) == Bytes{});

  // The search takes strides; compare it with looking everywhere.
  std::mt19937 random(4);
  for (int round = 0; round < 5000; ++round) {
    Bytes nal(random() % 24);
    for (uint8_t& byte : nal) byte = static_cast<uint8_t>(random() % 6);
    size_t end = nal.size();
    for (size_t i = 2; i < nal.size() && end == nal.size(); ++i)
      if (nal[i - 2] == 0 && nal[i - 1] == 0 && nal[i] < 3) end = i - 2;
    fail_unless(raw(nal) == Bytes(nal.begin(), nal.begin() + end));
  }
}
GST_END_TEST;

static Suite* softva_bits_suite() {
  Suite* suite = suite_create("softva-bits");
  TCase* chain = tcase_create("bits");
  suite_add_tcase(suite, chain);
  tcase_add_test(chain, bits_come_out_as_they_went_in);
  tcase_add_test(chain, exp_golomb_codes_are_those_of_the_standard);
  tcase_add_test(chain, exp_golomb_numbers_come_back_at_their_limits);
  tcase_add_test(chain, reading_past_the_end_fails_once_and_for_all);
  tcase_add_test(chain, copied_bits_shift_a_payload);
  tcase_add_test(chain, emulation_prevention_guards_what_looks_like_a_start_code);
  tcase_add_test(chain, escaped_payloads_come_back_whole);
  tcase_add_test(chain, a_raw_nal_ends_where_no_nal_can_go_on);
  return suite;
}

GST_CHECK_MAIN(softva_bits);
