// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace dxva {

// Owns one file descriptor and closes it. Frames cross threads, caches and error paths, and a
// descriptor that leaks pins a whole video surface in GPU memory.
// Thread rules: reentrant.
class UniqueFd {
 public:
  UniqueFd() = default;
  // Takes ownership of `fd`; a negative number means "none".
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  // Lends the number; it stays ours.
  [[nodiscard]] int get() const { return fd_; }
  // Gives the descriptor away; the caller closes it.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }
  // A second descriptor of the same open file, close-on-exec. Invalid on failure, errno says
  // why.
  [[nodiscard]] UniqueFd duplicate() const { return duplicate(fd_); }
  [[nodiscard]] static UniqueFd duplicate(int fd) {
    return UniqueFd{::fcntl(fd, F_DUPFD_CLOEXEC, 0)};
  }

 private:
  int fd_ = -1;
};

}  // namespace dxva
