// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>

#include "gst/common/gst_ptr.hpp"
#include "lib/va/display.hpp"

namespace dxva::gst {

// The GstContext by which GStreamer's own VA elements (libgstva) share a display. That library
// is not linked: a machine without plugins-bad still decodes, and what is needed of it is one
// property of its objects and the name of one type, the same from 1.22 on.
inline constexpr const char* kVaContext = "gst.va.display.handle";

// The display in a context that some element or the application made: "gst-display", a
// GstVaDisplay, or "va-display", a VADisplay that its owner keeps alive. Thread-safe.
[[nodiscard]] Result<std::shared_ptr<va::Display>> display_in(const GstContext* context);

// A context with our display, which it keeps alive. Null: no libgstva on this machine, or a
// display that must not be shared. Thread-safe.
//
// GStreamer's elements take a wrapped display without asking for its device: the plain names
// (vapostproc) are those of the first GPU. So only that one's display is shared, and the
// software driver's where there is no GPU.
[[nodiscard]] GstPtr<GstContext> context_with(const std::shared_ptr<va::Display>& display);

}  // namespace dxva::gst
