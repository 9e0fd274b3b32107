// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/spent_fences.hpp"

#include <gst/gl/gstglfuncs.h>

namespace dxva::gst {
namespace {

GQuark fences_quark() {
  static const GQuark quark = g_quark_from_static_string("dxva-spent-fences");
  return quark;
}

}  // namespace

SpentFences* SpentFences::of(GstGLContext* context) {
  return static_cast<SpentFences*>(g_object_get_qdata(G_OBJECT(context), fences_quark()));
}

void SpentFences::begin(GstGLContext* context) {
  SpentFences* fences = of(context);
  if (!fences) {
    fences = new SpentFences;
    g_object_set_qdata_full(G_OBJECT(context), fences_quark(), fences,
                            [](gpointer data) { delete static_cast<SpentFences*>(data); });
  }
  const std::lock_guard guard(fences->lock_);
  ++fences->makers_;
}

void SpentFences::end(GstGLContext* context) {
  SpentFences* fences = of(context);
  {
    const std::lock_guard guard(fences->lock_);
    if (--fences->makers_ > 0) return;
  }
  fences->delete_all(context);
}

bool SpentFences::keep(GLsync fence) {
  const std::lock_guard guard(lock_);
  if (makers_ > 0) fences_.push_back(fence);
  return makers_ > 0;
}

void SpentFences::delete_all(GstGLContext* context) {
  std::vector<GLsync> spent;
  {
    const std::lock_guard guard(lock_);
    spent.swap(fences_);
  }
  for (const GLsync fence : spent) context->gl_vtable->DeleteSync(fence);
}

}  // namespace dxva::gst
