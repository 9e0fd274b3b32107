// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <GL/gl.h>
#include <GL/glext.h>
#include <gst/gl/gl.h>

#include <mutex>
#include <vector>

namespace dxva::gst {

// Fences of copied pictures that are shown no more. To delete one is a trip to the GL thread,
// one more for each picture; here they wait for the next trip that somebody makes anyway. One
// for each context, which keeps it. Thread-safe.
class SpentFences {
 public:
  // Null when nobody has made any in `context`.
  [[nodiscard]] static SpentFences* of(GstGLContext* context);

  // Somebody makes fences there from now on, in the trips of his pictures. GL-thread only.
  static void begin(GstGLContext* context);
  // He makes no more: who was the last one deletes what is left. GL-thread only.
  static void end(GstGLContext* context);

  // False: nobody would ever delete it.
  [[nodiscard]] bool keep(GLsync fence);
  // Those that wait, now. GL-thread only.
  void delete_all(GstGLContext* context);

 private:
  SpentFences() = default;

  std::mutex lock_;
  unsigned makers_ = 0;
  std::vector<GLsync> fences_;
};

}  // namespace dxva::gst
