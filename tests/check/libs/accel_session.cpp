// SPDX-License-Identifier: LGPL-2.1-or-later
// The protocol: each call in each state, one test for each rule of DirectX VA, and long random
// schedules that must never break what the protocol is there for.
#include "lib/accel/session.hpp"

#include <array>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "lib/accel/negotiation.hpp"
#include "lib/base/fourcc.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva::accel;
using dxva::Reason;
namespace format = dxva::format;

namespace {

using Target = Session::Target;
using Render = Session::Render;

// What a call answered, in one word.
std::string word(const Session::Begun& begun) {
  if (begun.target == Target::Ready) return "ready";
  if (begun.target == Target::Pending) return "pending";
  return misuse_name(begun.why);
}
std::string word(Misuse misuse) {
  return misuse == Misuse::None ? "ok" : misuse_name(misuse);
}

void must(Misuse misuse) {
  fail_unless(misuse == Misuse::None, "%s", misuse_name(misuse));
}
void must(const Session::Begun& begun) {
  fail_unless(begun.target == Target::Ready, "%s", word(begun).c_str());
}

void decode(Session& session, Index index, Severity severity = Severity::None) {
  must(session.begin_frame(index));
  must(session.execute(index, severity));
  must(session.end_frame(index));
}

void render(Session& session, Index index) {
  decode(session, index);
  must(session.completed(index, Severity::None));
}

struct State {
  const char* name;
  void (*reach)(Session& session);  // with surface 0
};
constexpr State kStates[] = {
    {"free", [](Session&) {}},
    {"open", [](Session& s) { must(s.begin_frame(0)); }},
    {"first field ended", [](Session& s) { decode(s, 0); }},
    {"second field open",
     [](Session& s) {
       decode(s, 0);
       must(s.begin_second_field(0));
     }},
    {"both fields ended",
     [](Session& s) {
       decode(s, 0);
       must(s.begin_second_field(0));
       must(s.end_frame(0));
     }},
    {"rendered", [](Session& s) { render(s, 0); }},
    {"rendered and shown",
     [](Session& s) {
       render(s, 0);
       must(s.show(0));
     }},
    {"shown only",
     [](Session& s) {
       render(s, 0);
       must(s.show(0));
       must(s.release(0));
     }},
    {"abandoned",
     [](Session& s) {
       must(s.begin_frame(0));
       must(s.release(0));
     }},
    {"free again",
     [](Session& s) {
       render(s, 0);
       must(s.show(0));
       must(s.release(0));
       must(s.hide(0));
     }},
    {"open, stopped",
     [](Session& s) {
       must(s.begin_frame(0));
       must(s.execute(0, Severity::Severe));
     }},
    {"failed, stopped",
     [](Session& s) {
       must(s.begin_frame(0));
       must(s.execute(0, Severity::Fatal));
       must(s.end_frame(0));
     }},
    {"free, stopped",
     [](Session& s) {
       decode(s, 1);
       must(s.completed(1, Severity::Severe));
     }},
};

struct Call {
  const char* name;
  std::string (*make)(Session& session);  // on surface 0
};
constexpr Call kCalls[] = {
    {"begin_frame", [](Session& s) { return word(s.begin_frame(0)); }},
    {"begin_second_field", [](Session& s) { return word(s.begin_second_field(0)); }},
    {"execute", [](Session& s) { return word(s.execute(0, Severity::None)); }},
    {"end_frame", [](Session& s) { return word(s.end_frame(0)); }},
    {"completed", [](Session& s) { return word(s.completed(0, Severity::None)); }},
    {"release", [](Session& s) { return word(s.release(0)); }},
    {"show", [](Session& s) { return word(s.show(0)); }},
    {"hide", [](Session& s) { return word(s.hide(0)); }},
};

// The whole table, written by hand from the rules: a row for each state, an answer for each
// call.
constexpr const char* kAnswers[std::size(kStates)][std::size(kCalls)] = {
    // free
    {"ready", "no-first-field", "not-open", "not-open", "nothing-decoded", "nothing-decoded",
     "nothing-decoded", "not-shown"},
    // open
    {"already-open", "already-open", "ok", "ok", "nothing-decoded", "ok", "not-rendered",
     "not-shown"},
    // first field ended
    {"still-held", "ready", "not-open", "not-open", "ok", "ok", "not-rendered", "not-shown"},
    // second field open
    {"already-open", "already-open", "ok", "ok", "nothing-decoded", "ok", "not-rendered",
     "not-shown"},
    // both fields ended
    {"still-held", "no-first-field", "not-open", "not-open", "ok", "ok", "not-rendered",
     "not-shown"},
    // rendered
    {"still-held", "ready", "not-open", "not-open", "ok", "ok", "ok", "not-shown"},
    // rendered and shown
    {"still-held", "pending", "not-open", "not-open", "ok", "ok", "already-shown", "ok"},
    // shown only
    {"pending", "no-first-field", "not-open", "not-open", "ok", "nothing-decoded",
     "already-shown", "ok"},
    // abandoned
    {"ready", "no-first-field", "not-open", "not-open", "nothing-decoded", "nothing-decoded",
     "nothing-decoded", "not-shown"},
    // free again
    {"ready", "no-first-field", "not-open", "not-open", "ok", "nothing-decoded",
     "nothing-decoded", "not-shown"},
    // open, stopped
    {"already-open", "already-open", "stopped", "ok", "nothing-decoded", "ok", "not-rendered",
     "not-shown"},
    // failed, stopped
    {"still-held", "stopped", "not-open", "not-open", "ok", "ok", "not-rendered", "not-shown"},
    // free, stopped
    {"stopped", "no-first-field", "not-open", "not-open", "nothing-decoded", "nothing-decoded",
     "nothing-decoded", "not-shown"},
};

}  // namespace

// --- each call in each state

GST_START_TEST(every_call_in_every_state_is_answered_as_the_table_says) {
  for (size_t s = 0; s < std::size(kStates); ++s)
    for (size_t c = 0; c < std::size(kCalls); ++c) {
      Session session;
      session.add_surface();
      session.add_surface();
      kStates[s].reach(session);
      const std::string answer = kCalls[c].make(session);
      fail_unless(answer == kAnswers[s][c], "%s in state \"%s\": %s, not %s", kCalls[c].name,
                  kStates[s].name, answer.c_str(), kAnswers[s][c]);
    }
}
GST_END_TEST

// An error must not be half a change: what was legal before is legal after it.
GST_START_TEST(an_illegal_call_changes_nothing) {
  for (size_t s = 0; s < std::size(kStates); ++s)
    for (size_t bad = 0; bad < std::size(kCalls); ++bad) {
      const std::string_view answer = kAnswers[s][bad];
      if (answer == "ready" || answer == "ok") continue;
      for (size_t c = 0; c < std::size(kCalls); ++c) {
        Session session;
        session.add_surface();
        session.add_surface();
        kStates[s].reach(session);
        (void)kCalls[bad].make(session);
        fail_unless(kCalls[c].make(session) == kAnswers[s][c], "%s after a bad %s in \"%s\"",
                    kCalls[c].name, kCalls[bad].name, kStates[s].name);
      }
    }
}
GST_END_TEST

GST_START_TEST(a_number_nobody_has_is_an_error_everywhere) {
  Session session;
  for (const Call& call : kCalls)
    fail_unless(call.make(session) == "unknown-surface", "%s", call.name);
  fail_unless(session.query_status(0) == Render::Error);
  fail_unless(session.severity(0) == Severity::Fatal);
  fail_if(session.is_free(0));
}
GST_END_TEST

// --- one test for each rule of DirectX VA

GST_START_TEST(configuration_is_answered_with_yes_yes_but_or_a_reason) {
  const Need need{.bit_depth = 8, .width = 640, .height = 352, .surfaces = 20};
  const Configuration exact{
      .fourcc = format::kNV12, .width = 640, .height = 352, .surfaces = 20};
  fail_unless(negotiate(need, exact).answer == Answer::Yes);

  // An alternative that will do.
  Configuration other = exact;
  other.width = 1920;
  fail_unless(negotiate(need, other).answer == Answer::YesBut);
  other = exact;
  other.surfaces = 21;
  fail_unless(negotiate(need, other).answer == Answer::YesBut);

  const auto refused = [](const Need& wanted, const Configuration& offered) {
    const Reply reply = negotiate(wanted, offered);
    fail_unless(reply.answer == Answer::No);
    return reply.reason;
  };
  other = exact;
  other.height = 351;
  fail_unless(refused(need, other) == Reason::SizeOutOfRange);
  other = exact;
  other.surfaces = 19;
  fail_unless(refused(need, other) == Reason::SurfacesNotMade);
  for (const uint32_t fourcc : {format::kP010, 0u, format::kR8}) {
    other = exact;
    other.fourcc = fourcc;
    fail_unless(refused(need, other) == Reason::FormatUnsupported);
  }
  // Fewer bits would be black pictures and no complaint.
  Need deep = need;
  deep.bit_depth = 10;
  fail_unless(refused(deep, exact) == Reason::FormatUnsupported);
  other.fourcc = format::kP010;
  fail_unless(negotiate(deep, other).answer == Answer::Yes);
  Need chroma = need;
  chroma.is_420 = false;
  fail_unless(refused(chroma, exact) == Reason::FormatUnsupported);
  fail_unless(refused({.surfaces = 20}, exact) == Reason::SizeOutOfRange);
}
GST_END_TEST

GST_START_TEST(begin_frame_says_ready_pending_or_why_not) {
  Session session;
  session.add_surface();
  render(session, 0);
  must(session.show(0));
  must(session.release(0));
  // The screen's side has it: not an error, and nothing has changed.
  fail_unless(word(session.begin_frame(0)) == "pending");
  fail_unless(word(session.begin_frame(0)) == "pending");
  fail_unless(session.query_status(0) == Render::Ready);
  must(session.hide(0));
  fail_unless(word(session.begin_frame(0)) == "ready");
  fail_unless(word(session.begin_frame(0)) == "already-open");
  fail_unless(word(session.begin_frame(7)) == "unknown-surface");
}
GST_END_TEST

GST_START_TEST(a_begin_has_its_end_with_the_same_number) {
  Session session;
  session.add_surface();
  session.add_surface();
  must(session.begin_frame(0));
  fail_unless(word(session.end_frame(1)) == "not-open");
  fail_unless(session.open() == std::vector<Index>{0});
  must(session.end_frame(0));
  fail_unless(word(session.end_frame(0)) == "not-open");
  fail_unless(session.open().empty());
  fail_unless_equals_uint64(session.pairs().begun, 1);
  fail_unless_equals_uint64(session.pairs().ended, 1);
}
GST_END_TEST

// libavcodec: HEVC takes a surface in place of a missing reference when the picture is open.
GST_START_TEST(a_stand_in_is_a_pair_of_its_own) {
  Session session;
  session.add_surface();
  session.add_surface();
  must(session.begin_frame(0));
  must(session.begin_frame(1));
  fail_unless(session.open() == (std::vector<Index>{0, 1}));
  must(session.end_frame(1));
  must(session.execute(0, Severity::None));
  must(session.end_frame(0));
  fail_unless_equals_uint64(session.pairs().ended, 2);
}
GST_END_TEST

GST_START_TEST(two_fields_are_two_pairs_on_one_surface) {
  Session session;
  session.add_surface();
  session.add_surface();
  decode(session, 0);
  fail_unless(session.awaits_second_field() == Index{0});
  fail_unless(word(session.begin_second_field(1)) == "no-first-field");
  must(session.begin_second_field(0));
  // The first field alone is no picture.
  fail_unless(session.query_status(0) == Render::Pending);
  must(session.execute(0, Severity::None));
  must(session.end_frame(0));
  fail_unless_equals_uint64(session.pairs().ended, 2);
  fail_if(session.awaits_second_field().has_value());
  fail_unless(word(session.begin_second_field(0)) == "no-first-field");

  // Another picture between them: the first field stays alone.
  session.add_surface();
  must(session.release(0));
  decode(session, 0);
  decode(session, 1);
  fail_unless(word(session.begin_second_field(0)) == "no-first-field");
  fail_unless(session.awaits_second_field() == Index{1});
  must(session.release(1));
  fail_if(session.awaits_second_field().has_value());
}
GST_END_TEST

GST_START_TEST(after_its_end_a_surface_is_a_reference_and_no_target) {
  Session session;
  session.add_surface();
  render(session, 0);
  fail_unless(word(session.begin_frame(0)) == "still-held");
  must(session.show(0));
  must(session.hide(0));
  // It was shown and came back; the decoder may still predict from it.
  fail_unless(word(session.begin_frame(0)) == "still-held");
  fail_if(session.is_free(0));
  must(session.release(0));
  fail_unless(session.is_free(0));
  fail_unless(word(session.begin_frame(0)) == "ready");
}
GST_END_TEST

GST_START_TEST(minor_and_significant_errors_go_on_and_severe_ones_stop_the_host) {
  for (const Severity severity : {Severity::None, Severity::Minor, Severity::Significant}) {
    Session session;
    session.add_surface();
    session.add_surface();
    decode(session, 0, severity);
    fail_if(session.stopped());
    must(session.completed(0, Severity::None));
    fail_unless(session.query_status(0) == Render::Ready);
    fail_unless(session.severity(0) == severity);  // a good report does not mend it
    must(session.begin_frame(1));
  }
  for (const Severity severity : {Severity::Severe, Severity::Fatal}) {
    Session session;
    for (int i = 0; i < 3; ++i) session.add_surface();
    decode(session, 0);
    must(session.begin_frame(1));
    must(session.execute(1, severity));
    fail_unless(session.stopped());
    fail_unless(word(session.execute(1, Severity::None)) == "stopped");
    // The pair is closed all the same.
    must(session.end_frame(1));
    fail_unless(session.query_status(1) == Render::Error);
    fail_unless(word(session.begin_frame(2)) == "stopped");
    // What was decoded before may be shown.
    must(session.completed(0, Severity::None));
    must(session.show(0));

    session.restart();
    fail_if(session.stopped());
    must(session.begin_frame(2));
    fail_unless(session.query_status(1) == Render::Error);
    must(session.release(1));
    must(session.begin_frame(1));
    fail_unless(session.severity(1) == Severity::None);
  }
}
GST_END_TEST

GST_START_TEST(status_is_pending_until_the_device_reports) {
  Session session;
  session.add_surface();
  fail_unless(session.query_status(0) == Render::Error);
  must(session.begin_frame(0));
  fail_unless(session.query_status(0) == Render::Pending);
  must(session.end_frame(0));
  fail_unless(session.query_status(0) == Render::Pending);
  fail_unless(word(session.show(0)) == "not-rendered");
  must(session.completed(0, Severity::Significant));
  fail_unless(session.query_status(0) == Render::Ready);
  must(session.show(0));
}
GST_END_TEST

GST_START_TEST(a_picture_with_a_fence_is_shown_before_the_report) {
  Session session;
  session.add_surface();
  must(session.begin_frame(0));
  fail_unless(word(session.show(0, Pixels::Fenced)) == "not-rendered");
  must(session.end_frame(0));
  must(session.show(0, Pixels::Fenced));
  fail_unless(session.query_status(0) == Render::Pending);
  must(session.release(0));
  fail_unless(session.begin_frame(0).target == Target::Pending);
  must(session.completed(0, Severity::None));
  must(session.hide(0));
  fail_unless(session.begin_frame(0).target == Target::Ready);

  must(session.execute(0, Severity::Severe));
  must(session.end_frame(0));
  fail_unless(word(session.show(0, Pixels::Fenced)) == "not-rendered");
}
GST_END_TEST

GST_START_TEST(a_picture_the_device_failed_on_is_not_shown) {
  Session session;
  session.add_surface();
  decode(session, 0);
  must(session.completed(0, Severity::Fatal));
  fail_unless(session.query_status(0) == Render::Error);
  fail_unless(word(session.show(0)) == "not-rendered");
  fail_unless(session.stopped());
}
GST_END_TEST

GST_START_TEST(a_pair_is_abandoned_by_release_and_by_restart) {
  Session session;
  session.add_surface();
  session.add_surface();
  must(session.begin_frame(0));
  must(session.begin_frame(1));
  must(session.release(0));
  fail_unless_equals_uint64(session.pairs().abandoned, 1);
  fail_unless(session.is_free(0));
  session.restart();
  fail_unless_equals_uint64(session.pairs().abandoned, 2);
  fail_unless(session.open().empty());
  fail_unless(word(session.begin_frame(1)) == "still-held");
  must(session.release(1));
  must(session.begin_frame(1));
}
GST_END_TEST

// --- random schedules

namespace {

// What an onlooker knows who only sees which calls were granted.
struct Onlooker {
  bool held = false;
  bool shown = false;
  bool open = false;
  bool rendered = false;
};

class Schedule {
 public:
  explicit Schedule(unsigned seed) : random_(seed) {
    for (int i = 0; i < 3; ++i) add();
  }

  void step() {
    const Index i = pick(session_.size() + 1);  // one of them is unknown
    switch (pick(10)) {
      case 0:
        begin(i);
        break;
      case 1:
        second(i);
        break;
      case 2:
        (void)session_.execute(i, any_severity());
        break;
      case 3:
        end(i);
        break;
      case 4:
        completed(i);
        break;
      case 5:
        release(i);
        break;
      case 6:
        show(i);
        break;
      case 7:
        hide(i);
        break;
      case 8:
        if (session_.stopped() && pick(4) == 0) restart();
        break;
      default:
        if (session_.size() < 24 && pick(50) == 0) add();
    }
    check();
  }

  [[nodiscard]] uint64_t granted() const { return granted_; }

 private:
  uint32_t pick(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  // Mostly fine, or the session would stand still.
  Severity any_severity() { return pick(20) ? Severity::None : static_cast<Severity>(pick(5)); }
  void add() {
    fail_unless_equals_int(session_.add_surface(), seen_.size());
    seen_.emplace_back();
  }
  void begin(Index i) {
    const bool stopped = session_.stopped();
    const auto answer = session_.begin_frame(i);
    if (answer.target == Target::Pending) fail_unless(seen_[i].shown);
    if (answer.target != Target::Ready) return;
    // What the whole protocol is for: nobody draws into a picture that somebody uses.
    fail_if(stopped || seen_[i].held || seen_[i].shown || seen_[i].open);
    seen_[i] = {.held = true, .open = true};
    ++granted_;
  }
  void second(Index i) {
    if (session_.begin_second_field(i).target != Target::Ready) return;
    fail_unless(seen_[i].held && !seen_[i].open && !seen_[i].shown);
    seen_[i].open = true;
    seen_[i].rendered = false;
  }
  void end(Index i) {
    if (session_.end_frame(i) != Misuse::None) return;
    fail_unless(seen_[i].open);
    seen_[i].open = false;
  }
  void completed(Index i) {
    const Severity severity = any_severity();
    if (session_.completed(i, severity) != Misuse::None) return;
    fail_if(seen_[i].open);
    seen_[i].rendered = true;
  }
  void release(Index i) {
    if (session_.release(i) != Misuse::None) return;
    fail_unless(seen_[i].held);
    seen_[i].held = seen_[i].open = false;
  }
  void show(Index i) {
    if (session_.show(i) != Misuse::None) return;
    fail_unless(seen_[i].held && seen_[i].rendered && !seen_[i].shown);
    fail_if(stops(session_.severity(i)));
    seen_[i].shown = true;
  }
  void hide(Index i) {
    if (session_.hide(i) != Misuse::None) return;
    fail_unless(seen_[i].shown);
    seen_[i].shown = false;
  }
  void restart() {
    session_.restart();
    for (Onlooker& one : seen_) one.open = false;
  }
  void check() {
    uint32_t shown = 0;
    std::vector<Index> open;
    for (Index i = 0; i < seen_.size(); ++i) {
      shown += seen_[i].shown ? 1 : 0;
      if (seen_[i].open) open.push_back(i);
      fail_unless(session_.is_free(i) == (!seen_[i].held && !seen_[i].shown));
    }
    fail_unless_equals_int(session_.shown(), shown);
    fail_unless(session_.open() == open);
    const Session::Pairs& pairs = session_.pairs();
    fail_unless_equals_uint64(pairs.begun, pairs.ended + pairs.abandoned + open.size());
  }

  std::mt19937 random_;
  Session session_;
  std::vector<Onlooker> seen_;
  uint64_t granted_ = 0;
};

}  // namespace

GST_START_TEST(a_random_schedule_never_breaks_an_invariant) {
  std::random_device entropy;
  // Two that are always the same, and one that never is.
  for (const unsigned seed : {1u, 20u, entropy()}) {
    std::printf("# seed %u\n", seed);
    std::fflush(stdout);
    Schedule schedule(seed);
    for (int step = 0; step < 10'000; ++step) schedule.step();
    fail_unless(schedule.granted() > 100, "only %" G_GUINT64_FORMAT " pictures",
                guint64{schedule.granted()});
  }
}
GST_END_TEST

static Suite* accel_session_suite() {
  Suite* suite = suite_create("accel_session");
  TCase* table = tcase_create("table");
  tcase_add_test(table, every_call_in_every_state_is_answered_as_the_table_says);
  tcase_add_test(table, an_illegal_call_changes_nothing);
  tcase_add_test(table, a_number_nobody_has_is_an_error_everywhere);
  suite_add_tcase(suite, table);
  TCase* rules = tcase_create("rules");
  tcase_add_test(rules, configuration_is_answered_with_yes_yes_but_or_a_reason);
  tcase_add_test(rules, begin_frame_says_ready_pending_or_why_not);
  tcase_add_test(rules, a_begin_has_its_end_with_the_same_number);
  tcase_add_test(rules, a_stand_in_is_a_pair_of_its_own);
  tcase_add_test(rules, two_fields_are_two_pairs_on_one_surface);
  tcase_add_test(rules, after_its_end_a_surface_is_a_reference_and_no_target);
  tcase_add_test(rules, minor_and_significant_errors_go_on_and_severe_ones_stop_the_host);
  tcase_add_test(rules, status_is_pending_until_the_device_reports);
  tcase_add_test(rules, a_picture_with_a_fence_is_shown_before_the_report);
  tcase_add_test(rules, a_picture_the_device_failed_on_is_not_shown);
  tcase_add_test(rules, a_pair_is_abandoned_by_release_and_by_restart);
  suite_add_tcase(suite, rules);
  TCase* random = tcase_create("random");
  tcase_set_timeout(random, 60);
  tcase_add_test(random, a_random_schedule_never_breaks_an_invariant);
  suite_add_tcase(suite, random);
  return suite;
}

GST_CHECK_MAIN(accel_session)
