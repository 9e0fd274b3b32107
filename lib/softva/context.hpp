// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <cstdint>
#include <memory>
#include <mutex>

#include "lib/softva/config.hpp"
#include "lib/softva/frame_decoder.hpp"
#include "lib/softva/surface.hpp"

namespace dxva::softva {

// A decoder with its lock. Its context has it, and so have the surfaces that it drew, if their
// pictures can be referred to from another context.
struct SharedDecoder {
  const VAProfile profile;
  std::mutex mutex;
  std::unique_ptr<FrameDecoder> decoder;
};

// One stream being decoded. Its lock is held for a whole picture: contexts decode side by side,
// calls on one context wait for each other. Lock order: context, decoder, surface, then
// tables.
struct Context {
  const Config config;
  const uint32_t width;  // pixels
  const uint32_t height;

  std::mutex mutex;
  std::shared_ptr<SharedDecoder> decoder;  // null: a video processor
  bool begun = false;  // a picture was decoded: the decoder is the right one
  // Of the picture begun and not ended; null = none. The surface stays alive even if the client
  // destroys it meanwhile.
  std::shared_ptr<Surface> target;
  Picture picture;
  uint64_t picture_bytes = 0;
};

VAStatus create_context(Driver& driver, VAConfigID config, int width, int height, int flag,
                        VASurfaceID* targets, int target_count, VAContextID* id);
VAStatus destroy_context(Driver& driver, VAContextID id);
VAStatus begin_picture(Driver& driver, VAContextID id, VASurfaceID target);
VAStatus render_picture(Driver& driver, VAContextID id, VABufferID* buffers, int count);
VAStatus end_picture(Driver& driver, VAContextID id);

}  // namespace dxva::softva
