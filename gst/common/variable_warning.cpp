// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/common/variable_warning.hpp"

#include <gst/gst.h>

#include "lib/base/log.hpp"
#include "lib/base/variables.hpp"

namespace dxva::gst {

// Each plugin has its own copy of this code; what they share is a type (see trace_board.cpp).
void warn_of_variables() {
  static const GQuark quark = g_quark_from_static_string("dxva-variables-told");
  if (g_type_get_qdata(GST_TYPE_ELEMENT, quark)) return;
  g_type_set_qdata(GST_TYPE_ELEMENT, quark, GINT_TO_POINTER(1));
  for (const Misunderstood& one : misunderstood_variables())
    DXVA_WARNING(Base, "%s %s", one.what.c_str(), one.remedy.c_str());
}

}  // namespace dxva::gst
