// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/copy_watch.hpp"

#include <new>

namespace dxva::gst {
namespace {

// Ends with the last buffer that has it.
using Told = std::shared_ptr<void>;

struct CopyMeta {
  GstMeta meta;
  Told told;
};

Told& told_of(GstMeta* meta) {
  return reinterpret_cast<CopyMeta*>(meta)->told;
}

void add(GstBuffer* buffer, const Told& told);

const GstMetaInfo* meta_info() {
  static const GstMetaInfo* info = [] {
    static const gchar* tags[] = {nullptr};
    const GType api = gst_meta_api_type_register("DxvaCopyMetaAPI", tags);
    return gst_meta_register(
        api, "DxvaCopyMeta", sizeof(CopyMeta),
        [](GstMeta* meta, gpointer, GstBuffer*) -> gboolean {
          new (&told_of(meta)) Told();
          return TRUE;
        },
        [](GstMeta* meta, GstBuffer*) { told_of(meta).~Told(); },
        [](GstBuffer* to, GstMeta* meta, GstBuffer*, GQuark, gpointer) -> gboolean {
          add(to, told_of(meta));
          return TRUE;
        });
  }();
  return info;
}

void add(GstBuffer* buffer, const Told& told) {
  told_of(gst_buffer_add_meta(buffer, meta_info(), nullptr)) = told;
}

}  // namespace

void tell_when_back(GstBuffer* copy, const std::shared_ptr<surface::Pool>& pool) {
  // The pool may go before.
  add(copy, Told(nullptr, [pool = pool->weak_from_this()](void*) {
        if (const auto left = pool.lock()) left->copy_came_back();
      }));
}

}  // namespace dxva::gst
