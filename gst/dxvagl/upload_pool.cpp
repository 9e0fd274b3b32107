// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/upload_pool.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "gst/common/attached.hpp"
#include "gst/dxvagl/gl_session.hpp"
#include "gst/dxvagl/upload_choice.hpp"
#include "lib/base/log.hpp"

namespace dxva::gst {
namespace {

// One that is written, one that waits, two that the GPU may have; and what upstream keeps.
constexpr guint kSlots = 4;
constexpr guint kMostSlots = 16;
// A GPU that is later than that is busy with more than our upload.
constexpr std::chrono::milliseconds kPatience{50};
// Plain memory that is kept for use again; what more comes back is freed.
constexpr size_t kMostSpare = 32;

const Attached<gl::UploadRing::Lease> kSlot("dxva-upload-slot");

GstPtr<GstMemory> wrap_slot(std::unique_ptr<gl::UploadRing::Lease> lease, gsize size) {
  gl::UploadSlot& slot = lease->slot();
  auto* raw = lease.release();
  GstMemory* memory = gst_memory_new_wrapped(
      static_cast<GstMemoryFlags>(0), slot.data(), slot.size_bytes(), 0, size, raw,
      [](gpointer data) { delete static_cast<gl::UploadRing::Lease*>(data); });
  kSlot.lend(memory, raw);
  return GstPtr<GstMemory>::adopt(memory);
}

// What the pool does; the GObject below is a skin.
class UploadPool {
 public:
  void set_session(const std::shared_ptr<GlSession>& session) { session_ = session; }

  [[nodiscard]] bool configure(GstStructure* config, bool with_meta);
  [[nodiscard]] GstFlowReturn acquire(GstBufferPool* pool, GstBuffer** out,
                                      const GstBufferPoolAcquireParams* params);
  void release(GstBuffer* buffer);
  void flush(bool on);
  void stop();
  [[nodiscard]] bool reads_in_place();

 private:
  [[nodiscard]] GstFlowReturn wait_for_room(const GstBufferPoolAcquireParams* params);
  // Null where the ring does not pay or cannot be had.
  [[nodiscard]] std::shared_ptr<gl::UploadRing> ring();
  [[nodiscard]] GstPtr<GstMemory> slot_memory();
  [[nodiscard]] GstPtr<GstMemory> plain_memory();
  void add_meta(GstBuffer* buffer) const;

  std::weak_ptr<GlSession> session_;
  // Set while nobody acquires.
  GstVideoInfo info_{};
  gsize size_ = 0;
  guint most_ = 0;  // 0: no limit
  guint slots_ = kSlots;
  bool with_meta_ = false;
  GstPtr<GstAllocator> allocator_;  // of plain memory; null: the default one
  GstAllocationParams params_{};

  std::mutex lock_;
  std::condition_variable changed_;
  std::shared_ptr<gl::UploadRing> ring_;
  bool ring_failed_ = false;
  bool flushing_ = false;
  guint out_ = 0;
  std::vector<GstPtr<GstMemory>> spare_;
};

bool UploadPool::configure(GstStructure* config, bool with_meta) {
  GstCaps* caps = nullptr;
  guint size = 0, least = 0, most = 0;
  if (!gst_buffer_pool_config_get_params(config, &caps, &size, &least, &most) || !caps)
    return false;
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps) || (most != 0 && most < least)) return false;
  GstAllocator* allocator = nullptr;
  (void)gst_buffer_pool_config_get_allocator(config, &allocator, &params_);
  const std::lock_guard guard(lock_);
  info_ = info;
  // Upstream may want more room behind the picture than the caps say, not less.
  size_ = std::max<gsize>(size, GST_VIDEO_INFO_SIZE(&info));
  most_ = most;
  slots_ = std::min(kSlots + least, kMostSlots);
  if (most != 0) slots_ = std::min(slots_, most);
  with_meta_ = with_meta;
  allocator_ = GstPtr<GstAllocator>::share(allocator);
  ring_failed_ = false;
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(size_), least, most);
  return true;
}

std::shared_ptr<gl::UploadRing> UploadPool::ring() {
  const auto session = session_.lock();
  if (!session) return nullptr;
  // Who wants room in front of the pixels gets it in memory of its own kind.
  if (params_.prefix != 0 ||
      !takes_upload_way(*session, gl::UploadWay::RingInPlace, GST_VIDEO_INFO_SIZE(&info_)))
    return nullptr;
  {
    const std::lock_guard guard(lock_);
    if (ring_ || ring_failed_) return ring_;
  }
  std::shared_ptr<gl::UploadRing> made;
  session->thread().run(
      [&] { made = session->make_upload_ring(size_ + params_.padding, slots_); });
  if (!made)
    DXVA_INFO(Gl, "no upload slots of %zu bytes; pictures come in plain memory", size_);
  const std::lock_guard guard(lock_);
  ring_ = made && made->is_mapped() ? std::move(made) : nullptr;
  ring_failed_ = !ring_;
  if (ring_ && flushing_) ring_->interrupt(true);
  return ring_;
}

GstPtr<GstMemory> UploadPool::slot_memory() {
  const auto from = ring();
  if (!from) return nullptr;
  auto lease = from->take(kPatience);
  if (!lease || (reinterpret_cast<uintptr_t>(lease->slot().data()) & params_.align) != 0)
    return nullptr;
  return wrap_slot(std::move(lease), size_);
}

GstPtr<GstMemory> UploadPool::plain_memory() {
  {
    const std::lock_guard guard(lock_);
    if (!spare_.empty()) {
      auto memory = std::move(spare_.back());
      spare_.pop_back();
      return memory;
    }
  }
  return GstPtr<GstMemory>::adopt(gst_allocator_alloc(allocator_.get(), size_, &params_));
}

void UploadPool::add_meta(GstBuffer* buffer) const {
  GstVideoInfo info = info_;  // the arrays are not const in C
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE,
                                 GST_VIDEO_INFO_FORMAT(&info),
                                 static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)),
                                 static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info)),
                                 GST_VIDEO_INFO_N_PLANES(&info), info.offset, info.stride);
}

// A maximum that upstream has set is its own wish to wait for downstream.
GstFlowReturn UploadPool::wait_for_room(const GstBufferPoolAcquireParams* params) {
  std::unique_lock guard(lock_);
  const auto has_room = [this] { return flushing_ || most_ == 0 || out_ < most_; };
  if (!has_room() && params && (params->flags & GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT) != 0)
    return GST_FLOW_EOS;
  changed_.wait(guard, has_room);
  if (flushing_) return GST_FLOW_FLUSHING;
  ++out_;
  return GST_FLOW_OK;
}

GstFlowReturn UploadPool::acquire(GstBufferPool* pool, GstBuffer** out,
                                  const GstBufferPoolAcquireParams* params) {
  if (GST_BUFFER_POOL_IS_FLUSHING(pool)) return GST_FLOW_FLUSHING;
  if (const GstFlowReturn flow = wait_for_room(params); flow != GST_FLOW_OK) return flow;
  GstPtr<GstMemory> memory = slot_memory();
  if (!memory) memory = plain_memory();
  if (!memory) {
    const std::lock_guard guard(lock_);
    --out_;
    return GST_FLOW_ERROR;
  }
  *out = gst_buffer_new();
  gst_buffer_append_memory(*out, memory.release());
  GST_BUFFER_FLAG_UNSET(*out, GST_BUFFER_FLAG_TAG_MEMORY);
  if (with_meta_) add_meta(*out);
  return GST_FLOW_OK;
}

void UploadPool::release(GstBuffer* buffer) {
  GstPtr<GstMemory> memory;
  if (gst_buffer_n_memory(buffer) == 1)
    memory = GstPtr<GstMemory>::share(gst_buffer_peek_memory(buffer, 0));
  // A slot goes back to its ring, now or when the last one that shares its memory lets go.
  gst_buffer_unref(buffer);
  gsize offset = 0;
  const bool is_ours =
      memory && !upload_slot_of(memory.get()) &&
      GST_MINI_OBJECT_REFCOUNT_VALUE(memory.get()) == 1 && !memory.get()->parent &&
      gst_memory_get_sizes(memory.get(), &offset, nullptr) == size_ && offset == params_.prefix;
  {
    const std::lock_guard guard(lock_);
    --out_;
    if (is_ours && !flushing_ && spare_.size() < kMostSpare)
      spare_.push_back(std::move(memory));
  }
  changed_.notify_all();
}

bool UploadPool::reads_in_place() {
  const auto session = session_.lock();
  const std::lock_guard guard(lock_);
  return session && gst::reads_in_place(*session, GST_VIDEO_INFO_SIZE(&info_));
}

void UploadPool::flush(bool on) {
  std::shared_ptr<gl::UploadRing> ring;
  {
    const std::lock_guard guard(lock_);
    flushing_ = on;
    ring = ring_;
  }
  changed_.notify_all();
  if (ring) ring->interrupt(on);
}

void UploadPool::stop() {
  std::vector<GstPtr<GstMemory>> freed;
  std::shared_ptr<gl::UploadRing> ring;  // its slots are deleted on the GL thread: not locked
  const std::lock_guard guard(lock_);
  freed.swap(spare_);
  ring.swap(ring_);
}

}  // namespace
}  // namespace dxva::gst

using dxva::gst::UploadPool;

struct _GstDxvaUploadPool {
  GstBufferPool parent;
  UploadPool* impl;  // born in init, deleted in finalize
};

G_DEFINE_FINAL_TYPE(GstDxvaUploadPool, gst_dxva_upload_pool, GST_TYPE_BUFFER_POOL)

namespace {

UploadPool& impl(gpointer pool) {
  return *GST_DXVA_UPLOAD_POOL(pool)->impl;
}

const gchar** get_options(GstBufferPool*) {
  static const gchar* options[] = {GST_BUFFER_POOL_OPTION_VIDEO_META, nullptr};
  return options;
}

gboolean set_config(GstBufferPool* pool, GstStructure* config) {
  const bool with_meta =
      gst_buffer_pool_config_has_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  return impl(pool).configure(config, with_meta) &&
         GST_BUFFER_POOL_CLASS(gst_dxva_upload_pool_parent_class)->set_config(pool, config);
}

constexpr guint kReadsInPlace = 1;

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  if (id == kReadsInPlace)
    g_value_set_boolean(value, impl(object).reads_in_place());
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

void finalize(GObject* object) {
  delete GST_DXVA_UPLOAD_POOL(object)->impl;
  G_OBJECT_CLASS(gst_dxva_upload_pool_parent_class)->finalize(object);
}

}  // namespace

static void gst_dxva_upload_pool_init(GstDxvaUploadPool* self) {
  self->impl = new UploadPool();
}

static void gst_dxva_upload_pool_class_init(GstDxvaUploadPoolClass* klass) {
  auto* object = G_OBJECT_CLASS(klass);
  object->finalize = finalize;
  object->get_property = get_property;
  g_object_class_install_property(
      object, kReadsInPlace,
      g_param_spec_boolean(
          "reads-in-place", "Reads in place",
          "Whether a picture in memory of its producer's is uploaded no slower than one in a "
          "buffer of this pool",
          FALSE, static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
  auto* pool = GST_BUFFER_POOL_CLASS(klass);
  pool->get_options = get_options;
  pool->set_config = set_config;
  // The base class would make the least number of buffers here, and free them when it stops.
  pool->start = [](GstBufferPool*) -> gboolean { return TRUE; };
  pool->stop = [](GstBufferPool* p) -> gboolean {
    impl(p).stop();
    return TRUE;
  };
  pool->acquire_buffer = [](GstBufferPool* p, GstBuffer** out,
                            GstBufferPoolAcquireParams* params) {
    return impl(p).acquire(p, out, params);
  };
  // Metas go with the buffer, which is made anew each time.
  pool->reset_buffer = [](GstBufferPool*, GstBuffer*) {};
  pool->release_buffer = [](GstBufferPool* p, GstBuffer* buffer) { impl(p).release(buffer); };
  pool->flush_start = [](GstBufferPool* p) { impl(p).flush(true); };
  pool->flush_stop = [](GstBufferPool* p) { impl(p).flush(false); };
}

namespace dxva::gst {

GstPtr<GstBufferPool> make_upload_pool(const std::shared_ptr<GlSession>& session,
                                       const GstVideoInfo& info) {
  auto pool = GstPtr<GstBufferPool>::adopt(GST_BUFFER_POOL(
      g_object_ref_sink(g_object_new(gst_dxva_upload_pool_get_type(), nullptr))));
  impl(pool.get()).set_session(session);
  GstVideoInfo plain = info;
  const auto caps = GstPtr<GstCaps>::adopt(gst_video_info_to_caps(&plain));
  GstStructure* config = gst_buffer_pool_get_config(pool.get());
  gst_buffer_pool_config_set_params(config, caps.get(), static_cast<guint>(info.size), 0, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config(pool.get(), config)) return nullptr;
  return pool;
}

const gl::UploadRing::Lease* upload_slot_of(GstMemory* memory) {
  return kSlot.of(memory);
}

}  // namespace dxva::gst
