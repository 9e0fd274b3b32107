// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/copy_buffers.hpp"

#include <utility>

#include "gst/dxva/gstdxvaallocator.hpp"
#include "gst/dxva/linear_dmabuf.hpp"
#include "lib/base/fourcc.hpp"

namespace dxva::gst {

bool copies_fit(const Agreement& agreement) {
  return agreement.allocation.words.mixed_memory ||
         (agreement.is_dmabuf() && agreement.modifier == kModifierLinear &&
          have_linear_dmabufs());
}

void CopyBuffers::prepare(const Agreement& agreement) {
  reset();
  if (!agreement.lends() || !agreement.allocation.words.mixed_memory) return;
  const GstPtr<GstBufferPool>& proposed = agreement.allocation.words.copy_pool;
  if (proposed && start(proposed, agreement)) return;
  (void)start(GstPtr<GstBufferPool>::adopt(gst_video_buffer_pool_new()), agreement);
}

bool CopyBuffers::start(GstPtr<GstBufferPool> pool, const Agreement& agreement) {
  GstVideoInfo info = agreement.info;  // the caps' function takes no const
  auto caps = GstPtr<GstCaps>::adopt(gst_video_info_to_caps(&info));
  GstStructure* config = gst_buffer_pool_get_config(pool.get());
  gst_buffer_pool_config_set_params(config, caps.get(), static_cast<guint>(info.size), 0, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config(pool.get(), config) ||
      !gst_buffer_pool_set_active(pool.get(), TRUE))
    return false;
  mixed_pool_ = pool.release();
  return true;
}

GstPtr<GstBuffer> CopyBuffers::acquire(const Agreement& agreement, uint32_t most) const {
  if (agreement.allocation.words.mixed_memory) return mixed();
  if (!agreement.is_dmabuf() || agreement.modifier != kModifierLinear) return nullptr;
  if (agreement.takes_system && *out_ >= most) return nullptr;
  return linear_dmabuf(agreement);
}

GstPtr<GstBuffer> CopyBuffers::mixed() const {
  if (!mixed_pool_) return nullptr;
  GstBuffer* buffer = nullptr;
  if (gst_buffer_pool_acquire_buffer(mixed_pool_, &buffer, nullptr) != GST_FLOW_OK)
    return nullptr;
  return GstPtr<GstBuffer>::adopt(buffer);
}

void CopyBuffers::reset() {
  if (!mixed_pool_) return;
  gst_buffer_pool_set_active(mixed_pool_, FALSE);
  gst_object_unref(std::exchange(mixed_pool_, nullptr));
}

GstPtr<GstBuffer> CopyBuffers::linear_dmabuf(const Agreement& agreement) const {
  GstVideoInfo info = agreement.info;  // the meta's arrays are not const in C
  auto fd = make_linear_dmabuf(info.size);
  if (!fd) return nullptr;
  ++*out_;
  std::shared_ptr<const void> counted(out_.get(), [out = out_](const void*) { --*out; });
  auto memory =
      wrap_dmabuf(allocator_, std::move(*fd), info.size,
                  {.linear = true, .writable = true, .companion = std::move(counted)});
  if (!memory) return nullptr;
  auto buffer = GstPtr<GstBuffer>::adopt(gst_buffer_new());
  gst_buffer_append_memory(buffer.get(), memory.release());
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE,
                                 GST_VIDEO_INFO_FORMAT(&info), info.width, info.height,
                                 GST_VIDEO_INFO_N_PLANES(&info), info.offset, info.stride);
  return buffer;
}

}  // namespace dxva::gst
