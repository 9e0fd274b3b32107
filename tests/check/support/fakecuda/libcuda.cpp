// SPDX-License-Identifier: LGPL-2.1-or-later
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/cuda/api.hpp"
#include "lib/vulkan/memory_exporter.hpp"
#include "tests/check/support/fakecuda/fake_cuda.hpp"

using namespace dxva;

struct CUctx_st {
  int pushed = 0;
};

struct CUevent_st {
  CUstream_st* stream = nullptr;
  uint64_t position = 0;  // of the stream, when it was recorded
  int asked = 0;
};

namespace {

constexpr int kInvalidValue = 1;
constexpr int kLaunchFailed = 719;
constexpr int kNotSupported = 801;
constexpr int kTimesAsked = 2;  // before a copy is made
constexpr size_t kGranularity = size_t{2} << 20;
constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING

std::recursive_mutex everything;
std::map<uint64_t, std::shared_ptr<vulkan::ExportableMemory>> allocations;
std::map<uint64_t, std::shared_ptr<vulkan::ExportableMemory>> mappings;  // by address
uint64_t next_handle = 1;
uint64_t next_address = uint64_t{1} << 46;  // where nothing of a process is
unsigned copies = 0;
unsigned events = 0;
std::atomic<bool> device_is_lost = false;
std::atomic<unsigned> losses = 0;
CUstream_st default_stream;
thread_local std::vector<CUctx_st*> stack;

struct Live {
  std::atomic<int> contexts = 0, streams = 0, events = 0, blocks = 0, reservations = 0;
} live;

std::shared_ptr<vulkan::MemoryExporter> exporter() {
  static const auto opened = vulkan::MemoryExporter::open(std::nullopt);
  return opened ? *opened : nullptr;
}

}  // namespace

namespace fakecuda {

bool fault(const char* word) {
  const char* all = std::getenv("DXVA_FAKE_CUDA");
  return all && std::strstr(all, word);
}

bool fails_from(const char* word, unsigned& calls) {
  const char* all = std::getenv("DXVA_FAKE_CUDA");
  const char* found = all ? std::strstr(all, word) : nullptr;
  if (!found) {
    calls = 0;
    return false;
  }
  return ++calls >= std::strtoul(found + std::strlen(word) + 1, nullptr, 10);
}

void lose() {
  if (!device_is_lost.exchange(true)) ++losses;
}

bool is_lost() {
  return device_is_lost;
}

uint8_t* host_address(uint64_t device_address) {
  const std::lock_guard guard(everything);
  auto after = mappings.upper_bound(device_address);
  if (after != mappings.begin()) {
    const auto& [begin, memory] = *std::prev(after);
    if (device_address < begin + memory->size_bytes())
      return memory->data() + (device_address - begin);
  }
  return reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(device_address));
}

void enqueue(CUstream_st* stream, Work work) {
  if (!stream) stream = &default_stream;
  const std::lock_guard guard(stream->lock);
  if (stream == &default_stream && stream->work.empty()) stream->losses_before = losses;
  stream->work.push_back(std::move(work));
}

}  // namespace fakecuda

namespace {

uint64_t end_of(CUstream_st* stream) {
  const std::lock_guard guard(stream->lock);
  return stream->done + stream->work.size();
}

void run_until(CUstream_st* stream, uint64_t position) {
  if (stream != &default_stream && stream->waits_for_default)
    run_until(&default_stream, end_of(&default_stream));
  const std::lock_guard guard(stream->lock);
  // What a lost device had in its queues is never done.
  if (stream->losses_before != losses) {
    stream->done += stream->work.size();
    stream->work.clear();
  }
  while (stream->done < position && !stream->work.empty()) {
    stream->work.front().run();
    stream->work.pop_front();
    ++stream->done;
  }
}

int answer(int good = 0) {
  return device_is_lost ? kLaunchFailed : good;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// What is there, for tests that count: "contexts", "streams", "events", "blocks",
// "reservations".
int fake_cuda_live(const char* what) {
  const std::string name = what;
  if (name == "contexts") return live.contexts;
  if (name == "streams") return live.streams;
  if (name == "events") return live.events;
  if (name == "blocks") return live.blocks;
  return live.reservations;
}

int cuInit(unsigned) {
  return 0;
}
int cuDriverGetVersion(int* version) {
  *version = 12000;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = fakecuda::fault("no-device") ? 0 : 1;
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? 0 : 101;
}
int cuDeviceGetName(char* name, int length, int) {
  std::strncpy(name, "Fake CUDA", static_cast<size_t>(length));
  return 0;
}
int cuDeviceGetUuid(cuda::Uuid* uuid, int) {
  std::memset(uuid, 0x5a, sizeof *uuid);
  if (const auto memory = exporter())
    std::memcpy(uuid->bytes, memory->uuids().device.data(), sizeof uuid->bytes);
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int kTextureAlignment = 14, kPosixDescriptors = 103;
  *value = 1;
  if (attribute == kTextureAlignment) *value = 512;
  if (attribute == kPosixDescriptors && fakecuda::fault("no-export")) *value = 0;
  return 0;
}
int cuGetErrorName(int error, const char** name) {
  *name = error == kLaunchFailed ? "CUDA_ERROR_LAUNCH_FAILED"
          : error == 2           ? "CUDA_ERROR_OUT_OF_MEMORY"
                                 : "CUDA_ERROR_OF_THE_FAKE";
  return 0;
}
int cuGetErrorString(int error, const char** text) {
  return cuGetErrorName(error, text);
}

int cuCtxCreate_v2(CUctx_st** context, unsigned, int) {
  device_is_lost = false;  // a new context is a new start
  *context = new CUctx_st;
  stack.push_back(*context);
  ++live.contexts;
  return 0;
}
int cuCtxDestroy_v2(CUctx_st* context) {
  delete context;
  --live.contexts;
  return 0;
}
int cuCtxPushCurrent_v2(CUctx_st* context) {
  stack.push_back(context);
  return 0;
}
int cuCtxPopCurrent_v2(CUctx_st** context) {
  if (stack.empty()) return kInvalidValue;
  if (context) *context = stack.back();
  stack.pop_back();
  return 0;
}
int cuCtxGetDevice(int* device) {
  *device = 0;
  return 0;
}
int cuCtxGetCurrent(CUctx_st** context) {
  *context = stack.empty() ? nullptr : stack.back();
  return 0;
}

int cuStreamCreate(CUstream_st** stream, unsigned flags) {
  if (stack.empty()) return kInvalidValue;
  if (answer() != 0) return answer();
  *stream = new CUstream_st;
  (*stream)->losses_before = losses;
  (*stream)->waits_for_default = (flags & kNonBlocking) == 0;
  ++live.streams;
  return 0;
}
int cuStreamDestroy_v2(CUstream_st* stream) {
  run_until(stream, end_of(stream));
  delete stream;
  --live.streams;
  return answer();
}
int cuStreamSynchronize(CUstream_st* stream) {
  if (stream) run_until(stream, end_of(stream));
  return answer();
}
int cuStreamQuery(CUstream_st*) {
  return answer();
}

int cuEventCreate(CUevent_st** event, unsigned) {
  *event = new CUevent_st;
  ++live.events;
  return answer();
}
int cuEventDestroy_v2(CUevent_st* event) {
  delete event;
  --live.events;
  return 0;
}
int cuEventRecord(CUevent_st* event, CUstream_st* stream) {
  event->stream = stream;
  event->position = end_of(stream);
  event->asked = 0;
  return answer();
}
int cuEventQuery(CUevent_st* event) {
  if (answer() != 0) return answer();
  if (fakecuda::fails_from("event-fails-at", events)) {
    // The picture is never made. Others' reads in the same queue are: nobody told them of an
    // error.
    const std::lock_guard guard(event->stream->lock);
    for (fakecuda::Work& work : event->stream->work)
      if (!work.is_read) work.run = [] {};
    return kInvalidValue;
  }
  if (++event->asked <= kTimesAsked) return cuda::kNotReady;
  run_until(event->stream, event->position);
  return 0;
}
int cuEventSynchronize(CUevent_st* event) {
  run_until(event->stream, event->position);
  return answer();
}

int cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  *total_bytes = size_t{8} << 30;
  *free_bytes = *total_bytes - static_cast<size_t>(live.blocks) * kGranularity;
  return answer();
}
int cuMemAlloc_v2(uint64_t* address, size_t size) {
  if (answer() != 0) return answer();
  if (fakecuda::fault("oom")) return cuda::kOutOfMemory;
  *address = reinterpret_cast<uintptr_t>(std::calloc(1, size));
  ++live.blocks;
  return 0;
}
int cuMemFree_v2(uint64_t address) {
  std::free(reinterpret_cast<void*>(static_cast<uintptr_t>(address)));
  --live.blocks;
  return 0;
}
int cuMemGetAllocationGranularity(size_t* bytes, const cuda::MemAllocationProp*, int) {
  *bytes = kGranularity;
  return answer();
}
int cuMemCreate(uint64_t* handle, size_t size, const cuda::MemAllocationProp* prop, uint64_t) {
  if (answer() != 0) return answer();
  if (fakecuda::fault("oom")) return cuda::kOutOfMemory;
  if (size % kGranularity != 0 ||
      prop->requested_handle_types != cuda::MemAllocationProp::kPosixFd)
    return kInvalidValue;
  const auto from = exporter();
  if (!from) return kNotSupported;
  auto block = from->allocate(size, vulkan::Placement::Host);
  if (!block) return cuda::kOutOfMemory;
  const std::lock_guard guard(everything);
  *handle = next_handle++;
  allocations[*handle] = std::move(*block);
  ++live.blocks;
  return 0;
}
int cuMemRelease(uint64_t handle) {
  const std::lock_guard guard(everything);
  live.blocks -= static_cast<int>(allocations.erase(handle));
  return 0;
}
int cuMemAddressReserve(uint64_t* address, size_t size, size_t, uint64_t, uint64_t) {
  const std::lock_guard guard(everything);
  *address = next_address;
  next_address += size + kGranularity;
  ++live.reservations;
  return answer();
}
int cuMemAddressFree(uint64_t, size_t) {
  --live.reservations;
  return 0;
}
int cuMemMap(uint64_t address, size_t, size_t, uint64_t handle, uint64_t) {
  const std::lock_guard guard(everything);
  mappings[address] = allocations.at(handle);
  return answer();
}
int cuMemUnmap(uint64_t address, size_t) {
  const std::lock_guard guard(everything);
  mappings.erase(address);
  return 0;
}
int cuMemSetAccess(uint64_t, size_t, const cuda::MemAccess*, size_t) {
  return answer();
}
int cuMemExportToShareableHandle(void* handle_out, uint64_t handle, int, uint64_t) {
  if (fakecuda::fault("export-fails")) return kNotSupported;
  const std::lock_guard guard(everything);
  auto fd = allocations.at(handle)->share_fd();
  if (!fd) return kNotSupported;
  *static_cast<int*>(handle_out) = fd->release();
  return answer();
}

int cuMemcpy2DAsync_v2(const cuda::Memcpy2D* copy, CUstream_st* stream) {
  if (stack.empty()) return kInvalidValue;
  if (fakecuda::fails_from("lost-at", copies)) fakecuda::lose();
  if (answer() != 0) return answer();
  const auto start = [](const cuda::Memcpy2D::Side& side) {
    return (side.type == cuda::Memcpy2D::kHost ? static_cast<uint8_t*>(side.host)
                                               : fakecuda::host_address(side.device)) +
           side.y * side.pitch_bytes + side.x_bytes;
  };
  const auto run = [from = start(copy->from), to = start(copy->to), c = *copy] {
    for (size_t row = 0; row < c.height; ++row)
      std::memcpy(to + row * c.to.pitch_bytes, from + row * c.from.pitch_bytes, c.width_bytes);
  };
  fakecuda::enqueue(stream, {.run = run, .is_read = copy->to.type == cuda::Memcpy2D::kHost});
  return 0;
}

// libavutil wants all of these to be there, and calls none of them for decoding.
#define NEVER(name)       \
  int name() {            \
    return kNotSupported; \
  }
NEVER(cuDeviceComputeCapability)
NEVER(cuCtxSetLimit)
NEVER(cuMemAllocPitch_v2)
NEVER(cuMemAllocManaged)
NEVER(cuMemsetD8Async)
NEVER(cuMemcpy)
NEVER(cuMemcpyAsync)
NEVER(cuMemcpy2D_v2)
NEVER(cuMemcpyHtoD_v2)
NEVER(cuMemcpyHtoDAsync_v2)
NEVER(cuMemcpyDtoH_v2)
NEVER(cuMemcpyDtoHAsync_v2)
NEVER(cuMemcpyDtoD_v2)
NEVER(cuMemcpyDtoDAsync_v2)
NEVER(cuDevicePrimaryCtxRetain)
NEVER(cuDevicePrimaryCtxRelease)
NEVER(cuDevicePrimaryCtxSetFlags)
NEVER(cuDevicePrimaryCtxGetState)
NEVER(cuDevicePrimaryCtxReset)
NEVER(cuStreamAddCallback)
NEVER(cuStreamWaitEvent)
NEVER(cuLaunchKernel)
NEVER(cuLinkCreate)
NEVER(cuLinkAddData)
NEVER(cuLinkComplete)
NEVER(cuLinkDestroy)
NEVER(cuModuleLoadData)
NEVER(cuModuleUnload)
NEVER(cuModuleGetFunction)
NEVER(cuModuleGetGlobal)
NEVER(cuTexObjectCreate)
NEVER(cuTexObjectDestroy)
NEVER(cuGLGetDevices_v2)
NEVER(cuGraphicsGLRegisterImage)
NEVER(cuGraphicsUnregisterResource)
NEVER(cuGraphicsMapResources)
NEVER(cuGraphicsUnmapResources)
NEVER(cuGraphicsSubResourceGetMappedArray)
NEVER(cuGraphicsResourceGetMappedPointer_v2)
NEVER(cuArrayCreate_v2)
NEVER(cuArray3DCreate_v2)
NEVER(cuArrayDestroy)
#undef NEVER

}  // extern "C"
#pragma GCC visibility pop
