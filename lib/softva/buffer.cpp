// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/buffer.hpp"

#include <cstring>
#include <new>
#include <utility>

#include "lib/base/checked.hpp"
#include "lib/softva/driver.hpp"

namespace dxva::softva {
namespace {

// No picture of any codec comes near; a client's wrong number should not take the machine.
constexpr uint64_t kMaxBufferBytes = uint64_t{256} << 20;

bool is_parameter_type(VABufferType type) {
  switch (type) {
    case VAPictureParameterBufferType:
    case VAIQMatrixBufferType:
    case VABitPlaneBufferType:
    case VASliceGroupMapBufferType:
    case VASliceParameterBufferType:
    case VASliceDataBufferType:
    case VAMacroblockParameterBufferType:
    case VAResidualDataBufferType:
    case VADeblockingParameterBufferType:
    case VAQMatrixBufferType:
    case VAHuffmanTableBufferType:
    case VAProbabilityBufferType:
    case VAProcPipelineParameterBufferType:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::shared_ptr<Buffer> Buffer::create(VABufferType type, uint32_t element_bytes,
                                       uint32_t element_count) {
  const auto size = (Checked(element_bytes) * element_count).value();
  if (!size) return nullptr;
  std::unique_ptr<uint8_t[]> bytes(new (std::nothrow) uint8_t[*size]());
  if (!bytes) return nullptr;
  std::shared_ptr<Buffer> buffer(new Buffer(type, element_bytes, element_count));
  buffer->bytes_ = std::move(bytes);
  return buffer;
}

std::shared_ptr<Buffer> Buffer::share(std::shared_ptr<Memory> memory) {
  std::shared_ptr<Buffer> buffer(
      new Buffer(VAImageBufferType, static_cast<uint32_t>(memory->size_bytes()), 1));
  buffer->memory_ = std::move(memory);
  return buffer;
}

uint32_t Buffer::element_count() const {
  const std::lock_guard lock(mutex_);
  return element_count_;
}

uint64_t Buffer::size_bytes() const {
  return memory_ ? memory_->size_bytes() : uint64_t{element_bytes_} * capacity_;
}

bool Buffer::set_element_count(uint32_t count) {
  const std::lock_guard lock(mutex_);
  if (count > capacity_) return false;
  element_count_ = count;
  return true;
}

uint8_t* Buffer::map() {
  const std::lock_guard lock(mutex_);
  if (maps_++ == 0 && memory_) access_.emplace(memory_, CpuAccess::Mode::ReadWrite);
  return data();
}

bool Buffer::unmap() {
  const std::lock_guard lock(mutex_);
  if (maps_ == 0) return false;
  if (--maps_ == 0) access_.reset();
  return true;
}

ParameterBuffer Buffer::copy() const {
  const uint32_t count = element_count();
  const uint8_t* begin = data();
  return {.type = type_,
          .element_bytes = element_bytes_,
          .element_count = count,
          .bytes = std::vector<uint8_t>(begin, begin + size_t{element_bytes_} * count)};
}

VAStatus create_buffer(Driver& driver, VAContextID context, VABufferType type, unsigned size,
                       unsigned count, void* data, VABufferID* id) {
  if (!driver.contexts.find(context)) return VA_STATUS_ERROR_INVALID_CONTEXT;
  if (!id || size == 0 || count == 0) return VA_STATUS_ERROR_INVALID_PARAMETER;
  if (!is_parameter_type(type)) return VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE;
  if (!(Checked(size) * count).fits_in(kMaxBufferBytes))
    return VA_STATUS_ERROR_ALLOCATION_FAILED;
  if (driver.fails(Call::CreateBuffer)) return VA_STATUS_ERROR_ALLOCATION_FAILED;
  auto buffer = Buffer::create(type, size, count);
  if (!buffer) return VA_STATUS_ERROR_ALLOCATION_FAILED;
  if (data) std::memcpy(buffer->data(), data, buffer->size_bytes());
  *id = driver.buffers.add(std::move(buffer));
  return VA_STATUS_SUCCESS;
}

VAStatus buffer_set_num_elements(Driver& driver, VABufferID id, unsigned count) {
  const auto buffer = driver.buffers.find(id);
  if (!buffer) return VA_STATUS_ERROR_INVALID_BUFFER;
  if (count == 0 || !buffer->set_element_count(count)) return VA_STATUS_ERROR_INVALID_PARAMETER;
  return VA_STATUS_SUCCESS;
}

VAStatus map_buffer(Driver& driver, VABufferID id, void** data) {
  const auto buffer = driver.buffers.find(id);
  if (!buffer) return VA_STATUS_ERROR_INVALID_BUFFER;
  if (!data) return VA_STATUS_ERROR_INVALID_PARAMETER;
  if (driver.fails(Call::MapBuffer)) return VA_STATUS_ERROR_OPERATION_FAILED;
  *data = buffer->map();
  return VA_STATUS_SUCCESS;
}

VAStatus unmap_buffer(Driver& driver, VABufferID id) {
  const auto buffer = driver.buffers.find(id);
  if (!buffer) return VA_STATUS_ERROR_INVALID_BUFFER;
  return buffer->unmap() ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_OPERATION_FAILED;
}

VAStatus destroy_buffer(Driver& driver, VABufferID id) {
  return driver.buffers.remove(id) ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_BUFFER;
}

VAStatus buffer_info(Driver& driver, VABufferID id, VABufferType* type, unsigned* size,
                     unsigned* count) {
  const auto buffer = driver.buffers.find(id);
  if (!buffer) return VA_STATUS_ERROR_INVALID_BUFFER;
  if (!type || !size || !count) return VA_STATUS_ERROR_INVALID_PARAMETER;
  *type = buffer->type();
  *size = buffer->element_bytes();
  *count = buffer->element_count();
  return VA_STATUS_SUCCESS;
}

VAStatus sync_buffer(Driver& driver, VABufferID id, uint64_t) {
  // Decoding is over when vaEndPicture returns, so no buffer is ever in use.
  return driver.buffers.find(id) ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_BUFFER;
}

}  // namespace dxva::softva
