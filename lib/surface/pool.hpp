// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Pictures' memory, lent one picture at a time. A decoder that finds no free target loses the
// picture: so a pool is sized by its owner, never grows beyond that in normal use, and knows
// how many of its surfaces are on the screen's side.

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/accel/session.hpp"
#include "lib/base/result.hpp"
#include "lib/surface/patience.hpp"
#include "lib/surface/surface.hpp"

namespace dxva::surface {

// Whose turn each surface is, is the protocol's business (lib/accel/session.hpp): this class
// asks it, under its lock, and waits where it says Pending. Who makes the surfaces is the
// derived class's.
// Thread-safe.
class Pool : public std::enable_shared_from_this<Pool> {
 public:
  virtual ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // BeginFrame on a free surface. Without one it makes one of those that it may have, or waits
  // a moment for one to come back, then makes one more, up to a limit: a late surface is better
  // than a lost picture. Busy after interrupt(true); DeviceLost after a severe error. The last
  // lease ends what the decoder wants with the surface; an open pair is abandoned with it.
  [[nodiscard]] Result<Lease> acquire();
  // Execute and EndFrame for all that were begun: libavcodec does both before it returns.
  void end_pairs(accel::Severity severity);
  // The pair of a second field, on the surface that the first one went into. False: nobody
  // waits for one.
  bool second_field(accel::Severity severity);
  // The device's report about a picture; Surface::sync() brings it.
  void completed(const Surface& surface, accel::Severity severity);
  // Whether it answers nothing any more; asked for after a failure. It is told to whoever keeps
  // devices.
  [[nodiscard]] virtual bool device_is_lost() const = 0;
  [[nodiscard]] accel::Session::Render query_status(const Surface& surface) const;
  [[nodiscard]] accel::Session::Pairs pairs() const;

  // Ends waits, now and until interrupt(false).
  void interrupt(bool on);
  [[nodiscard]] bool is_interrupted() const;

  // What it was sized for, and how many were made above that.
  [[nodiscard]] uint32_t count() const { return count_; }
  [[nodiscard]] uint32_t late_surfaces() const;

  // Its buffer goes downstream; it has come back when the lease ends. Busy: its pixels are not
  // there (Pixels::Fenced: and it was not decoded), or an earlier buffer of it is still out.
  [[nodiscard]] Result<Lease> show(Surface& surface,
                                   accel::Pixels pixels = accel::Pixels::There);
  // What fences prove, docs/design/fences.md. A fence on a surface's buffer may be of a picture
  // that was predicted from what the surface held before. All such pictures had begun when the
  // surface was released. So when the device has finished those, a fence that is pending is of
  // the surface's own picture, or of a later one, which is finished after it.
  [[nodiscard]] bool fences_are_its_own(const Surface& surface) const;
  // Nobody but the CPU reads this picture, and it has done so when the leases end. So the
  // surface need not rest: it is the next target, being what the processor's caches have best.
  // For this picture only, and until it is shown anew.
  void read_by_cpu(Surface& surface);
  // From here on pictures are decoded in another context, whose queue says nothing about the
  // pictures of the one before.
  void new_queue();
  // True when fewer than `limit` are downstream.
  [[nodiscard]] bool has_room(uint32_t limit) const;
  // True when that is so now or in a moment: those that a GPU still reads are on their way.
  // What a consumer costs that keeps what it has, or the last so many of it: Patience.
  // WhileCopiesReturn::Waits: longer where copies that left for want of room come back
  // meanwhile.
  enum class WhileCopiesReturn { Ends, Waits };
  [[nodiscard]] bool wait_for_room(uint32_t limit,
                                   WhileCopiesReturn copies = WhileCopiesReturn::Ends);
  // Of a copy in the place of a surface there was no room for.
  void copy_came_back();

 protected:
  explicit Pool(uint32_t count) : count_(count) {}
  // All that it is sized for, now. Else they are made when they are needed.
  [[nodiscard]] Status fill();
  // Makes so many, and adds each with adopt(); the lock is held.
  [[nodiscard]] virtual Status make_surfaces(uint32_t count) = 0;
  [[nodiscard]] accel::Index new_index() { return session_.add_surface(); }
  // In the order of new_index().
  void adopt(std::unique_ptr<Surface> surface);
  // Those that there are now; none goes before the pool does.
  [[nodiscard]] std::vector<const Surface*> all() const;

 private:
  [[nodiscard]] Surface* begin_any();
  [[nodiscard]] Lease lend(Surface* surface);
  void release(Surface& surface);
  void hide(Surface& surface);
  void put_back(const Surface& surface);
  void report(accel::Misuse misuse, const char* call, accel::Index index) const;

  const uint32_t count_;

  mutable std::mutex lock_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Surface>> surfaces_;
  accel::Session session_;
  // Not wanted by the decoder; first those that need no rest, the latest of them in front, then
  // the others, oldest first: the longest rest before it is written again. Some may still be
  // shown.
  std::vector<accel::Index> resting_;
  bool interrupted_ = false;
  Patience patience_;  // for room
  uint64_t copies_back_ = 0;
  uint64_t finished_ = 0;         // the last pair that the device is known to have finished
  uint64_t begun_in_others_ = 0;  // pairs, before new_queue()
};

}  // namespace dxva::surface
