// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/accel/session.hpp"

#include <algorithm>

namespace dxva::accel {

const char* misuse_name(Misuse misuse) {
  switch (misuse) {
    using enum Misuse;
    case None:
      return "none";
    case UnknownSurface:
      return "unknown-surface";
    case AlreadyOpen:
      return "already-open";
    case StillHeld:
      return "still-held";
    case NotOpen:
      return "not-open";
    case NoFirstField:
      return "no-first-field";
    case NothingDecoded:
      return "nothing-decoded";
    case NotRendered:
      return "not-rendered";
    case AlreadyShown:
      return "already-shown";
    case NotShown:
      return "not-shown";
    case Stopped:
      return "stopped";
  }
  return "unknown";
}

Index Session::add_surface() {
  surfaces_.emplace_back();
  return size() - 1;
}

Session::Surface* Session::find(Index index) {
  return index < surfaces_.size() ? &surfaces_[index] : nullptr;
}

const Session::Surface* Session::find(Index index) const {
  return index < surfaces_.size() ? &surfaces_[index] : nullptr;
}

// --- the pair

Session::Begun Session::begin_frame(Index index) {
  Surface* surface = find(index);
  if (!surface) return {.why = Misuse::UnknownSurface};
  if (surface->picture == Picture::Open) return {.why = Misuse::AlreadyOpen};
  if (surface->held) return {.why = Misuse::StillHeld};
  if (stopped_) return {.why = Misuse::Stopped};
  if (surface->shown) return {.target = Target::Pending};
  *surface = {.picture = Picture::Open, .held = true, .fields = 1};
  if (last_ended_ == index) last_ended_.reset();
  ++pairs_.begun;
  return {.target = Target::Ready};
}

Session::Begun Session::begin_second_field(Index index) {
  Surface* surface = find(index);
  if (!surface) return {.why = Misuse::UnknownSurface};
  if (surface->picture == Picture::Open) return {.why = Misuse::AlreadyOpen};
  if (awaits_second_field() != index) return {.why = Misuse::NoFirstField};
  if (stopped_) return {.why = Misuse::Stopped};
  if (surface->shown) return {.target = Target::Pending};
  surface->picture = Picture::Open;
  surface->fields = 2;
  last_ended_.reset();
  ++pairs_.begun;
  return {.target = Target::Ready};
}

Misuse Session::execute(Index index, Severity severity) {
  Surface* surface = find(index);
  if (!surface) return Misuse::UnknownSurface;
  if (surface->picture != Picture::Open) return Misuse::NotOpen;
  if (stopped_) return Misuse::Stopped;
  surface->severity = std::max(surface->severity, severity);
  if (stops(severity)) stopped_ = true;
  return Misuse::None;
}

Misuse Session::end_frame(Index index) {
  Surface* surface = find(index);
  if (!surface) return Misuse::UnknownSurface;
  if (surface->picture != Picture::Open) return Misuse::NotOpen;
  surface->picture = Picture::Ended;
  last_ended_ = index;
  ++pairs_.ended;
  return Misuse::None;
}

std::vector<Index> Session::open() const {
  std::vector<Index> out;
  for (Index i = 0; i < size(); ++i)
    if (surfaces_[i].picture == Picture::Open) out.push_back(i);
  return out;
}

std::optional<Index> Session::awaits_second_field() const {
  if (!last_ended_) return std::nullopt;
  const Surface& surface = surfaces_[*last_ended_];
  return surface.held && surface.fields == 1 ? last_ended_ : std::nullopt;
}

// --- the device's report

Misuse Session::completed(Index index, Severity severity) {
  Surface* surface = find(index);
  if (!surface) return Misuse::UnknownSurface;
  // Twice is legal: whoever needs the pixels asks.
  if (surface->picture != Picture::Ended && surface->picture != Picture::Rendered)
    return Misuse::NothingDecoded;
  surface->picture = Picture::Rendered;
  surface->severity = std::max(surface->severity, severity);
  if (stops(severity)) stopped_ = true;
  return Misuse::None;
}

Session::Render Session::query_status(Index index) const {
  const Surface* surface = find(index);
  if (!surface || surface->picture == Picture::None || stops(surface->severity))
    return Render::Error;
  return surface->picture == Picture::Rendered ? Render::Ready : Render::Pending;
}

Severity Session::severity(Index index) const {
  const Surface* surface = find(index);
  return surface ? surface->severity : Severity::Fatal;
}

// --- who has it

void Session::abandon(Surface& surface) {
  surface.picture = Picture::None;
  ++pairs_.abandoned;
}

Misuse Session::release(Index index) {
  Surface* surface = find(index);
  if (!surface) return Misuse::UnknownSurface;
  if (!surface->held) return Misuse::NothingDecoded;
  if (surface->picture == Picture::Open) abandon(*surface);
  surface->held = false;
  return Misuse::None;
}

Misuse Session::show(Index index, Pixels pixels) {
  Surface* surface = find(index);
  if (!surface) return Misuse::UnknownSurface;
  if (surface->shown) return Misuse::AlreadyShown;
  if (!surface->held) return Misuse::NothingDecoded;
  const bool fenced = pixels == Pixels::Fenced && surface->picture == Picture::Ended;
  if (!(fenced && !stops(surface->severity)) && query_status(index) != Render::Ready)
    return Misuse::NotRendered;
  surface->shown = true;
  ++shown_;
  return Misuse::None;
}

Misuse Session::hide(Index index) {
  Surface* surface = find(index);
  if (!surface) return Misuse::UnknownSurface;
  if (!surface->shown) return Misuse::NotShown;
  surface->shown = false;
  --shown_;
  return Misuse::None;
}

bool Session::is_free(Index index) const {
  const Surface* surface = find(index);
  return surface && !surface->held && !surface->shown;
}

// --- after a severe error

void Session::restart() {
  for (Surface& surface : surfaces_)
    if (surface.picture == Picture::Open) abandon(surface);
  last_ended_.reset();
  stopped_ = false;
}

}  // namespace dxva::accel
