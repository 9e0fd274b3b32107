// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/call_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace dxva::softva {

Result<CallLog> CallLog::open(const std::string& file) {
  CallLog log;
  if (file.empty()) return log;
  constexpr mode_t kMode = 0644;
  log.fd_.reset(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kMode));
  if (log.fd_.valid()) return log;
  Error error = errno_error("DXVASOFT_LOG");
  error.code = ErrorCode::BadInput;
  return error;
}

void CallLog::call(Call call, uint64_t surface, Outcome outcome) const {
  if (!fd_.valid()) return;
  std::string line(call_name(call));
  if (surface != 0) line += " surface=" + std::to_string(surface);
  write(line + (outcome == Outcome::Failed  ? " failed\n"
                : outcome == Outcome::Waits ? " rendering\n"
                                            : "\n"));
}

void CallLog::surface_made(uint64_t number, uint32_t id) const {
  if (!fd_.valid()) return;
  char line[64];
  std::snprintf(line, sizeof line, "surface=%llu id=0x%x\n",
                static_cast<unsigned long long>(number), id);
  write(line);
}

// One call per line: O_APPEND then keeps lines of many threads and processes whole.
void CallLog::write(const std::string& line) const {
  // A full disk loses lines; whoever reads the log sees that there are too few.
  [[maybe_unused]] const ssize_t written = ::write(fd_.get(), line.data(), line.size());
}

}  // namespace dxva::softva
