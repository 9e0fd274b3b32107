// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the ways of import remember of a producer's buffers, whatever kind of memory those are.

#include <gst/gst.h>

#include <optional>

#include "gst/dxvagl/gl_session.hpp"
#include "gst/dxvagl/import_chain.hpp"
#include "lib/base/buffer_identity.hpp"
#include "lib/gl/import_cache.hpp"

namespace dxva::gst {

// True: the cache knows `key`, and what it knows, an import or a refusal, is in `out`.
[[nodiscard]] bool find_known(GlSession& session, const gl::ImportKey& key, ImportAnswer& out);

// Drops what is remembered of each memory of `input` that has an identity, when that memory is
// freed: an import holds the producer's pages, and an identity may be another buffer's after
// that.
using IdentityOf = std::optional<BufferIdentity> (*)(GstMemory* memory);
void forget_with(GlSession& session, GstBuffer* input, IdentityOf identity_of);

}  // namespace dxva::gst
