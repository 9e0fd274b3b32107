// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>

#include "lib/surface/pool.hpp"

namespace dxva::gst {

// Tells the pool (Pool::copy_came_back) when downstream is done with the picture: by a meta,
// which goes when its buffer does, or when that goes back to its own pool, where qdata and weak
// references stay. What is made of the buffer has the meta too: textures that wait in a queue
// behind an uploader say as much as the copy that they were made of.
void tell_when_back(GstBuffer* copy, const std::shared_ptr<surface::Pool>& pool);

}  // namespace dxva::gst
