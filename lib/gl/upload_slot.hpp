// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "lib/gl/gl_api.hpp"

namespace dxva::gl {

// A buffer object that one picture is unpacked from. Where the context has buffer storage it is
// mapped from its birth to its death, so that whoever writes the picture has an address and
// needs no OpenGL. The mapping is coherent: what was written before the upload is issued is
// seen by it. It can also be read, because a stranger that maps a buffer of ours reads what it
// likes; drivers then take cached memory, and reads are not slow either.
//
// Thread-safe to destroy: the object dies on the GL thread, and the mapping with it.
class UploadSlot {
 public:
  // Null when GL refuses (no memory, no such buffers). GL-thread only.
  [[nodiscard]] static std::unique_ptr<UploadSlot> create(std::shared_ptr<GlThread> thread,
                                                          std::shared_ptr<const GlApi> gl,
                                                          uint64_t bytes);
  ~UploadSlot();
  UploadSlot(const UploadSlot&) = delete;
  UploadSlot& operator=(const UploadSlot&) = delete;

  // Null: there is no persistent mapping, see fill().
  [[nodiscard]] uint8_t* data() const { return data_; }
  [[nodiscard]] uint64_t size_bytes() const { return size_bytes_; }
  [[nodiscard]] GLuint buffer() const { return buffer_; }
  // An object's name means something in its own context only.
  [[nodiscard]] bool lives_in(const GlThread& thread) const { return thread_.get() == &thread; }

  // Hands the memory to `write` for the length of the call: for slots that are not mapped.
  // What was there before is lost. False when GL refuses. GL-thread only.
  [[nodiscard]] bool fill(const std::function<void(uint8_t*)>& write);

 private:
  UploadSlot(std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl, uint64_t bytes)
      : thread_(std::move(thread)), gl_(std::move(gl)), size_bytes_(bytes) {}
  [[nodiscard]] bool make_storage();

  const std::shared_ptr<GlThread> thread_;
  const std::shared_ptr<const GlApi> gl_;
  const uint64_t size_bytes_;
  GLuint buffer_ = 0;
  uint8_t* data_ = nullptr;
};

}  // namespace dxva::gl
