// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gl/gl.h>

G_BEGIN_DECLS

#define GST_TYPE_DXVA_GL_UPLOAD (gst_dxva_gl_upload_get_type())
G_DECLARE_FINAL_TYPE(GstDxvaGlUpload, gst_dxva_gl_upload, GST, DXVA_GL_UPLOAD, GstGLBaseFilter)

G_END_DECLS
