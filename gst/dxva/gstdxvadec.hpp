// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

G_BEGIN_DECLS

#define GST_TYPE_DXVA_DEC (gst_dxva_dec_get_type())
G_DECLARE_FINAL_TYPE(GstDxvaDec, gst_dxva_dec, GST, DXVA_DEC, GstVideoDecoder)

// Registers the element with the rank that this machine deserves.
gboolean gst_dxva_dec_register(GstPlugin* plugin);

G_END_DECLS

namespace dxva::gst {
// There where NVIDIA's kernel module is, whatever there is of DRM.
inline constexpr const char* kNvidiaNode = "/dev/nvidiactl";
}  // namespace dxva::gst
