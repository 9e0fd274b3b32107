// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/memory.hpp"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <utility>

namespace dxva::softva {
namespace {

constexpr char kDmaHeap[] = "/dev/dma_heap/system";
constexpr char kUdmabuf[] = "/dev/udmabuf";
constexpr uint64_t kProbeBytes = 4096;
constexpr uint64_t kMaxImportBytes = UINT32_MAX;  // the descriptor's sizes are 32-bit
constexpr long kDmabufMagic = 0x444d4142;         // linux/magic.h DMA_BUF_MAGIC

Result<UniqueFd> allocate_memfd(uint64_t size_bytes) {
  UniqueFd fd{::memfd_create("dxvasoft", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!fd.valid()) return errno_error("memfd_create");
  if (::ftruncate(fd.get(), static_cast<off_t>(size_bytes)) != 0)
    return errno_error("ftruncate");
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    return errno_error("F_ADD_SEALS");
  return fd;
}

Result<UniqueFd> allocate_udmabuf(uint64_t size_bytes) {
  const UniqueFd device{::open(kUdmabuf, O_RDWR | O_CLOEXEC)};
  if (!device.valid()) return errno_error("open /dev/udmabuf");
  auto pages = allocate_memfd(size_bytes);
  if (!pages) return pages.error();
  struct udmabuf_create request {};
  request.memfd = static_cast<uint32_t>(pages->get());
  request.flags = UDMABUF_FLAGS_CLOEXEC;
  request.size = size_bytes;
  UniqueFd fd{::ioctl(device.get(), UDMABUF_CREATE, &request)};
  if (!fd.valid()) return errno_error("UDMABUF_CREATE");
  return fd;
}

Result<UniqueFd> allocate_dma_heap(uint64_t size_bytes) {
  const UniqueFd device{::open(kDmaHeap, O_RDONLY | O_CLOEXEC)};
  if (!device.valid()) return errno_error("open /dev/dma_heap/system");
  struct dma_heap_allocation_data request {};
  request.len = size_bytes;
  request.fd_flags = O_RDWR | O_CLOEXEC;
  if (::ioctl(device.get(), DMA_HEAP_IOCTL_ALLOC, &request) != 0)
    return errno_error("DMA_HEAP_IOCTL_ALLOC");
  return UniqueFd{static_cast<int>(request.fd)};
}

// GL may give what it makes of the memory more room than the picture takes, and must find that
// too: whole blocks of rows of a tall texture, 64 bytes behind a buffer.
constexpr uint64_t kRoomBehindBytes = 64 * 1024;

// One device for all surfaces of the process, as long as one of them lives.
Result<std::shared_ptr<vulkan::MemoryExporter>> shared_exporter() {
  static std::mutex lock;
  static std::weak_ptr<vulkan::MemoryExporter> known;
  const std::lock_guard guard(lock);
  if (auto exporter = known.lock()) return exporter;
  auto opened = vulkan::MemoryExporter::open(std::nullopt);
  if (opened) known = *opened;
  return opened;
}

Error refused(Reason reason, const char* text) {
  return Error{.code = ErrorCode::BadInput, .call = "import", .text = text, .reason = reason};
}

}  // namespace

std::optional<MemoryKind> memory_kind(std::string_view name) {
  if (name == "dma-heap") return MemoryKind::DmaHeap;
  if (name == "udmabuf") return MemoryKind::Udmabuf;
  if (name == "memfd") return MemoryKind::Memfd;
  if (name == "vulkan") return MemoryKind::Vulkan;
  return std::nullopt;
}

const char* memory_kind_name(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::DmaHeap:
      return "dma-heap";
    case MemoryKind::Udmabuf:
      return "udmabuf";
    case MemoryKind::Memfd:
      return "memfd";
    case MemoryKind::Vulkan:
      return "vulkan";
  }
  return "unknown";
}

Result<MemoryKind> best_memory_kind() {
  for (const MemoryKind kind : {MemoryKind::DmaHeap, MemoryKind::Udmabuf})
    if (Memory::allocate(kind, kProbeBytes)) return kind;
  if (auto memfd = Memory::allocate(MemoryKind::Memfd, kProbeBytes); !memfd)
    return memfd.error();
  return MemoryKind::Memfd;
}

Memory::Memory()
    : id_([] {
        // A driver that was unloaded and comes back must not start where it started before.
        static std::atomic<uint64_t> last{
            static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count())};
        return ++last;
      }()) {}

Result<std::shared_ptr<Memory>> Memory::allocate_from_vulkan(uint64_t size_bytes) {
  auto exporter = shared_exporter();
  if (!exporter) return exporter.error();
  auto block = (*exporter)->allocate(size_bytes + kRoomBehindBytes, vulkan::Placement::Host);
  if (!block) return block.error();
  std::shared_ptr<Memory> memory(new Memory);
  memory->opaque_ = std::move(*block);
  memory->uuids_ = (*exporter)->uuids();
  memory->data_ = memory->opaque_->data();
  memory->size_bytes_ = memory->opaque_->size_bytes();
  return memory;
}

Result<std::shared_ptr<Memory>> Memory::allocate(MemoryKind kind, uint64_t size_bytes) {
  if (kind == MemoryKind::Vulkan) return allocate_from_vulkan(size_bytes);
  Result<UniqueFd> fd = kind == MemoryKind::DmaHeap   ? allocate_dma_heap(size_bytes)
                        : kind == MemoryKind::Udmabuf ? allocate_udmabuf(size_bytes)
                                                      : allocate_memfd(size_bytes);
  if (!fd) return fd.error();
  return map(std::move(*fd), size_bytes, kind != MemoryKind::Memfd);
}

Result<std::shared_ptr<Memory>> Memory::import(int fd) {
  // Asked of the stranger's descriptor before anything that could block on it.
  struct statfs filesystem {};
  if (::fstatfs(fd, &filesystem) != 0) return errno_error("fstatfs");
  const bool dmabuf = static_cast<long>(filesystem.f_type) == kDmabufMagic;
  if (!dmabuf) {
    const int seals = ::fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK))
      return refused(Reason::NotADmabuf,
                     "neither a dma-buf nor a memfd sealed against shrinking");
  }
  const off_t size = ::lseek(fd, 0, SEEK_END);
  if (size < 0) return errno_error("lseek");
  if (size == 0 || static_cast<uint64_t>(size) > kMaxImportBytes)
    return refused(Reason::SizeOutOfRange, "empty, or above 4 GiB");
  UniqueFd own = UniqueFd::duplicate(fd);
  if (!own.valid()) return errno_error("duplicate descriptor");
  return map(std::move(own), static_cast<uint64_t>(size), dmabuf);
}

Result<std::shared_ptr<Memory>> Memory::map(UniqueFd fd, uint64_t size_bytes, bool dmabuf) {
  void* data = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (data == MAP_FAILED) return errno_error("mmap");
  std::shared_ptr<Memory> memory(new Memory);
  memory->fd_ = std::move(fd);
  memory->data_ = static_cast<uint8_t*>(data);
  memory->size_bytes_ = size_bytes;
  memory->dmabuf_ = dmabuf;
  return memory;
}

Memory::~Memory() {
  if (data_ && !opaque_) ::munmap(data_, size_bytes_);
}

Result<UniqueFd> Memory::share_fd() const {
  if (opaque_) return opaque_->share_fd();
  UniqueFd copy = fd_.duplicate();
  if (!copy.valid()) return errno_error("duplicate descriptor");
  return copy;
}

namespace {

void sync_dmabuf(int fd, uint64_t flags) {
  struct dma_buf_sync request {};
  request.flags = flags;
  // A signal may interrupt it. Other failures leave the pixels as they are, and there is
  // nothing better to do with them.
  while (::ioctl(fd, DMA_BUF_IOCTL_SYNC, &request) != 0 &&
         (errno == EINTR || errno == EAGAIN)) {
  }
}

}  // namespace

CpuAccess::CpuAccess(std::shared_ptr<const Memory> memory, Mode mode)
    : memory_(std::move(memory)),
      flags_(mode == Mode::Read    ? DMA_BUF_SYNC_READ
             : mode == Mode::Write ? DMA_BUF_SYNC_WRITE
                                   : DMA_BUF_SYNC_RW),
      tells_kernel_(memory_->dmabuf_ && mode != Mode::FencedWrite) {
  if (tells_kernel_) sync_dmabuf(memory_->fd(), flags_ | DMA_BUF_SYNC_START);
}

CpuAccess::~CpuAccess() {
  if (tells_kernel_) sync_dmabuf(memory_->fd(), flags_ | DMA_BUF_SYNC_END);
}

}  // namespace dxva::softva
