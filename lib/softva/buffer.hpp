// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "lib/softva/frame_decoder.hpp"
#include "lib/softva/memory.hpp"

namespace dxva::softva {

struct Driver;

// A VA buffer: parameters or slices on their way to a decoder, or an image's pixels, which are
// the surface's own memory when the image was derived. Thread-safe but for the bytes, which the
// client guards.
class Buffer {
 public:
  // Zeroed. Null when there is no memory for it.
  [[nodiscard]] static std::shared_ptr<Buffer> create(VABufferType type, uint32_t element_bytes,
                                                      uint32_t element_count);
  [[nodiscard]] static std::shared_ptr<Buffer> share(std::shared_ptr<Memory> memory);

  [[nodiscard]] VABufferType type() const { return type_; }
  [[nodiscard]] uint32_t element_bytes() const { return element_bytes_; }
  [[nodiscard]] uint32_t element_count() const;
  [[nodiscard]] uint8_t* data() const { return memory_ ? memory_->data() : bytes_.get(); }
  [[nodiscard]] uint64_t size_bytes() const;

  // False: more elements than it was made for.
  [[nodiscard]] bool set_element_count(uint32_t count);
  // vaMapBuffer may be called again before vaUnmapBuffer; the last one ends the access.
  [[nodiscard]] uint8_t* map();
  // False: it was not mapped.
  [[nodiscard]] bool unmap();

  // What a decoder gets: a copy, because the client may change the buffer before vaEndPicture.
  [[nodiscard]] ParameterBuffer copy() const;

 private:
  Buffer(VABufferType type, uint32_t element_bytes, uint32_t capacity)
      : type_(type),
        element_bytes_(element_bytes),
        capacity_(capacity),
        element_count_(capacity) {}

  const VABufferType type_;
  const uint32_t element_bytes_;
  const uint32_t capacity_;  // elements
  std::unique_ptr<uint8_t[]> bytes_;
  std::shared_ptr<Memory> memory_;  // instead of bytes_, of derived images

  mutable std::mutex mutex_;
  uint32_t element_count_;
  unsigned maps_ = 0;
  std::optional<CpuAccess> access_;
};

VAStatus create_buffer(Driver& driver, VAContextID context, VABufferType type, unsigned size,
                       unsigned count, void* data, VABufferID* id);
VAStatus buffer_set_num_elements(Driver& driver, VABufferID id, unsigned count);
VAStatus map_buffer(Driver& driver, VABufferID id, void** data);
VAStatus unmap_buffer(Driver& driver, VABufferID id);
VAStatus destroy_buffer(Driver& driver, VABufferID id);
VAStatus buffer_info(Driver& driver, VABufferID id, VABufferType* type, unsigned* size,
                     unsigned* count);
VAStatus sync_buffer(Driver& driver, VABufferID id, uint64_t timeout_ns);

}  // namespace dxva::softva
