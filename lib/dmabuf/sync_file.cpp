// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/dmabuf/sync_file.hpp"

#include <linux/dma-buf.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <cerrno>

namespace dxva::dmabuf {
namespace {

// Of linux/dma-buf.h 6.0; distributions' headers are older than the kernels they run on.
struct ExportSyncFile {
  uint32_t flags = 0;
  int32_t fd = -1;
};
constexpr unsigned long kExportSyncFile = _IOWR(DMA_BUF_BASE, 2, ExportSyncFile);

constexpr int kPatienceMs = 10000;  // amdgpu's and i915's job time-outs, the longest known

int poll_for_writers(int fd, int timeout_ms) {
  // linux dma-buf.c: POLLIN means that a reader need not wait.
  pollfd asked{.fd = fd, .events = POLLIN, .revents = 0};
  int ready;
  do {
    ready = ::poll(&asked, 1, timeout_ms);
  } while (ready < 0 && (errno == EINTR || errno == EAGAIN));
  return ready;
}

}  // namespace

bool write_pending(int dmabuf) {
  return poll_for_writers(dmabuf, 0) == 0;
}

Result<UniqueFd> export_write_fence(int dmabuf) {
  // "Read" is what the caller is about to do: the kernel answers with what a reader waits for.
  ExportSyncFile request{.flags = DMA_BUF_SYNC_READ};
  int result;
  do {
    result = ::ioctl(dmabuf, kExportSyncFile, &request);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  if (result != 0) {
    Error error = errno_error("DMA_BUF_IOCTL_EXPORT_SYNC_FILE");
    if (error.native == ENOTTY || error.native == EINVAL) error.code = ErrorCode::Unsupported;
    return error;
  }
  return UniqueFd{request.fd};
}

Status wait_for_fence(int fd) {
  const int ready = poll_for_writers(fd, kPatienceMs);
  if (ready > 0) return Done{};
  Error error =
      ready < 0 ? errno_error("poll") : Error{.code = ErrorCode::Failed, .call = "poll"};
  error.reason = Reason::SyncFailed;
  if (ready == 0) error.text = "the fence does not signal";
  return error;
}

}  // namespace dxva::dmabuf
