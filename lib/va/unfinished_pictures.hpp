// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Pictures that went downstream while the device was still writing them, because whoever reads
// them waits for the kernel's fences. That is allowed on proof only (docs/design/fences.md),
// and the device's verdict on each is still asked for, since it is the only sign of a failure:
// a fence signals after a reset as well.

#include <chrono>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/base/unique_fd.hpp"
#include "lib/dmabuf/external_frame.hpp"
#include "lib/surface/pool.hpp"
#include "lib/va/surface_sync.hpp"

namespace dxva::va {

// Reentrant.
class UnfinishedPictures {
 public:
  // A device that has not finished a picture after `patience` is asked all the same: its fence
  // may never signal.
  explicit UnfinishedPictures(std::chrono::nanoseconds patience = kSyncBound)
      : patience_(patience) {}

  // True when the picture in `surface`, whose memory is `memory`, is still being written and
  // every buffer has a fence that is about this picture. It may then leave, and its surface is
  // kept until the verdict is known. Waits for nothing.
  [[nodiscard]] bool take(const surface::Lease& surface, const dmabuf::ExternalFrame& memory);

  // Asks the device about those whose fences have signalled or should have; the number of them
  // that it calls damaged. Refusals: SyncFailed, the first that the device did not finish;
  // nothing is known of the rest then, and all are forgotten. Busy: interrupted, nothing is
  // lost.
  [[nodiscard]] Result<uint32_t> ask() { return ask(Which::Signalled); }
  // The same for all; waits for them.
  [[nodiscard]] Result<uint32_t> wait() { return ask(Which::All); }
  void forget() { pictures_.clear(); }

 private:
  struct Picture {
    surface::Lease surface;
    std::vector<UniqueFd> fences;  // sync_files, one for each buffer
    std::chrono::steady_clock::time_point left = std::chrono::steady_clock::now();

    [[nodiscard]] bool signalled() const;
  };
  enum class Which { Signalled, All };
  [[nodiscard]] Result<uint32_t> ask(Which which);

  const std::chrono::nanoseconds patience_;
  std::vector<Picture> pictures_;
};

}  // namespace dxva::va
