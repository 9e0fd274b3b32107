// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>
#include <memory>
#include <mutex>
#include <set>

namespace dxva::gst {

// Says when memories die, so that what was made of them does not outlive them. One notice per
// memory however often it is watched: a pool larger than the import cache would else add one
// with each frame. Thread-safe.
class MemoryWatch {
 public:
  // Calls `gone` when `memory` is freed, on that thread, unless this object died before.
  void watch(GstMemory* memory, std::function<void()> gone);

 private:
  struct State {
    std::mutex lock;
    std::set<GstMemory*> watched;
  };
  struct Notice {
    std::weak_ptr<State> state;
    std::function<void()> gone;
  };
  static void on_free(gpointer data, GstMiniObject* memory);

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace dxva::gst
