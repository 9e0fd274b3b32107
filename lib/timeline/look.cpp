// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/timeline/look.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <string_view>

#include "lib/timeline/svg_text.hpp"

namespace dxva::timeline {
namespace {

using trace::Span;
using trace::Time;

bool lies_in(const Span& inner, const Span& outer) {
  return inner.begin >= outer.begin && inner.end <= outer.end &&
         inner.end - inner.begin < outer.end - outer.begin;
}

// How much of `outer` is covered by the spans inside it.
double covered_ms(const std::vector<Span>& by_begin, const Span& outer) {
  double covered = 0;
  Time upto = outer.begin;
  for (const Span& inner : by_begin) {
    if (!lies_in(inner, outer) || inner.end <= upto) continue;
    covered += ms_between(std::max(upto, inner.begin), inner.end);
    upto = inner.end;
  }
  return covered;
}

std::string hex(int64_t id) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(id));
  return text;
}

std::string tip_of(const FrameLook& look) {
  const Frame& frame = *look.frame;
  std::string out = "frame " + std::to_string(frame.index);
  if (frame.pts_ns >= 0)
    out += ", at " + number(static_cast<double>(frame.pts_ns) / 1e9, 3) + " s";
  if (frame.surface >= 0) out += ", surface " + hex(frame.surface);
  out += std::string("\n") + frame.step();
  if (std::string_view(frame.reason()) != "none") out += std::string(": ") + frame.reason();
  if (frame.damaged) out += ", damaged";
  for (size_t i = 0; i < trace::kStages; ++i)
    if (look.ms[i] > 0)
      out += std::string("\n") + trace::stage_name(static_cast<trace::Stage>(i)) + " " +
             number(look.ms[i], 3) + " ms";
  return out;
}

FrameLook look_at(const Frame& frame) {
  FrameLook out{.frame = &frame};
  auto spans = frame.spans;
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  for (const Span& span : spans) {
    const double own = ms_between(span.begin, span.end) - covered_ms(spans, span);
    out.ms[static_cast<size_t>(span.stage)] += own;
    out.total_ms += own;
    out.end = std::max(out.end, span.end);
  }
  if (!spans.empty()) out.begin = spans.front().begin;
  if (frame.home) out.end = std::max(out.end, *frame.home);
  out.tip = tip_of(out);
  return out;
}

std::string summary_of(const Stream& stream) {
  auto counts = stream.gone;
  for (const Frame& frame : stream.frames) ++counts[{frame.step(), frame.reason()}];
  std::set<std::pair<int, std::string>> steps;
  for (const auto& [key, count] : counts)
    steps.emplace(step_rank(key.first.c_str()), key.first);

  std::string out = std::to_string(stream.frames_told) + " frames";
  for (const auto& [rank, step] : steps) {
    uint64_t of_step = 0;
    std::string reasons;
    for (const auto& [key, count] : counts) {
      if (key.first != step) continue;
      of_step += count;
      if (key.second != "none")
        reasons += (reasons.empty() ? "" : ", ") + key.second + " " + std::to_string(count);
    }
    out += (step == steps.begin()->second ? ": " : ", ") + step + " " + std::to_string(of_step);
    if (!reasons.empty()) out += " (" + reasons + ")";
  }
  return out;
}

// What stands out in a row, by reasons.
std::string note_of(const std::vector<const FrameLook*>& frames) {
  size_t bad = 0;
  std::set<std::string> reasons;
  for (const FrameLook* look : frames) {
    if (!look->bad) continue;
    ++bad;
    reasons.insert(look->frame->damaged ? "damaged" : look->frame->reason());
  }
  if (bad == 0) return "";
  std::string out = std::to_string(bad) + " of " + std::to_string(frames.size()) + ":";
  for (const std::string& reason : reasons) out += " " + reason;
  return out;
}

}  // namespace

double ms_between(Time from, Time to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

StreamLook look_at(const Stream& stream) {
  StreamLook out{.stream = &stream, .summary = summary_of(stream)};
  int best = 100;
  for (const Frame& frame : stream.frames) best = std::min(best, step_rank(frame.step()));
  for (const auto& [key, count] : stream.gone)
    best = std::min(best, step_rank(key.first.c_str()));
  for (const Frame& frame : stream.frames) {
    out.frames.push_back(look_at(frame));
    out.frames.back().bad = frame.damaged || step_rank(frame.step()) > best;
  }
  return out;
}

std::vector<Row> rows_of(const StreamLook& look) {
  std::map<int64_t, Row> surfaces;
  std::vector<Row> lanes;
  std::vector<Time> lane_ends;
  for (const FrameLook& frame : look.frames) {
    if (frame.frame->surface >= 0) {
      surfaces[frame.frame->surface].frames.push_back(&frame);
      continue;
    }
    size_t lane = 0;
    while (lane < lanes.size() && lane_ends[lane] > frame.begin) ++lane;
    if (lane == lanes.size()) {
      lanes.push_back({.name = lane == 0 ? "no surface" : ""});
      lane_ends.emplace_back();
    }
    lanes[lane].frames.push_back(&frame);
    lane_ends[lane] = frame.end;
  }
  std::vector<Row> out;
  for (auto& [id, row] : surfaces) {
    row.name = "surface " + hex(id);
    out.push_back(std::move(row));
  }
  for (Row& lane : lanes) out.push_back(std::move(lane));
  for (Row& row : out) row.note = note_of(row.frames);
  return out;
}

double line_distance(double top, int lines) {
  const double raw = std::max(top, 1e-6) / lines;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * power) return factor * power;
  return 10 * power;
}

double fair_top(const std::vector<FrameLook>& frames) {
  std::vector<double> heights;
  for (const FrameLook& look : frames) heights.push_back(look.total_ms);
  if (heights.empty()) return 1;
  std::sort(heights.begin(), heights.end());
  const double usual = heights[(heights.size() - 1) * 9 / 10];
  const double highest = heights.back();
  return std::max(highest > usual * 2 ? usual * 1.6 : highest, 1e-3);
}

}  // namespace dxva::timeline
