// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/dmabuf/external_frame.hpp"

#include <algorithm>

namespace dxva::dmabuf {

video::ImageDescription ExternalFrame::describe() const {
  video::ImageDescription out{
      .fourcc = fourcc,
      .width = width,
      .height = height,
      .object_count = object_count,
      .plane_count = plane_count,
  };
  for (uint32_t i = 0; i < std::min(object_count, video::kMaxPlanes); ++i)
    out.objects[i] = {.size_bytes = objects[i].size_bytes,
                      .identity = objects[i].identity,
                      .modifier = objects[i].modifier};
  for (uint32_t i = 0; i < std::min(plane_count, video::kMaxPlanes); ++i)
    out.planes[i] = {.object = planes[i].object,
                     .offset = planes[i].offset,
                     .pitch_bytes = planes[i].pitch_bytes,
                     .format = planes[i].format};
  return out;
}

Result<ExternalFrame> ExternalFrame::duplicate() const {
  ExternalFrame copy;
  copy.opaque = opaque;
  copy.fourcc = fourcc;
  copy.width = width;
  copy.height = height;
  copy.object_count = object_count;
  copy.plane_count = plane_count;
  copy.planes = planes;
  for (uint32_t i = 0; i < std::min(object_count, video::kMaxPlanes); ++i) {
    UniqueFd fd = objects[i].fd.duplicate();
    if (!fd.valid()) return errno_error("fcntl(F_DUPFD_CLOEXEC)");
    copy.objects[i] = {.fd = std::move(fd),
                       .size_bytes = objects[i].size_bytes,
                       .identity = objects[i].identity,
                       .modifier = objects[i].modifier};
  }
  return copy;
}

}  // namespace dxva::dmabuf
