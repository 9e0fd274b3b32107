// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/gst.h>

#include "tools/doctor/probes.hpp"

namespace dxva::doctor {

Json probe_tracers() {
  Json out = Json::object();
  Json ignored = Json::array();
  GList* tracers = gst_tracing_get_active_tracers();
  for (GList* each = tracers; each; each = each->next) {
    if (g_strcmp0(G_OBJECT_TYPE_NAME(each->data), "GstDxvaTracer") != 0) continue;
    char** settings = nullptr;
    g_object_get(each->data, "ignored", &settings, nullptr);
    for (char** one = settings; one && *one; ++one) ignored.add(*one);
    g_strfreev(settings);
  }
  g_list_free_full(tracers, gst_object_unref);
  out.set("ignored", ignored);
  return out;
}

}  // namespace dxva::doctor
