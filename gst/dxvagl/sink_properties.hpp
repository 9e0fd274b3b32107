// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace dxva::gst {

// Properties that dxvaglsink has because the elements inside have them. They are spelled out
// here and not read from those elements' classes: the type is also made while the registry is
// scanned, when no other plugin may be loaded.
void install_child_properties(GObjectClass* klass);

// The name of the child that a property belongs to: "sink", "upload" or "balance".
[[nodiscard]] const char* child_of_property(const GParamSpec* spec);

}  // namespace dxva::gst
