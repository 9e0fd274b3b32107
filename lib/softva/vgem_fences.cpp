// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/vgem_fences.hpp"

#include <drm.h>
#include <drm_mode.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace dxva::softva {
namespace {

// Of drm/vgem_drm.h and linux/dma-buf.h 6.0, which distributions' headers lack.
struct FenceAttach {
  uint32_t handle = 0;
  uint32_t flags = 0;
  uint32_t out_fence = 0;
  uint32_t pad = 0;
};
struct FenceSignal {
  uint32_t fence = 0;
  uint32_t flags = 0;
};
constexpr uint32_t kFenceWrites = 1;
constexpr unsigned long kFenceAttach = DRM_IOWR(DRM_COMMAND_BASE + 1, FenceAttach);
constexpr unsigned long kFenceSignal = DRM_IOW(DRM_COMMAND_BASE + 2, FenceSignal);

struct SyncFile {
  uint32_t flags = 0;
  int32_t fd = -1;
};
constexpr unsigned long kExportSyncFile = _IOWR(DMA_BUF_BASE, 2, SyncFile);
constexpr unsigned long kImportSyncFile = _IOW(DMA_BUF_BASE, 3, SyncFile);

constexpr int kMaxNodes = 64;  // DRM minors of one kind
constexpr uint32_t kBufferBytes = 4096;

int call(int fd, unsigned long request, void* argument) {
  int result;
  do {
    result = ::ioctl(fd, request, argument);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  return result;
}

bool is_vgem(int node) {
  char name[16] = {};
  drm_version version{};
  version.name = name;
  version.name_len = sizeof name - 1;
  return call(node, DRM_IOCTL_VERSION, &version) == 0 && std::strcmp(name, "vgem") == 0;
}

// A buffer of vgem's that carries one fence: a second one on the same buffer is refused while
// the first has not signalled.
class Carrier {
 public:
  explicit Carrier(int node) : node_(node) {}
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
  ~Carrier() {
    if (handle_ == 0) return;
    drm_gem_close request{};
    request.handle = handle_;
    call(node_, DRM_IOCTL_GEM_CLOSE, &request);
  }

  Status make() {
    drm_mode_create_dumb dumb{};
    dumb.width = kBufferBytes;
    dumb.height = 1;
    dumb.bpp = 8;
    if (call(node_, DRM_IOCTL_MODE_CREATE_DUMB, &dumb) != 0)
      return errno_error("DRM_IOCTL_MODE_CREATE_DUMB");
    handle_ = dumb.handle;
    drm_prime_handle prime{};
    prime.handle = handle_;
    prime.flags = DRM_CLOEXEC;
    if (call(node_, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime) != 0)
      return errno_error("DRM_IOCTL_PRIME_HANDLE_TO_FD");
    dmabuf_.reset(prime.fd);
    return Done{};
  }

  Result<uint32_t> attach() const {
    FenceAttach request{.handle = handle_, .flags = kFenceWrites};
    if (call(node_, kFenceAttach, &request) != 0) return errno_error("VGEM_FENCE_ATTACH");
    return request.out_fence;
  }

  Result<UniqueFd> sync_file() const {
    SyncFile request{.flags = DMA_BUF_SYNC_READ};
    if (call(dmabuf_.get(), kExportSyncFile, &request) != 0)
      return errno_error("DMA_BUF_IOCTL_EXPORT_SYNC_FILE");
    return UniqueFd{request.fd};
  }

 private:
  const int node_;
  uint32_t handle_ = 0;
  UniqueFd dmabuf_;
};

}  // namespace

Result<std::shared_ptr<VgemFences>> VgemFences::open() {
  // The primary node: a render node makes no buffers.
  for (int number = 0; number < kMaxNodes; ++number) {
    const std::string path = "/dev/dri/card" + std::to_string(number);
    UniqueFd node{::open(path.c_str(), O_RDWR | O_CLOEXEC)};
    if (node.valid() && is_vgem(node.get()))
      return std::shared_ptr<VgemFences>(new VgemFences(std::move(node)));
  }
  return Error{.code = ErrorCode::Unsupported,
               .call = "open",
               .text = "no DRM node of the driver vgem can be opened"};
}

Result<std::unique_ptr<VgemFences::Writing>> VgemFences::write(
    const std::shared_ptr<VgemFences>& fences, std::span<const int> dmabufs) {
  Carrier carrier(fences->node_.get());
  if (auto made = carrier.make(); !made) return made.error();
  const auto fence = carrier.attach();
  if (!fence) return fence.error();
  // Signals it on every way out of here.
  auto writing = std::make_unique<Writing>(fences, *fence);
  const auto file = carrier.sync_file();
  if (!file) return file.error();
  for (const int dmabuf : dmabufs) {
    SyncFile request{.flags = DMA_BUF_SYNC_WRITE, .fd = file->get()};
    if (call(dmabuf, kImportSyncFile, &request) != 0)
      return errno_error("DMA_BUF_IOCTL_IMPORT_SYNC_FILE");
  }
  return writing;
}

void VgemFences::signal(uint32_t fence) const {
  FenceSignal request{.fence = fence};
  // ETIMEDOUT: it has signalled by itself.
  (void)call(node_.get(), kFenceSignal, &request);
}

}  // namespace dxva::softva
