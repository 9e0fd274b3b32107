// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Decode targets, made up front and lent one picture at a time. vaCreateContext wants the whole
// list before the first picture, and a decoder that finds no free target loses the picture: so
// the pool is sized by us, never grows in normal use, and knows how many of its surfaces are on
// the screen's side.

#include <va/va.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/accel/session.hpp"
#include "lib/base/result.hpp"
#include "lib/va/display.hpp"
#include "lib/va/surface.hpp"

namespace dxva::va {

// While one exists, its surface is no target for a new picture, and its pool lives. Two kinds
// have the same type: a decoder's, shared by all who need the pixels for decoding or output,
// and the one that goes with a buffer downstream (show()).
using SurfaceLease = std::shared_ptr<Surface>;

// What a pool's surfaces are for.
enum class SurfaceUse : uint8_t {
  Decoding,  // the driver is told nothing: not every one that decodes knows usage hints
  Copies,    // written by the video processor or vaCopy, and exported
};

// Whose turn each surface is, is the protocol's business (lib/accel/session.hpp): this class
// asks it, under its lock, and waits where it says Pending.
// Thread-safe.
class SurfacePool : public std::enable_shared_from_this<SurfacePool> {
 public:
  struct Config {
    uint32_t fourcc = 0;  // DRM: NV12, P010
    uint32_t width = 0;   // pixels, coded size
    uint32_t height = 0;
    uint32_t count = 0;
    // What the memory may be laid out as, best first; empty: as the driver likes. A wish: some
    // drivers take the list and do not read it, so only an export tells.
    std::vector<uint64_t> modifiers;
    SurfaceUse use = SurfaceUse::Decoding;
    friend bool operator==(const Config&, const Config&) = default;
  };
  // Refusals: FormatUnsupported. A driver that takes no list of modifiers is an error too.
  [[nodiscard]] static Result<std::shared_ptr<SurfacePool>> create(
      std::shared_ptr<Display> display, const Config& config);
  ~SurfacePool();

  // BeginFrame on a free surface. Without one it waits a moment for one to come back, then
  // makes one more, up to a limit: a late surface is not in the context's list, which every
  // driver seen accepts, and it is better than a lost picture. Busy after interrupt(true);
  // DeviceLost after a severe error. The last lease ends what the decoder wants with the
  // surface; an open pair is abandoned with it.
  [[nodiscard]] Result<SurfaceLease> acquire();
  // Execute and EndFrame for all that were begun: libavcodec does both before it returns.
  void end_pairs(accel::Severity severity);
  // The pair of a second field, on the surface that the first one went into. False: nobody
  // waits for one.
  bool second_field(accel::Severity severity);
  // The device's report about a picture; Surface::sync() brings it.
  void completed(const Surface& surface, accel::Severity severity);
  // After a failure: is it the device, or this picture? Asks the driver for a surface's status,
  // and marks the display as lost when there is no answer.
  [[nodiscard]] bool device_is_lost() const;
  [[nodiscard]] accel::Session::Render query_status(const Surface& surface) const;
  [[nodiscard]] accel::Session::Pairs pairs() const;

  // Ends waits, now and until interrupt(false).
  void interrupt(bool on);
  [[nodiscard]] bool is_interrupted() const;

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] const std::shared_ptr<Display>& display() const { return display_; }
  [[nodiscard]] std::vector<VASurfaceID> ids() const;
  [[nodiscard]] uint32_t late_surfaces() const;

  // Its buffer goes downstream; it has come back when the lease ends. Busy: its pixels are not
  // there (Pixels::Fenced: and it was not decoded), or an earlier buffer of it is still out.
  [[nodiscard]] Result<SurfaceLease> show(Surface& surface,
                                          accel::Pixels pixels = accel::Pixels::There);
  // What fences prove, docs/design/fences.md. A fence on a surface's buffer may be of a picture
  // that was predicted from what the surface held before. All such pictures had begun when the
  // surface was released. So when the device has finished those, a fence that is pending is of
  // the surface's own picture, or of a later one, which is finished after it.
  [[nodiscard]] bool fences_are_its_own(const Surface& surface) const;
  // From here on pictures are decoded in another context, whose queue says nothing about the
  // pictures of the one before.
  void new_queue();
  // True when fewer than `limit` are downstream, now or in a moment: those that a GPU still
  // reads are on their way. A consumer that keeps what it has costs one wait, not one for each
  // picture.
  [[nodiscard]] bool wait_for_room(uint32_t limit);

 private:
  SurfacePool(std::shared_ptr<Display> display, const Config& config);
  [[nodiscard]] Status add_surfaces(uint32_t count);
  [[nodiscard]] Surface* begin_any();
  [[nodiscard]] SurfaceLease lend(Surface* surface);
  void release(Surface& surface);
  void hide(Surface& surface);
  void report(accel::Misuse misuse, const char* call, accel::Index index) const;

  const std::shared_ptr<Display> display_;  // above surfaces_: they need it to the last
  const Config config_;

  mutable std::mutex lock_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Surface>> surfaces_;
  accel::Session session_;
  // Not wanted by the decoder; oldest first: the longest rest before it is written again. Some
  // may still be shown.
  std::vector<accel::Index> resting_;
  bool interrupted_ = false;
  bool kept_ = false;      // a wait for room was in vain, and nothing has come back since
  uint64_t finished_ = 0;  // the last pair that the device is known to have finished
  uint64_t begun_in_others_ = 0;  // pairs, before new_queue()
};

}  // namespace dxva::va
