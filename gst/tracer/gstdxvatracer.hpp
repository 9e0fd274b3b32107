// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_DXVA_TRACER (gst_dxva_tracer_get_type())
G_DECLARE_FINAL_TYPE(GstDxvaTracer, gst_dxva_tracer, GST, DXVA_TRACER, GstTracer)

gboolean gst_dxva_tracer_register(GstPlugin* plugin);

G_END_DECLS
