// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/memory_watch.hpp"

namespace dxva::gst {

void MemoryWatch::watch(GstMemory* memory, std::function<void()> gone) {
  {
    const std::lock_guard guard(state_->lock);
    if (!state_->watched.insert(memory).second) return;
  }
  gst_mini_object_weak_ref(GST_MINI_OBJECT_CAST(memory), on_free,
                           new Notice{.state = state_, .gone = std::move(gone)});
}

void MemoryWatch::on_free(gpointer data, GstMiniObject* memory) {
  const std::unique_ptr<Notice> notice(static_cast<Notice*>(data));
  const auto state = notice->state.lock();
  if (!state) return;
  {
    const std::lock_guard guard(state->lock);
    state->watched.erase(reinterpret_cast<GstMemory*>(memory));
  }
  notice->gone();
}

}  // namespace dxva::gst
