// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace dxva::gst {

// Gives `type`, a bin, the interfaces of a video sink; each call goes on to the child that can
// do it: GstVideoOverlay and GstNavigation to the one named "sink", GstColorBalance to
// "balance". While there is no such child, calls do nothing. Any thread, as those children
// allow.
void add_sink_interfaces(GType type);

}  // namespace dxva::gst
