// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/import_memory.hpp"

#include <memory>
#include <utility>

#include "gst/common/attached.hpp"

namespace dxva::gst {

bool find_known(GlSession& session, const gl::ImportKey& key, ImportAnswer& out) {
  gl::ImportCache::Answer known = session.cache()->find(key);
  switch (known.kind) {
    using enum gl::ImportCache::Answer::Kind;
    case Hit:
      out.imported = std::move(known.imported);
      return true;
    case Refused:
      out.reason = known.reason;
      return true;
    case Miss:
      break;
  }
  return false;
}

void forget_with(GlSession& session, GstBuffer* input, IdentityOf identity_of) {
  for (guint i = 0; i < gst_buffer_n_memory(input); ++i) {
    GstMemory* memory = whole_memory(gst_buffer_peek_memory(input, i));
    const auto identity = identity_of(memory);
    if (!identity) continue;
    session.watch().watch(memory,
                          [cache = std::weak_ptr(session.cache()), identity = *identity] {
                            if (const auto alive = cache.lock()) alive->evict(identity);
                          });
  }
}

}  // namespace dxva::gst
