// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The DirectX VA operating protocol (IAMVideoAccelerator: BeginFrame, Execute, EndFrame,
// QueryRenderStatus) as a state machine over surface numbers. It calls nobody: whoever drives a
// device tells it what was done and is told whether that was legal. docs/design/surface-life.md
// maps each rule of the protocol to a function here, to its caller, and to its test.
//
// The life of a surface:
//
//              begin_frame        end_frame         completed
//      free ───────────────> open ─────────> ended ───────────> rendered
//       ^                     ^                │                 │     │
//       │                     └─ second field ─┘         release │     │ show
//       │                                                        v     v
//       └──────────────────────────────── when nobody holds it, and it is not shown
//
// "held": the decoder wants it, as a reference or for output. "shown": its buffer is
// downstream, or a GPU still samples it. Both at once is the usual case. Only a surface that is
// neither is a target again.

#include <cstdint>
#include <optional>
#include <vector>

namespace dxva::accel {

// Number of a surface in its session, from 0 in the order of add_surface().
using Index = uint32_t;

// What Execute and the status report say of a picture (DXVA: bStatus of the status reports).
enum class Severity : uint8_t {
  None = 0,         // fine
  Minor = 1,        // nothing that one would see
  Significant = 2,  // the picture is damaged; the next ones can be decoded
  Severe = 3,       // decoding failed: the host stops and starts anew, from a key picture
  Fatal = 4,        // the device does nothing any more
};
// Whether the host must stop using this session.
[[nodiscard]] constexpr bool stops(Severity severity) {
  return severity >= Severity::Severe;
}

// Why a call was illegal. The names are stable; they stand in logs and error texts.
enum class Misuse : uint8_t {
  None,
  UnknownSurface,  // no such number
  AlreadyOpen,     // a BeginFrame without an EndFrame in between
  StillHeld,       // the decoder has not released it: it may be a reference
  NotOpen,         // Execute or EndFrame without a BeginFrame of the same number
  NoFirstField,    // a second field that does not follow the first one of the same surface
  NothingDecoded,  // completed, released or shown, and there was no picture
  NotRendered,     // shown before the device had finished, or after it had failed
  AlreadyShown,
  NotShown,
  Stopped,  // after a severe error, before restart()
};
[[nodiscard]] const char* misuse_name(Misuse misuse);  // "still-held"

// Of a surface that is shown.
enum class Pixels : uint8_t {
  There,   // the device has reported
  Fenced,  // a fence says when they are, and whoever gets them waits for it; the report follows
};

// Reentrant.
class Session {
 public:
  Index add_surface();
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(surfaces_.size()); }

  // --- the pair

  enum class Target : uint8_t { Ready, Pending, Error };
  struct Begun {
    Target target = Target::Error;
    Misuse why = Misuse::None;  // of Error
  };
  // May a picture be written into this surface now? Ready opens it. Pending changes nothing: it
  // is shown; ask again when it came back.
  [[nodiscard]] Begun begin_frame(Index index);
  // The pair of a second field: the surface whose pair ended last, once.
  [[nodiscard]] Begun begin_second_field(Index index);
  // The worst severity of a pair stands. After a severe one nothing but EndFrame is legal.
  [[nodiscard]] Misuse execute(Index index, Severity severity);
  [[nodiscard]] Misuse end_frame(Index index);
  // Those with a BeginFrame and no EndFrame yet. There can be several: libavcodec takes a
  // stand-in for a missing reference while the picture itself is open.
  [[nodiscard]] std::vector<Index> open() const;
  // The surface whose pair ended last, if it was the first one and a second may follow.
  [[nodiscard]] std::optional<Index> awaits_second_field() const;

  // --- the device's report

  // The device has finished with the picture, or failed to.
  [[nodiscard]] Misuse completed(Index index, Severity severity);
  enum class Render : uint8_t { Ready, Pending, Error };
  // Error: unknown, never decoded, or damaged beyond use.
  [[nodiscard]] Render query_status(Index index) const;
  // Worst of Execute and report since BeginFrame.
  [[nodiscard]] Severity severity(Index index) const;

  // --- who has it

  // The decoder wants it no more. An open pair is abandoned: that is how a picture ends whose
  // slices were refused.
  [[nodiscard]] Misuse release(Index index);
  // Its buffer goes downstream, and has come back: the last importer's fence has signalled.
  [[nodiscard]] Misuse show(Index index, Pixels pixels = Pixels::There);
  [[nodiscard]] Misuse hide(Index index);
  [[nodiscard]] uint32_t shown() const { return shown_; }
  [[nodiscard]] bool is_free(Index index) const;  // begin_frame() would say Ready, or Stopped

  // --- after a severe error

  [[nodiscard]] bool stopped() const { return stopped_; }
  // A new context on the same surfaces. Open pairs are abandoned.
  void restart();

  // For books that must add up: each pair that was begun is open, ended or abandoned.
  struct Pairs {
    uint64_t begun = 0;
    uint64_t ended = 0;
    uint64_t abandoned = 0;
  };
  [[nodiscard]] const Pairs& pairs() const { return pairs_; }

 private:
  enum class Picture : uint8_t { None, Open, Ended, Rendered };
  struct Surface {
    Picture picture = Picture::None;
    Severity severity = Severity::None;
    bool held = false;
    bool shown = false;
    uint8_t fields = 0;  // pairs that this picture has had
  };
  [[nodiscard]] Surface* find(Index index);
  [[nodiscard]] const Surface* find(Index index) const;
  void abandon(Surface& surface);

  std::vector<Surface> surfaces_;
  std::optional<Index> last_ended_;
  uint32_t shown_ = 0;
  bool stopped_ = false;
  Pairs pairs_;
};

}  // namespace dxva::accel
