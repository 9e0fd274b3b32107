// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/display_registry.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "lib/va/display.hpp"

namespace dxva::va {
namespace {

struct Registry {
  struct Entry {
    std::string key;  // empty: found by its handle only
    VADisplay handle = nullptr;
    const Display* display = nullptr;
    // Empty while the entry is there: the last user is on its way to stop it.
    std::weak_ptr<Display> users;
  };

  std::mutex lock;  // outermost: held while a driver starts and stops

  std::vector<Entry> entries;
  std::condition_variable stopped;
};

// Never destroyed: elements can outlive static destructors. A child of fork() leaves the
// parent's alone, whose lock may be held by a thread that the child does not have.
std::atomic<Registry*> current{nullptr};

// As the library is loaded: the lock of a first-use initialisation could itself be inherited.
[[maybe_unused]] const int forgets_in_child =
    ::pthread_atfork(nullptr, nullptr, [] { current = nullptr; });

Registry& registry() {
  Registry* found = current.load();
  if (found) return *found;
  auto* fresh = new Registry;
  if (current.compare_exchange_strong(found, fresh)) return *fresh;
  delete fresh;
  return *found;
}

// What the last user of a display does.
struct Stop {
  Registry* owner;

  void operator()(Display* display) const {
    if (owner != current.load()) {
      delete display;  // in a child: libva refuses every call on it, and there is no lock
      return;
    }
    const std::scoped_lock guard(owner->lock);
    delete display;
    std::erase_if(owner->entries,
                  [&](const Registry::Entry& entry) { return entry.display == display; });
    owner->stopped.notify_all();
  }
};

template <typename IsIt>
Result<std::shared_ptr<Display>> find_or_make(const std::string& key, const IsIt& is_it,
                                              const MakeDisplay& make) {
  Registry& all = registry();
  std::unique_lock guard(all.lock);
  for (;;) {
    const auto entry = std::find_if(all.entries.begin(), all.entries.end(), is_it);
    if (entry == all.entries.end()) break;
    if (auto held = entry->users.lock()) return held;
    all.stopped.wait(guard);
  }
  auto made = make();
  if (!made) return made.error();
  std::shared_ptr<Display> shared(made->release(), Stop{&all});
  const bool taken =
      std::any_of(all.entries.begin(), all.entries.end(),
                  [&](const Registry::Entry& entry) { return entry.key == key; });
  all.entries.push_back({.key = taken ? std::string() : key,
                         .handle = shared->get(),
                         .display = shared.get(),
                         .users = shared});
  return shared;
}

}  // namespace

Result<std::shared_ptr<Display>> find_or_start(const std::string& key,
                                               const MakeDisplay& make) {
  return find_or_make(
      key, [&](const Registry::Entry& entry) { return entry.key == key; }, make);
}

Result<std::shared_ptr<Display>> find_or_adopt(VADisplay handle, const std::string& key,
                                               const MakeDisplay& make) {
  return find_or_make(
      key, [&](const Registry::Entry& entry) { return entry.handle == handle; }, make);
}

void forget_device_of(const Display& display) {
  Registry& all = registry();
  const std::scoped_lock guard(all.lock);
  for (Registry::Entry& entry : all.entries)
    if (entry.display == &display) entry.key.clear();
}

}  // namespace dxva::va
