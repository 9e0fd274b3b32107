// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <memory>

#include "gst/common/gst_ptr.hpp"
#include "lib/gl/upload_ring.hpp"

// The buffers that dxvaglupload proposes upstream: each lies in a slot of an upload ring, so
// that whoever writes a picture writes it where the GPU reads it. The slots are made when the
// first buffer is asked for, on the GL thread; afterwards nobody calls OpenGL. A buffer of
// system memory comes instead when every slot is out and the GPU is done with them (a queue
// that holds many), or the ring does not pay: acquiring never waits for somebody downstream,
// unless the configuration has a maximum.
//
// Its property "reads-in-place" is for a producer that could do without the copy: true where
// pictures that lie in memory of the CPU's are uploaded from there as fast as from a slot.
//
// Has GstVideoMeta and no GstVideoAlignment: with that, avdec's libavcodec decodes into the
// buffers and reads its references back from memory that may be slow to read. Without, it sends
// buffers of its own.
G_DECLARE_FINAL_TYPE(GstDxvaUploadPool, gst_dxva_upload_pool, GST, DXVA_UPLOAD_POOL,
                     GstBufferPool)

namespace dxva::gst {

class GlSession;

// For pictures of `info`. Remembers the session weakly: without it, plain memory.
[[nodiscard]] GstPtr<GstBufferPool> make_upload_pool(const std::shared_ptr<GlSession>& session,
                                                     const GstVideoInfo& info);

// The slot that this memory, or the one that it is a part of, lies in; lent by the memory.
// Null: in none. Thread-safe.
[[nodiscard]] const gl::UploadRing::Lease* upload_slot_of(GstMemory* memory);

}  // namespace dxva::gst
