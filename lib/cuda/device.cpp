// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/cuda/device.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <utility>

#include "lib/base/log.hpp"
#include "lib/cuda/api.hpp"

namespace dxva::cuda {
namespace {

// CUdevice_attribute
constexpr int kVirtualMemoryManagement = 102;
constexpr int kPosixDescriptors = 103;

constexpr unsigned kBlockingSync = 4;  // CU_CTX_SCHED_BLOCKING_SYNC: no spinning
// Not CU_STREAM_NON_BLOCKING: NVDEC makes JPEG pictures on the default stream, and only this
// kind waits for that. The context is ours, so nobody else uses its default stream.
constexpr unsigned kDefaultFlags = 0;
constexpr int kChroma420 = 1;  // cudaVideoChromaFormat_420
constexpr unsigned kMacroblock = 16;

Error no_device(std::string text) {
  return Error{.code = ErrorCode::Unsupported,
               .call = "open device",
               .text = std::move(text),
               .reason = Reason::NoDevice};
}

// Contexts by ordinal. Starts happen under its lock, so that two elements never start two.
struct Registry {
  std::mutex lock;
  std::map<int, std::weak_ptr<Device>> devices;
  // CUDA does not survive fork(): in a child every call fails, some of them by hanging.
  const pid_t process = ::getpid();
};

Registry& registry() {
  static auto* const forever = new Registry;
  return *forever;
}

Result<DeviceUuids::Uuid> uuid_of(int ordinal, DeviceHandle& handle) {
  if (auto got = check(api()->device_get(&handle, ordinal), "cuDeviceGet"); !got)
    return got.error();
  Uuid uuid{};
  if (auto got = check(api()->device_get_uuid(&uuid, handle), "cuDeviceGetUuid"); !got)
    return got.error();
  DeviceUuids::Uuid out{};
  std::copy(std::begin(uuid.bytes), std::end(uuid.bytes), out.begin());
  return out;
}

}  // namespace

std::optional<DeviceChoice> DeviceChoice::parse(std::string_view text) {
  constexpr std::string_view kCuda = "cuda";
  if (text == kCuda) return DeviceChoice{};
  if (!text.starts_with("cuda:")) return std::nullopt;
  text.remove_prefix(kCuda.size() + 1);
  uint32_t ordinal = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ordinal);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return DeviceChoice{.ordinal = ordinal, .uuid = std::nullopt};
}

uint32_t Device::count() {
  int count = 0;
  if (::getpid() != registry().process || !api()) return 0;
  return api()->device_get_count(&count) == kSuccess && count > 0 ? static_cast<uint32_t>(count)
                                                                  : 0;
}

Result<std::shared_ptr<Device>> Device::start(int ordinal) {
  std::shared_ptr<Device> out(new Device);
  auto uuid = uuid_of(ordinal, out->handle_);
  if (!uuid) return uuid.error();
  out->uuid_ = *uuid;
  out->id_ = "cuda:" + std::to_string(ordinal);
  char name[256] = {};
  if (api()->device_get_name(name, sizeof name, out->handle_) == kSuccess) out->name_ = name;
  const auto has = [&](int attribute) {
    int value = 0;
    return api()->device_get_attribute(&value, attribute, out->handle_) == kSuccess &&
           value != 0;
  };
  out->exports_memory_ = has(kVirtualMemoryManagement) && has(kPosixDescriptors);
  if (auto made =
          check(api()->ctx_create(&out->context_, kBlockingSync, out->handle_), "cuCtxCreate");
      !made)
    return made.error();
  // It is current in this thread now, which is nobody's wish.
  CUctx_st* popped = nullptr;
  api()->ctx_pop_current(&popped);
  DXVA_INFO(Cuda, "%s: %s, UUID %s, memory %s be exported", out->id_.c_str(),
            out->name_.c_str(), uuid_text(out->uuid_).c_str(),
            out->exports_memory_ ? "can" : "cannot");
  return out;
}

Result<std::shared_ptr<Device>> Device::open(const DeviceChoice& choice) {
  Registry& known = registry();
  if (::getpid() != known.process) return no_device("CUDA was started before fork()");
  if (!api()) return why_no_api();
  const auto devices = static_cast<int>(count());
  if (choice.ordinal && *choice.ordinal >= static_cast<uint32_t>(devices))
    return no_device("there is no cuda:" + std::to_string(*choice.ordinal) +
                     " (devices of CUDA: " + std::to_string(devices) + ")");
  std::string refused;
  const std::lock_guard guard(known.lock);
  for (int ordinal = 0; ordinal < devices; ++ordinal) {
    if (choice.ordinal && static_cast<int>(*choice.ordinal) != ordinal) continue;
    DeviceHandle handle = 0;
    if (choice.uuid) {
      const auto uuid = uuid_of(ordinal, handle);
      if (!uuid || *uuid != *choice.uuid) continue;
    }
    if (auto device = known.devices[ordinal].lock(); device && !device->is_lost())
      return device;
    auto started = start(ordinal);
    if (started) {
      known.devices[ordinal] = *started;
      return started;
    }
    refused += "; cuda:" + std::to_string(ordinal) + ": " + started.error().describe();
  }
  return no_device(std::to_string(devices) + " CUDA devices, none that fits" + refused);
}

Device::~Device() {
  if (context_ && ::getpid() == registry().process) api()->ctx_destroy(context_);
}

std::optional<DecodeCaps> Device::decode_caps(VideoCodec codec, uint32_t bit_depth) const {
  const Current current(context_);
  if (!current || bit_depth < 8) return std::nullopt;
  CuvidDecodeCaps caps{.codec = static_cast<int>(codec),
                       .chroma_format = kChroma420,
                       .bit_depth_minus_8 = bit_depth - 8};
  if (api()->cuvid_get_decoder_caps(&caps) != kSuccess || !caps.is_supported)
    return std::nullopt;
  return DecodeCaps{.min_width = caps.min_width,
                    .min_height = caps.min_height,
                    .max_width = caps.max_width,
                    .max_height = caps.max_height,
                    .max_macroblocks = caps.max_macroblocks};
}

Result<Device::Memory> Device::memory() const {
  const Current current(context_);
  if (!current) return current.status().error();
  size_t free_bytes = 0, total_bytes = 0;
  if (auto told = check(api()->mem_get_info(&free_bytes, &total_bytes), "cuMemGetInfo"); !told)
    return told.error();
  return Memory{.free_bytes = free_bytes, .total_bytes = total_bytes};
}

// After an error of a kernel or of the bus every call in the context fails with that error.
bool Device::look_for_loss() {
  if (const auto told = memory(); !told) {
    if (!lost_.exchange(true))
      DXVA_INFO(Cuda, "%s is lost: %s", id_.c_str(), told.error().describe().c_str());
  }
  return lost_;
}

Result<std::shared_ptr<Stream>> Stream::create(std::shared_ptr<Device> device) {
  const Current current(device->context());
  if (!current) return current.status().error();
  CUstream_st* stream = nullptr;
  if (auto made = check(api()->stream_create(&stream, kDefaultFlags), "cuStreamCreate"); !made)
    return made.error();
  return std::shared_ptr<Stream>(new Stream(std::move(device), stream));
}

Stream::~Stream() {
  const Current current(device_->context());
  if (current) api()->stream_destroy(stream_);
}

}  // namespace dxva::cuda
