// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <span>
#include <string>

#include "gst/common/gst_ptr.hpp"
#include "lib/base/fastest.hpp"
#include "lib/base/path.hpp"

namespace dxva::gst {

// The part of an element's `stats` that all our elements share: a nested structure `steps` with
// one uint64 for each of `steps`, and `reasons` with those that happened.
void add_path_counts(GstStructure* stats, const PathCounts& counts,
                     std::span<const Step> steps);

// What was measured about several ways to one end: nested structures `NAME-times`, one uint64
// in nanoseconds for each way that was timed (its shortest turn), and `NAME-refused`, one
// string for each way that is not taken.
void add_ways(GstStructure* stats, const std::string& name,
              std::span<const NamedStanding> ways);

// Element message `dxva-path-changed`: the step in use is another one now, and why.
[[nodiscard]] GstMessage* path_changed_message(GstElement* element, Step from, Step to,
                                               Reason reason);

}  // namespace dxva::gst
