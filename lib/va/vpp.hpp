// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/va/surface_pool.hpp"

namespace dxva::va {

// A way of copying that was given up.
struct DroppedWay {
  const char* name;  // lives for ever
  std::string why;
};

// Copies decoded surfaces on the device into surfaces of its own, which have another layout: a
// decoder draws tiles that its consumer may not be able to read (WDDM's pair of a swizzled and
// an unswizzled allocation). By the video processor, or where that fails by vaCopy.
// Reentrant; the copies outlive it.
class SurfaceCopier {
 public:
  struct Config {
    uint32_t fourcc = 0;  // DRM; of both sides
    uint32_t width = 0;   // pixels, coded size
    uint32_t height = 0;
    uint32_t count = 0;  // of the pool
    // What the copies may be laid out as, best first; empty: as the driver likes. A wish, as
    // with every pool: look at what comes out.
    std::vector<uint64_t> modifiers;
    friend bool operator==(const Config&, const Config&) = default;
  };
  // An error: a driver without memory for such surfaces. One that has no way of copying is seen
  // at the first copy().
  [[nodiscard]] static Result<std::unique_ptr<SurfaceCopier>> create(
      std::shared_ptr<Display> display, const Config& config);
  ~SurfaceCopier();
  SurfaceCopier(const SurfaceCopier&) = delete;
  SurfaceCopier& operator=(const SurfaceCopier&) = delete;

  // `from` is decoded and has our format and size. The copy is finished. Errors: Busy,
  // interrupted; NoMemory, all copies are in use; Unsupported, no way is left that works.
  [[nodiscard]] Result<SurfaceLease> copy(const Surface& from);
  // Holds a copy that copy() just made against its original, byte for byte, until one that is
  // no flat colour has agreed: a processor may believe that it must convert. False: it is
  // another picture, and that way of copying is not taken again.
  [[nodiscard]] bool prove(const Surface& from, const Surface& copied);
  [[nodiscard]] SurfacePool& pool() { return *pool_; }
  [[nodiscard]] const Config& config() const { return config_; }
  // "video-processor", "va-copy": ABI, in dxvadec's `stats`. Empty: none works.
  [[nodiscard]] const char* way_name() const { return works_ ? name_of(way_) : ""; }
  // The ways that are not taken any more, and why.
  [[nodiscard]] const std::vector<DroppedWay>& dropped() const { return dropped_; }

 private:
  enum class Way : uint8_t { VideoProc, VaCopy };
  [[nodiscard]] static const char* name_of(Way way);
  SurfaceCopier(std::shared_ptr<Display> display, const Config& config,
                std::shared_ptr<SurfacePool> pool)
      : display_(std::move(display)), config_(config), pool_(std::move(pool)) {}
  [[nodiscard]] Status open_processor();
  void close_processor();
  [[nodiscard]] Status run_processor(VASurfaceID from, VASurfaceID to);
  [[nodiscard]] Status run_va_copy(VASurfaceID from, VASurfaceID to);
  [[nodiscard]] Status run(Way way, const Surface& from, Surface& to);
  void next_way(const Error& why);

  const std::shared_ptr<Display> display_;
  const Config config_;
  const std::shared_ptr<SurfacePool> pool_;

  Way way_ = Way::VideoProc;
  bool works_ = true;  // way_ does, as far as is known
  bool proven_ = false;
  std::vector<DroppedWay> dropped_;
  VAConfigID processor_ = VA_INVALID_ID;
  VAContextID context_ = VA_INVALID_ID;
};

}  // namespace dxva::va
