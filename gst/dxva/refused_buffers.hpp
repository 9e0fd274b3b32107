// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>

#include "lib/base/buffer_identity.hpp"
#include "lib/base/path.hpp"

namespace dxva::gst {

// Buffers that a consumer could not import, as its `dxva-import-failed` events say. Their
// surfaces are copied instead, until the caps change or a number of pictures has passed: the
// cause may have been passing, and asking each time costs more than it brings.
// Thread-safe: events come from the consumer's thread.
class RefusedBuffers {
 public:
  void add(const BufferIdentity& identity, Reason reason);
  struct Answer {
    Reason reason = Reason::None;  // None: nobody complained about it lately
    bool news = false;             // not asked since the complaint
  };
  // Counts as one picture.
  [[nodiscard]] Answer ask(const BufferIdentity& identity);
  // Whether there is a complaint of such a kind about one of these.
  [[nodiscard]] bool any_of(const std::set<BufferIdentity>& buffers,
                            bool (*kind)(Reason)) const;
  void clear();

 private:
  struct Refusal {
    Reason reason = Reason::None;
    uint32_t pictures_left = 0;  // of this buffer
  };

  mutable std::mutex lock_;
  std::map<BufferIdentity, Refusal> refusals_;
};

// Reason::ImportDisabled for a name that is none of ours.
[[nodiscard]] Reason reason_of_name(const char* name);

}  // namespace dxva::gst
