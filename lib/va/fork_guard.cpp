// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/fork_guard.hpp"

#include <pthread.h>
#include <va/va_backend.h>

#include <atomic>

namespace dxva::va {

// Never freed, so that the child can walk the list without a lock: the thread that held one may
// not exist there.
struct ForkGuard::Slot {
  std::atomic<VADisplay> display{nullptr};
  Slot* next = nullptr;
};

namespace {

std::atomic<ForkGuard::Slot*> slots{nullptr};

void forget_in_child() {
  for (ForkGuard::Slot* slot = slots.load(); slot; slot = slot->next)
    if (VADisplay display = slot->display.exchange(nullptr))
      static_cast<VADisplayContextP>(display)->vadpy_magic = 0;  // vaDisplayIsValid looks here
}

// As the library is loaded: the lock of a first-use initialisation could itself be inherited.
[[maybe_unused]] const int forgets_in_child =
    ::pthread_atfork(nullptr, nullptr, forget_in_child);

ForkGuard::Slot* take_slot(VADisplay display) {
  for (ForkGuard::Slot* slot = slots.load(); slot; slot = slot->next) {
    VADisplay free = nullptr;
    if (slot->display.compare_exchange_strong(free, display)) return slot;
  }
  auto* slot = new ForkGuard::Slot;
  slot->display = display;
  slot->next = slots.load();
  while (!slots.compare_exchange_weak(slot->next, slot)) {
  }
  return slot;
}

}  // namespace

ForkGuard::ForkGuard(VADisplay display) : display_(display), slot_(take_slot(display)) {}

ForkGuard::~ForkGuard() {
  // In a child the slot was emptied, and perhaps a display of the child's own has it now.
  VADisplay ours = display_;
  slot_->display.compare_exchange_strong(ours, nullptr);
}

}  // namespace dxva::va
