// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/base/path.hpp"
#include "lib/gl/imported.hpp"
#include "lib/video/nv12_layout.hpp"

namespace dxva::gl {

// What makes two imports the same: the buffers themselves (not their descriptor numbers, which
// are reused) and everything that was told to the driver about them.
struct ImportKey {
  uint32_t fourcc = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  uint64_t modifier = 0;
  struct Plane {
    BufferIdentity buffer;
    uint64_t offset = 0;
    uint64_t pitch_bytes = 0;
    friend bool operator==(const Plane&, const Plane&) = default;
  };
  std::array<Plane, 2> planes;

  friend bool operator==(const ImportKey&, const ImportKey&) = default;

  [[nodiscard]] static ImportKey of(const video::ImageDescription& image);
  // Different for most keys that differ.
  [[nodiscard]] uint32_t tag() const;
  [[nodiscard]] bool uses(const BufferIdentity& buffer) const {
    return planes[0].buffer == buffer || planes[1].buffer == buffer;
  }
};

// Imports made once per buffer and kept while the buffer comes back. A driver's refusal is
// kept too: asking it again for each frame costs more than the copy that follows. The back-off
// doubles with each refusal, so a driver that was out of memory gets its second chance.
//
// Surfaces take turns, so the one that is looked for is the one that was longest not: entries
// that are passed over on the way to it must not be read, or each frame reads them all from
// memory. Only their tags are, which lie side by side.
//
// An entry's buffer cannot be mistaken for a later one with the same identity: the import holds
// the kernel's object, so the inode is not free for another. Thread-safe: buffers are evicted
// by whichever thread drops them.
class ImportCache {
 public:
  static constexpr size_t kDefaultCapacity = 64;  // surfaces; no decoder's pool is larger
  static constexpr uint64_t kFirstBackOff = 64;   // frames
  static constexpr uint64_t kLastBackOff = 4096;

  explicit ImportCache(size_t capacity = kDefaultCapacity) : capacity_(capacity) {}

  struct Answer {
    enum class Kind { Hit, Refused, Miss } kind = Kind::Miss;
    std::shared_ptr<const Imported> imported;  // Hit
    Reason reason = Reason::None;              // Refused
  };
  // One call per frame: this is also the clock of the back-off.
  [[nodiscard]] Answer find(const ImportKey& key);

  // Another one with each entry that leaves. Who has found one in this generation would find it
  // again.
  [[nodiscard, gnu::hot]] uint64_t generation() const;
  // Counts as a find() that hits, for who knew in this generation what it would have found. It
  // does not make the entry look younger: where room is short, a generation is over soon.
  [[gnu::hot]] void hit_again();

  void store(const ImportKey& key, std::shared_ptr<const Imported> imported);
  void store_refusal(const ImportKey& key, Reason reason);

  // The buffer is gone, and with it the generation, whether it was here or not.
  void evict(const BufferIdentity& buffer);
  // The caps changed, or the element stops.
  void clear();

  struct Counts {
    uint64_t hits = 0;
    uint64_t misses = 0;
  };
  [[nodiscard]] Counts counts() const;
  // The clock: calls of find().
  [[nodiscard]] uint64_t frame() const;
  [[nodiscard]] size_t size() const;

 private:
  struct Entry {
    ImportKey key;
    std::shared_ptr<const Imported> imported;  // null: refused
    Reason reason = Reason::None;
    uint64_t back_off = 0;
    uint64_t retry_at = 0;
    uint64_t used_at = 0;  // by uses_
  };

  [[nodiscard]] Entry* locate(const ImportKey& key);
  // In place of one with its key, or of the one that was not used for longest where there is no
  // room. What leaves is given away, to be dropped without the lock: dropping textures waits
  // for the GL thread, which may be waiting for us.
  [[nodiscard]] std::vector<Entry> put(Entry entry);
  [[nodiscard]] Entry take(size_t index);

  const size_t capacity_;

  mutable std::mutex lock_;
  std::vector<uint32_t> tags_;  // of entries_, in their order
  std::vector<Entry> entries_;
  uint64_t uses_ = 0;
  Counts counts_;
  uint64_t frame_ = 0;
  uint64_t generation_ = 0;
};

}  // namespace dxva::gl
