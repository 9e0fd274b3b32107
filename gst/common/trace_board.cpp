// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/common/trace_board.hpp"

#include "gst/common/attached.hpp"
#include "lib/base/trace.hpp"

namespace dxva::gst {

// The first plugin's board hangs on a type that every process with elements has. Plugins are
// never unloaded. The number changes with trace::Listener and what it is handed: two plugins of
// different versions then do not hear each other.
void install_trace_board() {
  static const GQuark quark = g_quark_from_static_string("dxva-trace-board-1");
  auto* shared = static_cast<trace::Board*>(g_type_get_qdata(GST_TYPE_ELEMENT, quark));
  if (shared)
    trace::use_board(*shared);
  else
    g_type_set_qdata(GST_TYPE_ELEMENT, quark, &trace::board());
}

uint64_t trace_memory(GstBuffer* buffer) {
  if (gst_buffer_n_memory(buffer) == 0) return 0;
  return reinterpret_cast<uintptr_t>(whole_memory(gst_buffer_peek_memory(buffer, 0)));
}

}  // namespace dxva::gst
