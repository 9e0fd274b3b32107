// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <map>

#include "lib/base/path.hpp"
#include "lib/gl/import_cache.hpp"

namespace dxva::gl {

// What must be right once to be believed for all buffers: how the driver of this context reads
// one layout, by one step. Not where in which buffer it is.
struct LayoutKey {
  Step step = Step::Egl;
  uint32_t fourcc = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  uint64_t modifier = 0;
  std::array<uint64_t, 2> pitch_bytes{};
  bool planes_share = false;  // one buffer holds both planes

  friend auto operator<=>(const LayoutKey&, const LayoutKey&) = default;

  [[nodiscard]] static LayoutKey of(Step step, const ImportKey& import);
};

// The verdicts of one context. A layout that was wrong is tried again after a wait that
// doubles, and when the caps change; then it is compared again. One thread at a time.
class SelfTests {
 public:
  enum class Verdict {
    Open,   // compare
    Right,  // import
    Wrong,  // do not even ask the driver
  };
  // `frame` is ImportCache::frame().
  [[nodiscard]] Verdict verdict(const LayoutKey& key, uint64_t frame) const;
  void passed(const LayoutKey& key);
  void failed(const LayoutKey& key, uint64_t frame);
  // The caps changed: what was wrong is open again.
  void forgive();

 private:
  // More layouts than this are no stream's: a crop that moves changes none of them.
  static constexpr size_t kMaxLayouts = 256;

  struct Entry {
    bool right = false;
    uint64_t back_off = 0;  // frames
    uint64_t retry_at = 0;
  };
  std::map<LayoutKey, Entry> entries_;
};

}  // namespace dxva::gl
