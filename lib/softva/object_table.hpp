// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace dxva::softva {

// Hands out ids, one sequence for all kinds of objects: a surface's id is never a buffer's, and
// an id comes again only after four thousand million others, so that a client's use of a dead
// id is an error and not somebody else's object. Thread-safe.
class IdSource {
 public:
  [[nodiscard]] VAGenericID next() {
    for (;;) {
      const VAGenericID id = counter_.fetch_add(1, std::memory_order_relaxed);
      if (id != 0 && id != VA_INVALID_ID) return id;
    }
  }

 private:
  std::atomic<VAGenericID> counter_{1};
};

// The objects of one kind by id. The lock is held for a look-up, never while an object works;
// whoever got one shares it, so another thread may remove it meanwhile. Thread-safe.
template <typename T>
class ObjectTable {
 public:
  explicit ObjectTable(IdSource& ids) : ids_(ids) {}

  [[nodiscard]] VAGenericID add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    VAGenericID id = ids_.next();
    while (objects_.contains(id)) id = ids_.next();
    objects_.emplace(id, std::move(object));
    return id;
  }

  // Null when there is no such object.
  [[nodiscard]] std::shared_ptr<T> find(VAGenericID id) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(id);
    return found == objects_.end() ? nullptr : found->second;
  }

  // Takes it out; the caller lets go of it, outside the lock.
  [[nodiscard]] std::shared_ptr<T> remove(VAGenericID id) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(id);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

 private:
  IdSource& ids_;

  mutable std::mutex mutex_;
  std::unordered_map<VAGenericID, std::shared_ptr<T>> objects_;
};

}  // namespace dxva::softva
