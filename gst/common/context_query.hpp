// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/common/gst_ptr.hpp"

namespace dxva::gst {

// The protocol of GstContext, for contexts whose libraries we do not link.

// Asks downstream, then upstream. Null: nobody has one. Not while data flows towards a
// neighbour that is waiting for us.
[[nodiscard]] GstPtr<GstContext> ask_neighbours(GstElement* element, const char* type);
// Asks the bins and the application; an answer comes through set_context() before this returns.
void ask_for_context(GstElement* element, const char* type);
// Tells the bins and the application.
void announce_context(GstElement* element, GstPtr<GstContext> context);
// Whether `query` asks for contexts of this type.
[[nodiscard]] bool asks_for_context(GstQuery* query, const char* type);

}  // namespace dxva::gst
