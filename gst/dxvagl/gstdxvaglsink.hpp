// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_DXVA_GL_SINK (gst_dxva_gl_sink_get_type())
G_DECLARE_FINAL_TYPE(GstDxvaGlSink, gst_dxva_gl_sink, GST, DXVA_GL_SINK, GstBin)

G_END_DECLS
