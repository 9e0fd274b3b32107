// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>

#include "lib/base/result.hpp"
#include "lib/base/unique_fd.hpp"
#include "lib/softva/fault_plan.hpp"

namespace dxva::softva {

// What a client did, DXVASOFT_LOG: a test can tell how often it was asked to export, and which
// pictures went to the surface that failed. One line per call that a fault plan counts,
//   export surface=3
//   export surface=3 failed
//   sync surface=3 rendering
// ("rendering": this call had to wait) and one per surface made, "surface=3 id=0x1c". Without a
// file it does nothing. Thread-safe.
class CallLog {
 public:
  CallLog() = default;
  // Appends. BadInput: the file cannot be opened.
  [[nodiscard]] static Result<CallLog> open(const std::string& file);

  // `surface` is its number, 0 for none.
  enum class Outcome { Done, Failed, Waits };
  void call(Call call, uint64_t surface, Outcome outcome) const;
  void surface_made(uint64_t number, uint32_t id) const;

 private:
  void write(const std::string& line) const;

  UniqueFd fd_;
};

}  // namespace dxva::softva
