// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "lib/softva/buffer.hpp"
#include "lib/softva/config.hpp"
#include "lib/softva/context.hpp"
#include "lib/softva/hang.hpp"
#include "lib/softva/image.hpp"
#include "lib/softva/knobs.hpp"
#include "lib/softva/late_queue.hpp"
#include "lib/softva/object_table.hpp"
#include "lib/softva/surface.hpp"
#include "lib/softva/vgem_fences.hpp"

namespace dxva::softva {

// One vaInitialize: everything that lives until vaTerminate. The VA calls are free functions
// that take it first, grouped by what they are about. Thread-safe.
struct Driver {
  Driver(Knobs chosen, MemoryKind memory_kind, std::string vendor_text)
      : knobs(std::move(chosen)), memory(memory_kind), vendor(std::move(vendor_text)) {
    if (knobs.late_ms > 0)
      late = std::make_unique<LateQueue>(std::chrono::milliseconds(knobs.late_ms));
  }

  [[nodiscard]] uint64_t next_surface_number() {
    return surface_count.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  // Counts and notes a call on a surface, or on `several` that start with it; true when the
  // fault plan wants it to fail.
  [[nodiscard]] bool fails(Call call, uint64_t surface = 0, uint64_t several = 1,
                           CallLog::Outcome otherwise = CallLog::Outcome::Done) {
    const bool failed = knobs.faults.fails(call, surface, several);
    knobs.log.call(call, surface, failed ? CallLog::Outcome::Failed : otherwise);
    return failed;
  }

  Knobs knobs;  // fixed, but for the calls its fault plan counts
  const MemoryKind memory;
  const std::string vendor;  // libva keeps a pointer to it

  IdSource ids;
  ObjectTable<Config> configs{ids};
  ObjectTable<Surface> surfaces{ids};
  ObjectTable<Context> contexts{ids};
  ObjectTable<Buffer> buffers{ids};
  ObjectTable<Image> images{ids};
  std::atomic<uint64_t> surface_count{0};
  std::atomic<uint64_t> export_count{0};

  // The GPU is gone: what needs it fails.
  [[nodiscard]] bool lost() const { return knobs.faults.lost(); }

  Hang hang;

  std::shared_ptr<VgemFences> fences;  // DXVASOFT_FENCES; null: none

  // First to go, with all that waits in it. Null: pictures are there when vaEndPicture returns.
  std::unique_ptr<LateQueue> late;
};

}  // namespace dxva::softva
