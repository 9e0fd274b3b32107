// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/spent_fences.hpp"

#include <gst/gl/gstglfuncs.h>

#include "gst/common/attached.hpp"

namespace dxva::gst {
namespace {

const Attached<SpentFences> kFences("dxva-spent-fences");

}  // namespace

SpentFences* SpentFences::of(GstGLContext* context) {
  return kFences.of(G_OBJECT(context));
}

void SpentFences::begin(GstGLContext* context) {
  SpentFences* fences = of(context);
  if (!fences) {
    fences = new SpentFences;
    kFences.keep(G_OBJECT(context), std::unique_ptr<SpentFences>(fences));
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
