// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// A word from dxvadec to dxvaglupload about a picture's memory: its producer has several more,
// and does not miss this one for some pictures. Whoever gives it back may then do so with the
// next ones, in one go (gl::ReleaseQueue::after_gpu_with_others), until the producer asks for
// them.

#include <gst/gst.h>

#include <cstdint>

namespace dxva::gst {

// Surfaces that downstream may have, from which on a decoder has some to spare: one batch of
// them on its way back, and as many on the screen's side.
inline constexpr uint32_t kSparesFrom = 8;

// Once, by whoever made the memory. Shares of it say the same.
void mark_spare(GstMemory* memory);
// All of its memories.
[[nodiscard, gnu::hot]] bool is_spare(GstBuffer* buffer);

// The question: a custom event that goes downstream past all queues.
[[nodiscard]] GstEvent* make_spares_wanted_event();
[[nodiscard]] bool is_spares_wanted(GstEvent* event);

}  // namespace dxva::gst
