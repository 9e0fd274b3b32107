// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The part of CUDA's driver API (libcuda.so.1) and of NVDEC's (libnvcuvid.so.1) that we call.
// Both come with NVIDIA's driver and nowhere else, so they are opened when somebody asks and
// declared here: the interface is binary, versioned by symbol names, and stays. Names follow
// the driver API's manual.

#include <cstddef>
#include <cstdint>

#include "lib/base/result.hpp"

// CUDA's own names of its handles; others (libavutil) declare them too.
struct CUctx_st;
struct CUstream_st;
struct CUevent_st;

namespace dxva::cuda {

using CuResult = int;           // CUresult
using DeviceHandle = int;       // CUdevice
using DevicePtr = uint64_t;     // CUdeviceptr, 64 bits
using MemoryHandle = uint64_t;  // CUmemGenericAllocationHandle

inline constexpr CuResult kSuccess = 0;
inline constexpr CuResult kOutOfMemory = 2;
inline constexpr CuResult kNotReady = 600;

struct MemLocation {
  static constexpr int kDevice = 1;
  int type = kDevice;
  int id = 0;
};

struct MemAllocationProp {
  static constexpr int kPinned = 1;
  static constexpr int kPosixFd = 1;
  int type = kPinned;
  int requested_handle_types = kPosixFd;
  MemLocation location;
  void* win32_handle_metadata = nullptr;
  struct {
    uint8_t compression_type = 0;
    uint8_t gpu_direct_rdma_capable = 0;
    uint16_t usage = 0;
    uint8_t reserved[4] = {};
  } flags;
};
static_assert(sizeof(MemAllocationProp) == 32);

struct MemAccess {
  static constexpr int kReadWrite = 3;
  MemLocation location;
  int flags = kReadWrite;
};

struct Memcpy2D {
  static constexpr int kHost = 1;
  static constexpr int kDevice = 2;
  struct Side {
    size_t x_bytes = 0;
    size_t y = 0;
    int type = kDevice;
    void* host = nullptr;
    DevicePtr device = 0;
    void* array = nullptr;
    size_t pitch_bytes = 0;
  };
  Side from;
  Side to;
  size_t width_bytes = 0;
  size_t height = 0;
};
static_assert(sizeof(Memcpy2D) == 128);

struct Uuid {
  uint8_t bytes[16];
};

// CUVIDDECODECAPS of the Video Codec SDK 8 and later.
struct CuvidDecodeCaps {
  int codec = 0;  // in: cudaVideoCodec
  int chroma_format = 0;
  unsigned bit_depth_minus_8 = 0;
  unsigned reserved1[3] = {};
  uint8_t is_supported = 0;  // out, as all that follow
  uint8_t decoders = 0;
  uint16_t output_formats = 0;
  unsigned max_width = 0;
  unsigned max_height = 0;
  unsigned max_macroblocks = 0;
  uint16_t min_width = 0;
  uint16_t min_height = 0;
  unsigned reserved2[11] = {};
};
static_assert(sizeof(CuvidDecodeCaps) == 88);

// All of it or nothing. Each member is the entry point of the name in load().
struct Api {
  CuResult (*init)(unsigned flags);
  CuResult (*get_error_name)(CuResult error, const char** name);
  CuResult (*driver_get_version)(int* version);
  CuResult (*device_get_count)(int* count);
  CuResult (*device_get)(DeviceHandle* device, int ordinal);
  CuResult (*device_get_name)(char* name, int length, DeviceHandle device);
  CuResult (*device_get_uuid)(Uuid* uuid, DeviceHandle device);
  CuResult (*device_get_attribute)(int* value, int attribute, DeviceHandle device);
  CuResult (*ctx_create)(CUctx_st** context, unsigned flags, DeviceHandle device);
  CuResult (*ctx_destroy)(CUctx_st* context);
  CuResult (*ctx_push_current)(CUctx_st* context);
  CuResult (*ctx_pop_current)(CUctx_st** context);
  CuResult (*stream_create)(CUstream_st** stream, unsigned flags);
  CuResult (*stream_destroy)(CUstream_st* stream);
  CuResult (*stream_synchronize)(CUstream_st* stream);
  CuResult (*event_create)(CUevent_st** event, unsigned flags);
  CuResult (*event_destroy)(CUevent_st* event);
  CuResult (*event_record)(CUevent_st* event, CUstream_st* stream);
  CuResult (*event_query)(CUevent_st* event);
  CuResult (*mem_get_info)(size_t* free_bytes, size_t* total_bytes);
  CuResult (*mem_alloc)(DevicePtr* address, size_t size_bytes);
  CuResult (*mem_free)(DevicePtr address);
  CuResult (*mem_get_allocation_granularity)(size_t* bytes, const MemAllocationProp* prop,
                                             int option);
  CuResult (*mem_create)(MemoryHandle* handle, size_t size_bytes, const MemAllocationProp* prop,
                         uint64_t flags);
  CuResult (*mem_release)(MemoryHandle handle);
  CuResult (*mem_address_reserve)(DevicePtr* address, size_t size_bytes, size_t alignment,
                                  DevicePtr wish, uint64_t flags);
  CuResult (*mem_address_free)(DevicePtr address, size_t size_bytes);
  CuResult (*mem_map)(DevicePtr address, size_t size_bytes, size_t offset, MemoryHandle handle,
                      uint64_t flags);
  CuResult (*mem_unmap)(DevicePtr address, size_t size_bytes);
  CuResult (*mem_set_access)(DevicePtr address, size_t size_bytes, const MemAccess* access,
                             size_t count);
  CuResult (*mem_export)(void* handle_out, MemoryHandle handle, int type, uint64_t flags);
  CuResult (*memcpy_2d_async)(const Memcpy2D* copy, CUstream_st* stream);

  CuResult (*cuvid_get_decoder_caps)(CuvidDecodeCaps* caps);
};

// Opened once and for the process's life. Null: there is no driver of NVIDIA's here, or one
// that is too old (CUDA 10.2, which has exportable memory, is the oldest); why() tells.
// Thread-safe.
[[nodiscard]] const Api* api();
[[nodiscard]] const Error& why_no_api();

// Done, or the error under CUDA's own name for it. `call` is the entry point's name.
[[nodiscard]] Status check(CuResult result, const char* call);

// Makes a context current in this thread as long as it lives, and puts the one before back.
class Current {
 public:
  explicit Current(CUctx_st* context);
  ~Current();
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  // A context whose device is gone cannot be made current.
  [[nodiscard]] const Status& status() const { return status_; }
  explicit operator bool() const { return bool(status_); }

 private:
  Status status_;
};

}  // namespace dxva::cuda
