// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace dxva::gst {

// Logs what people set in the environment that nobody understands, once for a process whatever
// plugins it has. Called by plugin_init, after the log bridge; nothing asks again later.
void warn_of_variables();

}  // namespace dxva::gst
