// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace dxva::doctor {

// What has to be there before anything hangs: libgcc's unwinder is loaded when it is first
// used.
void prepare_stacks();

// The call into a library of drivers that some thread of this process is in, and the driver
// behind it: "vaInitialize (iHD_drv_video.so)". Empty where none is, or none can be seen. Other
// threads are interrupted by a signal, so that what hung may go on: for a process about to end.
// Not from the thread that hangs.
[[nodiscard]] std::string call_that_hangs();

}  // namespace dxva::doctor
