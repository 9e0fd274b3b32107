// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "lib/softva/buffer.hpp"
#include "lib/softva/config.hpp"
#include "lib/softva/context.hpp"
#include "lib/softva/image.hpp"
#include "lib/softva/knobs.hpp"
#include "lib/softva/object_table.hpp"
#include "lib/softva/surface.hpp"

namespace dxva::softva {

// One vaInitialize: everything that lives until vaTerminate. The VA calls are free functions
// that take it first, grouped by what they are about. Thread-safe.
struct Driver {
  Driver(Knobs chosen, MemoryKind memory_kind, std::string vendor_text)
      : knobs(std::move(chosen)), memory(memory_kind), vendor(std::move(vendor_text)) {}

  [[nodiscard]] uint64_t next_surface_number() {
    return surface_count.fetch_add(1, std::memory_order_relaxed) + 1;
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
};

}  // namespace dxva::softva
