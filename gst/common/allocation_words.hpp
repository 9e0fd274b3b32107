// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What dxvaglupload says to dxvadec in its answer to an allocation query, beside GstVideoMeta.
// Each word is an entry among the metas that the consumer reads, with a type of its own; no
// buffer ever has such a meta.
//
// What stands between the two passes on, or not:
// - A tee: what all branches say, and of that only entries without parameters (GStreamer 1.22;
//   1.26 also such whose type merges them, and ours does not). So what all must have said has
//   none, and what is about one consumer alone has some.
// - A GstBaseTransform with memory of its own: nothing that has the tag "memory", which ours
//   have. What it does with the pictures is not what is done behind it.
// - Whoever answers by himself: nothing.

#include <gst/gst.h>

#include "gst/common/gst_ptr.hpp"

namespace dxva::gst {

struct AllocationWords {
  // It looks at the memory and not at the caps, so it takes system memory under DMABuf caps;
  // that kills everybody else (upstream glupload: "Failed to upload buffer").
  bool mixed_memory = false;
  // It waits for the kernel's fences before it reads; most others do not.
  bool waits_for_fences = false;
  // Nobody else gets the pictures: not said any more behind a tee with several branches.
  bool only_consumer = false;
  // Of that one: where copies should lie, under whatever caps. Written there, it copies them
  // no more. Null: anywhere.
  GstPtr<GstBufferPool> copy_pool;

  void add_to(GstQuery* query) const;
  [[nodiscard]] static AllocationWords in(GstQuery* query);
};

// By each plugin when it is loaded, which GStreamer does one after the other: the types are one
// for both.
void register_allocation_words();

}  // namespace dxva::gst
