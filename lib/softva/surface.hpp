// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "lib/base/result.hpp"
#include "lib/softva/convert.hpp"
#include "lib/softva/layout.hpp"
#include "lib/softva/memory.hpp"
#include "lib/softva/vgem_fences.hpp"

namespace dxva::softva {

struct Driver;
struct SharedDecoder;

// A picture's memory and whether somebody is drawing into it. Shared by the surface table and
// by pictures in flight. Thread-safe.
class Surface {
 public:
  using Objects = std::array<std::shared_ptr<Memory>, kMaxObjects>;

  // `number` counts the surfaces of a driver, for its fault plan.
  Surface(const SurfaceLayout& layout, Objects objects, uint64_t number);
  [[nodiscard]] static Result<std::shared_ptr<Surface>> create(const SurfaceLayout& layout,
                                                               MemoryKind kind,
                                                               uint64_t number);

  [[nodiscard]] const SurfaceLayout& layout() const { return layout_; }
  [[nodiscard]] const Objects& objects() const { return objects_; }
  [[nodiscard]] uint64_t number() const { return number_; }

  // The only way to the pixels: one user at a time, inside the memory's CPU access. Of a tiled
  // surface the view is a copy in rows, put back afterwards unless `mode` is Read.
  [[nodiscard]] Status with_pixels(CpuAccess::Mode mode,
                                   const std::function<Status(const PixelView&)>& work);

  // Whether rows are no rows in memory.
  [[nodiscard]] bool tiled() const;
  // From now on they are not, if the layout has room for whole tiles; the picture stays.
  void turn_tiled();

  // Who drew the picture; null where no other context can go on from it.
  void set_decoder(std::shared_ptr<SharedDecoder> decoder);
  [[nodiscard]] std::shared_ptr<SharedDecoder> decoder() const;

  // The surface is being rendered to while this lives, and lives as long.
  class Rendering {
   public:
    explicit Rendering(std::shared_ptr<Surface> surface);
    Rendering(const Rendering&) = delete;
    Rendering& operator=(const Rendering&) = delete;
    ~Rendering();
    // What vaQuerySurfaceError will say.
    void set_failed(bool failed);
    // Puts a fence on the surface's memory that signals when this dies. Memory that takes none
    // (a memfd) stays as it is: a client that sees no fence has to sync.
    void fence(const std::shared_ptr<VgemFences>& fences);
    [[nodiscard]] bool fenced() const { return writing_ != nullptr; }
    [[nodiscard]] Surface& surface() const { return *surface_; }

   private:
    const std::shared_ptr<Surface> surface_;
    std::unique_ptr<VgemFences::Writing> writing_;
  };

  [[nodiscard]] bool rendering() const;
  // False: still rendering after `timeout_ns`.
  [[nodiscard]] bool wait(uint64_t timeout_ns) const;
  // Lives as long as the surface.
  [[nodiscard]] const VASurfaceDecodeMBErrors* errors() const;

 private:
  const SurfaceLayout layout_;
  const Objects objects_;
  const uint64_t number_;
  const std::array<VASurfaceDecodeMBErrors, 2> errors_;

  [[nodiscard]] uint32_t tiled_rows(uint32_t plane) const;

  mutable std::mutex pixels_mutex_;
  bool tiled_;

  mutable std::mutex state_mutex_;
  mutable std::condition_variable idle_;
  unsigned renderers_ = 0;
  bool failed_ = false;
  std::shared_ptr<SharedDecoder> decoder_;
};

// vaCreateSurfaces and its kin.
VAStatus create_surfaces(Driver& driver, int width, int height, int format, int count,
                         VASurfaceID* ids);
VAStatus create_surfaces2(Driver& driver, unsigned format, unsigned width, unsigned height,
                          VASurfaceID* ids, unsigned count, VASurfaceAttrib* attributes,
                          unsigned attribute_count);
VAStatus destroy_surfaces(Driver& driver, VASurfaceID* ids, int count);
VAStatus query_surface_attributes(Driver& driver, VAConfigID config,
                                  VASurfaceAttrib* attributes, unsigned* count);
VAStatus sync_surface(Driver& driver, VASurfaceID id);
VAStatus sync_surface2(Driver& driver, VASurfaceID id, uint64_t timeout_ns);
VAStatus query_surface_status(Driver& driver, VASurfaceID id, VASurfaceStatus* status);
VAStatus query_surface_error(Driver& driver, VASurfaceID id, VAStatus error, void** info);

}  // namespace dxva::softva
