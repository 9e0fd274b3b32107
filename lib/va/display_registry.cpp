// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/display_registry.hpp"

#include <map>
#include <mutex>

namespace dxva::va {
namespace {

struct Registry {
  std::mutex lock;  // outermost: held while a driver starts, never taken by a display

  std::map<std::string, std::weak_ptr<Display>> displays;
};

// Never destroyed: elements can outlive static destructors.
Registry& registry() {
  static auto* instance = new Registry;
  return *instance;
}

}  // namespace

Result<std::shared_ptr<Display>> find_or_start(
    const std::string& key, const std::function<Result<std::shared_ptr<Display>>()>& start) {
  Registry& all = registry();
  const std::scoped_lock guard(all.lock);
  if (auto held = all.displays[key].lock()) return held;
  auto started = start();
  if (started) all.displays[key] = *started;
  return started;
}

}  // namespace dxva::va
