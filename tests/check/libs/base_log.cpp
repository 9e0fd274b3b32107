// SPDX-License-Identifier: LGPL-2.1-or-later

#include "lib/base/log.hpp"

#include <set>
#include <string>

#include "tests/check/support/check.hpp"

using namespace dxva;

namespace {

std::string last_text;
int writes = 0;

constexpr log::Sink kSink = {
    .enabled =
        [](log::Area area, log::Level level) {
          return area == log::Area::Va && level <= log::Level::Info;
        },
    .write =
        [](log::Area, log::Level, const char*, int, const char* text) {
          last_text = text;
          ++writes;
        },
};

int evaluated() {
  static int count = 0;
  return ++count;
}

GST_START_TEST(without_a_sink_nothing_is_written_or_computed) {
  log::set_sink(nullptr);
  const int before = evaluated();
  DXVA_ERROR(Va, "%d", evaluated());
  fail_unless_equals_int(evaluated(), before + 1);
  log::write(log::Area::Va, log::Level::Error, __FILE__, __LINE__, "nobody hears this");
}
GST_END_TEST;

GST_START_TEST(sink_gets_what_it_asked_for) {
  log::set_sink(&kSink);
  writes = 0;
  DXVA_INFO(Va, "surface %d of %s", 3, "the pool");
  fail_unless(last_text == "surface 3 of the pool");
  DXVA_DEBUG(Va, "too fine");
  DXVA_ERROR(Gl, "another area");
  fail_unless_equals_int(writes, 1);
  log::set_sink(nullptr);
}
GST_END_TEST;

GST_START_TEST(overlong_messages_are_cut) {
  log::set_sink(&kSink);
  const std::string longest(5000, 'x');
  DXVA_WARNING(Va, "%s", longest.c_str());
  fail_unless(last_text.size() < longest.size());
  fail_unless(longest.starts_with(last_text));
  log::set_sink(nullptr);
}
GST_END_TEST;

GST_START_TEST(areas_have_names_of_their_own) {
  std::set<std::string> names;
  using enum log::Area;
  for (log::Area area : {Base, Session, Va, Cuda, Dmabuf, Decode, Gl, Softva})
    fail_unless(names.insert(log::area_name(area)).second);
  fail_unless_equals_string(log::area_name(Va), "dxva-va");
}
GST_END_TEST;

Suite* base_log_suite() {
  Suite* suite = suite_create("base_log");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, without_a_sink_nothing_is_written_or_computed);
  tcase_add_test(tcase, sink_gets_what_it_asked_for);
  tcase_add_test(tcase, overlong_messages_are_cut);
  tcase_add_test(tcase, areas_have_names_of_their_own);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(base_log)
