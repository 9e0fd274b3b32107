// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/cuda/api.hpp"

#include <dlfcn.h>

#include <optional>
#include <type_traits>

namespace dxva::cuda {
namespace {

// Never closed: the driver has threads of its own.
class Library {
 public:
  explicit Library(const char* name) : handle_(::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) missing_ = name;
  }
  template <typename Function>
  void load(Function& function, const char* name) {
    if (handle_) function = reinterpret_cast<Function>(::dlsym(handle_, name));
    if (handle_ && !function && missing_.empty()) missing_ = name;
  }
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  void* handle_;
  std::string missing_;
};

struct Loaded {
  std::optional<Api> api;
  Error error{
      .code = ErrorCode::Unsupported, .call = "dlopen", .text = "", .reason = Reason::NoDevice};
};

Loaded load() {
  Loaded out;
  Api api{};
  Library cuda("libcuda.so.1");
  cuda.load(api.init, "cuInit");
  cuda.load(api.get_error_name, "cuGetErrorName");
  cuda.load(api.driver_get_version, "cuDriverGetVersion");
  cuda.load(api.device_get_count, "cuDeviceGetCount");
  cuda.load(api.device_get, "cuDeviceGet");
  cuda.load(api.device_get_name, "cuDeviceGetName");
  cuda.load(api.device_get_uuid, "cuDeviceGetUuid");
  cuda.load(api.device_get_attribute, "cuDeviceGetAttribute");
  cuda.load(api.ctx_create, "cuCtxCreate_v2");
  cuda.load(api.ctx_destroy, "cuCtxDestroy_v2");
  cuda.load(api.ctx_push_current, "cuCtxPushCurrent_v2");
  cuda.load(api.ctx_pop_current, "cuCtxPopCurrent_v2");
  cuda.load(api.stream_create, "cuStreamCreate");
  cuda.load(api.stream_destroy, "cuStreamDestroy_v2");
  cuda.load(api.stream_synchronize, "cuStreamSynchronize");
  cuda.load(api.event_create, "cuEventCreate");
  cuda.load(api.event_destroy, "cuEventDestroy_v2");
  cuda.load(api.event_record, "cuEventRecord");
  cuda.load(api.event_query, "cuEventQuery");
  cuda.load(api.mem_get_info, "cuMemGetInfo_v2");
  cuda.load(api.mem_alloc, "cuMemAlloc_v2");
  cuda.load(api.mem_free, "cuMemFree_v2");
  cuda.load(api.mem_get_allocation_granularity, "cuMemGetAllocationGranularity");
  cuda.load(api.mem_create, "cuMemCreate");
  cuda.load(api.mem_release, "cuMemRelease");
  cuda.load(api.mem_address_reserve, "cuMemAddressReserve");
  cuda.load(api.mem_address_free, "cuMemAddressFree");
  cuda.load(api.mem_map, "cuMemMap");
  cuda.load(api.mem_unmap, "cuMemUnmap");
  cuda.load(api.mem_set_access, "cuMemSetAccess");
  cuda.load(api.mem_export, "cuMemExportToShareableHandle");
  cuda.load(api.memcpy_2d_async, "cuMemcpy2DAsync_v2");
  Library decoder("libnvcuvid.so.1");
  decoder.load(api.cuvid_get_decoder_caps, "cuvidGetDecoderCaps");
  for (const Library* library : {&cuda, &decoder}) {
    if (library->missing().empty()) continue;
    out.error.text = "there is no " + library->missing();
    return out;
  }
  if (const CuResult started = api.init(0); started != kSuccess) {
    out.error.call = "cuInit";
    out.error.native = started;
    out.error.text = "the driver does not start";
    return out;
  }
  out.api = api;
  return out;
}

const Loaded& loaded() {
  static const Loaded once = load();
  return once;
}

}  // namespace

const Api* api() {
  return loaded().api ? &*loaded().api : nullptr;
}

const Error& why_no_api() {
  return loaded().error;
}

Status check(CuResult result, const char* call) {
  if (result == kSuccess) return Done{};
  const char* name = nullptr;
  if (api()) api()->get_error_name(result, &name);
  return Error{.code = result == kOutOfMemory ? ErrorCode::NoMemory : ErrorCode::Failed,
               .call = call,
               .native = result,
               .text = name ? name : "unknown error"};
}

Current::Current(CUctx_st* context)
    : status_(check(api()->ctx_push_current(context), "cuCtxPushCurrent")) {}

Current::~Current() {
  CUctx_st* popped = nullptr;
  if (status_) api()->ctx_pop_current(&popped);
}

}  // namespace dxva::cuda
