// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

struct AVFrame;

namespace dxva::softva {

// Shows a lone field on all lines, as libavcodec's output does when the other field never
// comes. A client may look at the surface between the two. Not done in the decoder's own frame:
// in a damaged stream the second field may refer to lines that the first one did not write.
// Thread rules: reentrant.
class FieldDoubler {
 public:
  // Null: out of memory.
  [[nodiscard]] std::shared_ptr<AVFrame> show(const AVFrame& frame, bool bottom);

 private:
  std::shared_ptr<AVFrame> shown_;  // written again when nobody holds it any more
};

}  // namespace dxva::softva
