// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <memory>
#include <mutex>
#include <vector>

#include "gst/common/gst_ptr.hpp"
#include "lib/dmabuf/external_frame.hpp"
#include "lib/surface/pool.hpp"

namespace dxva::gst {

// The GstMemories of one exported surface, one per buffer object, made once and lent again and
// again: caches downstream are keyed by them. The surface's life is tied to the memory and not
// to the GstBuffer, because buffers get copied and memories shared.
// A lent memory that loses its last reference comes home through its dispose hook; when all are
// home, the lease on the surface ends. Thread-safe.
class SurfaceMemories : public std::enable_shared_from_this<SurfaceMemories> {
 public:
  // Lent; whichever the surface's memory needs.
  struct Allocators {
    GstAllocator* dmabuf = nullptr;
    GstAllocator* opaque = nullptr;
    bool spare = false;  // spare_memory.hpp
  };
  // The surface's memories, made anew when it was exported from other memory than last time.
  [[nodiscard]] static Result<std::shared_ptr<SurfaceMemories>> of(
      surface::Surface& surface, const surface::Surface::Export& exported,
      const Allocators& allocators);
  ~SurfaceMemories();

  // Who has the buffer: a tee's branches, say; or nobody but dxvaglupload, whose word about the
  // readers is then the whole truth (cpu_memory.hpp).
  enum class Goes { Anywhere, ToOurUploader };
  // Puts all memories into `buffer`, and with them the surface, which is shown until they come
  // home. False when they are out already: a stream may show a picture twice (VP9
  // show-existing).
  [[nodiscard]] bool lend(GstBuffer* buffer, surface::Surface& surface, accel::Pixels pixels,
                          Goes goes);

  struct PlanePlace {
    gsize offset = 0;  // in the buffer, all memories in a row
    gint stride = 0;   // bytes
  };
  [[nodiscard]] const std::vector<PlanePlace>& planes() const { return planes_; }

 private:
  SurfaceMemories() = default;
  static gboolean on_last_unref(GstMiniObject* memory);
  gboolean come_home(GstMiniObject* memory);
  [[nodiscard]] bool is_read_by_cpu() const;
  void retire();

  std::vector<PlanePlace> planes_;

  std::mutex lock_;
  struct Entry {
    GstMemory* memory = nullptr;
    bool home = true;  // its one reference is ours; else the buffer's
  };
  std::vector<Entry> entries_;
  uint32_t out_ = 0;
  Goes goes_ = Goes::Anywhere;
  bool retired_ = false;
  surface::Lease lease_;  // while any is out

  // What hangs on the surface: takes the memories along when the surface goes.
  struct Home {
    std::shared_ptr<SurfaceMemories> memories;
    uint32_t generation = 0;  // of the export that they were made of
    Home(std::shared_ptr<SurfaceMemories> m, uint32_t g)
        : memories(std::move(m)), generation(g) {}
    ~Home() { memories->retire(); }
  };
};

}  // namespace dxva::gst
