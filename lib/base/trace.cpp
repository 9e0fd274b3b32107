// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/trace.hpp"

namespace dxva::trace {
namespace {

constinit Board own_board{nullptr};
constinit std::atomic<Board*> board_in_use{&own_board};

constinit thread_local Spans* current = nullptr;

}  // namespace

const char* stage_name(Stage stage) {
  switch (stage) {
    case Stage::Decode:
      return "decode";
    case Stage::Wait:
      return "wait";
    case Stage::Export:
      return "export";
    case Stage::Copy:
      return "copy";
    case Stage::Import:
      return "import";
    case Stage::Upload:
      return "upload";
    case Stage::Fence:
      return "fence";
  }
  return "unknown";
}

const Listener* listener() {
  return board_in_use.load(std::memory_order_acquire)->load(std::memory_order_acquire);
}

Board& board() {
  return *board_in_use.load(std::memory_order_acquire);
}

void use_board(Board& shared) {
  board_in_use.store(&shared, std::memory_order_release);
}

Recording::Recording(Spans* spans) : outer_(current) {
  current = spans;
}

Recording::~Recording() {
  current = outer_;
}

Timed::Timed(Stage stage) : spans_(current), stage_(stage) {
  if (spans_) begin_ = Clock::now();
}

Timed::~Timed() {
  if (spans_) spans_->add({.stage = stage_, .begin = begin_, .end = Clock::now()});
}

}  // namespace dxva::trace
