// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gl/gl.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "gst/common/gst_ptr.hpp"
#include "lib/gl/texture_pool.hpp"

namespace dxva::gst {

// The textures in which GstGL holds `info`, plane by plane; nothing when this context has no
// such textures (16-bit ones under GLES without GL_EXT_texture_norm16).
[[nodiscard]] std::optional<gl::TextureSpecs> texture_specs(GstGLContext* context,
                                                            const gl::GlApi& api,
                                                            const GstVideoInfo& info);

// `info` with plane offsets as GstGLMemory lays out what it reads back.
[[nodiscard]] GstVideoInfo gl_layout(const GstVideoInfo& info);

enum class Writable { Yes, No };
// Whether commands of this context stand between the caller and what the textures show.
enum class Commands { None, Issued };
// A buffer whose memories are these textures; `owner` is dropped with the last of them, on any
// thread. Null when GstGL refuses. GL-thread only.
[[nodiscard]] GstPtr<GstBuffer> wrap_textures(GstGLContext* context, const GstVideoInfo& info,
                                              std::span<const GLuint> textures,
                                              std::shared_ptr<void> owner, Writable writable);

// Consumers in another context of the share group wait on it; in this one GL keeps the order.
// It has no fence so far. Null: there is no room for it.
GstGLSyncMeta* add_sync_meta(GstBuffer* buffer, GstGLContext* context);
// Takes its fence out of it, which is deleted in a trip that is due in any case. False: none
// is, and it is still there.
[[nodiscard, gnu::hot]] bool put_off_fence(GstGLSyncMeta& meta);
// A fence behind the commands that were issued. GL-thread only.
void set_sync_point(GstBuffer* buffer, GstGLContext* context);

}  // namespace dxva::gst
