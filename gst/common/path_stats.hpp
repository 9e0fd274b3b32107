// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <span>

#include "gst/common/gst_ptr.hpp"
#include "lib/base/path.hpp"

namespace dxva::gst {

// The part of an element's `stats` that all our elements share: a nested structure `steps` with
// one uint64 for each of `steps`, and `reasons` with those that happened.
void add_path_counts(GstStructure* stats, const PathCounts& counts,
                     std::span<const Step> steps);

// Element message `dxva-path-changed`: the step in use is another one now, and why.
[[nodiscard]] GstMessage* path_changed_message(GstElement* element, Step from, Step to,
                                               Reason reason);

}  // namespace dxva::gst
