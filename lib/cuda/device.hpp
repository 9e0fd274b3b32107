// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// A GPU of NVIDIA's as CUDA and NVDEC see it. lib/cuda is the only folder that knows CUDA; a
// machine without libcuda.so.1 has this feature less and nothing else.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/device_uuids.hpp"
#include "lib/base/result.hpp"

struct CUctx_st;
struct CUstream_st;

namespace dxva::cuda {

// What the `device` property may say of CUDA.
struct DeviceChoice {
  std::optional<uint32_t> ordinal;        // CUDA's number
  std::optional<DeviceUuids::Uuid> uuid;  // the GPU's, as Vulkan and OpenGL tell it
  // "cuda" → any, "cuda:1" → that one. Nothing: it says something else.
  [[nodiscard]] static std::optional<DeviceChoice> parse(std::string_view text);
};

// cudaVideoCodec.
enum class VideoCodec { Mpeg2 = 1, H264 = 4, Jpeg = 5, Hevc = 8, Vp8 = 9, Vp9 = 10, Av1 = 11 };

// Of 4:2:0 pictures.
struct DecodeCaps {
  uint32_t min_width = 0, min_height = 0;  // pixels
  uint32_t max_width = 0, max_height = 0;
  uint32_t max_macroblocks = 0;  // of 16x16 pixels
};

// One CUDA context for a device and process, shared by everybody who has memory or a decoder in
// it; the last one ends it. A context of our own and not the device's primary one: an error in
// the application's kernels would be ours then, and the reverse. Thread-safe.
class Device {
 public:
  // The first that fits. Refusals: NoDevice.
  [[nodiscard]] static Result<std::shared_ptr<Device>> open(const DeviceChoice& choice);
  // 0 also where there is no driver. Starts CUDA.
  [[nodiscard]] static uint32_t count();
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }  // "NVIDIA …"
  [[nodiscard]] const std::string& id() const { return id_; }      // "cuda:0"
  [[nodiscard]] const DeviceUuids::Uuid& uuid() const { return uuid_; }
  [[nodiscard]] int handle() const { return handle_; }
  [[nodiscard]] CUctx_st* context() const { return context_; }
  // It makes memory that others can be given (POSIX descriptors).
  [[nodiscard]] bool exports_memory() const { return exports_memory_; }
  // Nothing: NVDEC has no such decoder on this GPU.
  [[nodiscard]] std::optional<DecodeCaps> decode_caps(VideoCodec codec,
                                                      uint32_t bit_depth) const;
  struct Memory {
    uint64_t free_bytes = 0;
    uint64_t total_bytes = 0;
  };
  [[nodiscard]] Result<Memory> memory() const;

  // After a failure: whether the context answers anything any more. Who holds a lost device
  // keeps it; who opens it from then on gets a new context.
  bool look_for_loss();
  [[nodiscard]] bool is_lost() const { return lost_; }

 private:
  Device() = default;
  [[nodiscard]] static Result<std::shared_ptr<Device>> start(int ordinal);

  int handle_ = 0;
  std::string name_;
  std::string id_;
  DeviceUuids::Uuid uuid_{};
  bool exports_memory_ = false;
  CUctx_st* context_ = nullptr;
  std::atomic<bool> lost_{false};
};

// A queue of the device's work. Reentrant.
class Stream {
 public:
  [[nodiscard]] static Result<std::shared_ptr<Stream>> create(std::shared_ptr<Device> device);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  [[nodiscard]] CUstream_st* get() const { return stream_; }
  [[nodiscard]] const std::shared_ptr<Device>& device() const { return device_; }

 private:
  Stream(std::shared_ptr<Device> device, CUstream_st* stream)
      : device_(std::move(device)), stream_(stream) {}
  const std::shared_ptr<Device> device_;
  CUstream_st* const stream_;
};

}  // namespace dxva::cuda
