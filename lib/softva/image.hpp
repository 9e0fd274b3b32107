// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <memory>

#include "lib/softva/buffer.hpp"
#include "lib/softva/convert.hpp"

namespace dxva::softva {

struct Driver;

// Pixels the CPU can reach: memory of its own, or a surface's (derived). `description` is our
// copy; what the client does to its own cannot lead us astray.
struct Image {
  const Format* format;
  VAImage description;
  std::shared_ptr<Buffer> buffer;

  [[nodiscard]] PixelView view() const;
};

VAStatus query_image_formats(Driver& driver, VAImageFormat* list, int* count);
VAStatus create_image(Driver& driver, VAImageFormat* format, int width, int height,
                      VAImage* image);
VAStatus derive_image(Driver& driver, VASurfaceID surface, VAImage* image);
VAStatus destroy_image(Driver& driver, VAImageID id);
VAStatus set_image_palette(Driver& driver, VAImageID id, unsigned char* palette);
VAStatus get_image(Driver& driver, VASurfaceID surface, int x, int y, unsigned width,
                   unsigned height, VAImageID image);
VAStatus put_image(Driver& driver, VASurfaceID surface, VAImageID image, int source_x,
                   int source_y, unsigned source_width, unsigned source_height, int target_x,
                   int target_y, unsigned target_width, unsigned target_height);

}  // namespace dxva::softva
