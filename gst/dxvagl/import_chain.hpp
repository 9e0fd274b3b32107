// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>

#include "gst/dxvagl/gl_session.hpp"
#include "gst/dxvagl/input_picture.hpp"
#include "lib/base/path.hpp"
#include "lib/gl/imported.hpp"

namespace dxva::gst {

enum class ImportMode { Auto, Egl, MemoryObject, Copy };

struct ImportWish {
  ImportMode mode = ImportMode::Auto;
  bool verify = false;  // compare the first frame of each layout with what the CPU reads
  bool draws = false;   // the output is RGB, so an import need not be planes

  friend bool operator==(const ImportWish&, const ImportWish&) = default;
};

// How one frame's descriptors came into GL without a copy, or why they did not.
struct ImportAnswer {
  std::shared_ptr<const gl::Imported> imported;  // null: to be copied
  Reason reason = Reason::None;                  // why not
  bool verified = false;                         // it was compared, and right
  BufferIdentity identity;  // of the first plane's buffer, where it is known
};

// Tries the steps in their order. What was imported before is found again, what was refused is
// not asked for with each frame, and a buffer that no step takes has the Reason of the highest
// one. Streaming thread only.
[[nodiscard]] ImportAnswer import_frame(GlSession& session, GstBuffer* input,
                                        const InputPicture& picture, const ImportWish& wish);

// Refusals that are about the context or the user's wish and not about this buffer.
[[nodiscard]] bool is_general(Reason reason);

}  // namespace dxva::gst
