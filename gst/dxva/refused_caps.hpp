// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

namespace dxva::gst {

// What `downstream` takes instead of pictures in system memory with the caps `refused`, which
// may list several formats, in words for people: "I420, P010_10LE" where it is the format that
// it does not take, else "NV12 with width=64, height=64", or "NV12 in dma-bufs". Empty: no
// memory that we know.
[[nodiscard]] std::string taken_instead(const GstCaps* downstream, const GstCaps* refused);

}  // namespace dxva::gst
