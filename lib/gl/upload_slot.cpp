// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/upload_slot.hpp"

#include <limits>

namespace dxva::gl {
namespace {

constexpr GLbitfield kAlwaysMapped =
    GL_MAP_WRITE_BIT | GL_MAP_READ_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;

}  // namespace

bool UploadSlot::make_storage() {
  const UnpackBufferFunctions& buffers = *gl_->unpack_buffers;
  const auto size = static_cast<GLsizeiptr>(size_bytes_);
  if (!buffers.BufferStorage) {
    buffers.BufferData(GL_PIXEL_UNPACK_BUFFER, size, nullptr, GL_STREAM_DRAW);
    return gl_->GetError() == GL_NO_ERROR;
  }
  buffers.BufferStorage(GL_PIXEL_UNPACK_BUFFER, size, nullptr, kAlwaysMapped);
  if (gl_->GetError() != GL_NO_ERROR) return false;
  data_ = static_cast<uint8_t*>(
      buffers.MapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, size, kAlwaysMapped));
  return data_ && gl_->GetError() == GL_NO_ERROR;
}

std::unique_ptr<UploadSlot> UploadSlot::create(std::shared_ptr<GlThread> thread,
                                               std::shared_ptr<const GlApi> gl,
                                               uint64_t bytes) {
  if (!gl->unpack_buffers || bytes == 0 ||
      bytes > static_cast<uint64_t>(std::numeric_limits<GLsizeiptr>::max()))
    return nullptr;
  std::unique_ptr<UploadSlot> slot(new UploadSlot(std::move(thread), std::move(gl), bytes));
  const GlApi& api = *slot->gl_;
  api.clear_errors();
  api.unpack_buffers->GenBuffers(1, &slot->buffer_);
  api.BindBuffer(GL_PIXEL_UNPACK_BUFFER, slot->buffer_);
  const bool ok = slot->make_storage();
  api.BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  return ok ? std::move(slot) : nullptr;
}

UploadSlot::~UploadSlot() {
  if (buffer_ == 0) return;
  // Deleting a buffer unmaps it.
  thread_->run([this] { gl_->unpack_buffers->DeleteBuffers(1, &buffer_); });
}

bool UploadSlot::fill(const std::function<void(uint8_t*)>& write) {
  if (data_) {
    write(data_);
    return true;
  }
  const UnpackBufferFunctions& buffers = *gl_->unpack_buffers;
  gl_->clear_errors();
  gl_->BindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer_);
  // The driver may give other memory instead of waiting for the GPU.
  auto* memory = static_cast<uint8_t*>(
      buffers.MapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, static_cast<GLsizeiptr>(size_bytes_),
                             GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT));
  if (memory) write(memory);
  // False: the memory was lost meanwhile (a change of the screen's mode does that).
  const bool kept = memory && buffers.UnmapBuffer(GL_PIXEL_UNPACK_BUFFER) == GL_TRUE;
  gl_->BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  return kept && gl_->GetError() == GL_NO_ERROR;
}

}  // namespace dxva::gl
