// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace dxva::gst {

// Sends what lib/ logs to GStreamer's debug log, one category per area ("dxva-va", "dxva-gl",
// …). Called by plugin_init; a second plugin in the process finds its own copy of lib/
// unplugged and plugs it in too.
void install_log_bridge();

}  // namespace dxva::gst
