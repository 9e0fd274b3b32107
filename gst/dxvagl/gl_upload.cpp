// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/gl_upload.hpp"

#include <gst/video/gstvideometa.h>

#include <array>
#include <vector>

#include "gst/common/allocation_words.hpp"
#include "gst/common/context_query.hpp"
#include "gst/common/gl_device_context.hpp"
#include "gst/common/path_stats.hpp"
#include "gst/common/trace_board.hpp"
#include "gst/dxvagl/upload_choice.hpp"
#include "gst/dxvagl/upload_pool.hpp"
#include "lib/base/log.hpp"
#include "lib/base/test_switch.hpp"
#include "lib/base/trace.hpp"
#include "lib/base/translation.hpp"

namespace dxva::gst {
namespace {

GstPtr<GstContext> device_context(const GlSession& session) {
  GlDeviceFacts facts{.node = session.drm_node(), .renderer = session.api().facts.renderer};
  if (session.memory_objects()) facts.uuid = session.memory_objects()->uuids().device;
  return make_gl_device_context(facts);
}

// What gst_buffer_copy_into() copies of them: the mark is of the memory in the buffer.
void copy_flags_and_times(GstBuffer* to, const GstBuffer* from) {
  constexpr guint kOfMemory = GST_BUFFER_FLAG_TAG_MEMORY;
  GST_BUFFER_FLAGS(to) =
      (GST_BUFFER_FLAGS(from) & ~kOfMemory) | (GST_BUFFER_FLAGS(to) & kOfMemory);
  GST_BUFFER_PTS(to) = GST_BUFFER_PTS(from);
  GST_BUFFER_DTS(to) = GST_BUFFER_DTS(from);
  GST_BUFFER_DURATION(to) = GST_BUFFER_DURATION(from);
  GST_BUFFER_OFFSET(to) = GST_BUFFER_OFFSET(from);
  GST_BUFFER_OFFSET_END(to) = GST_BUFFER_OFFSET_END(from);
}

// Most have but that of their memory, and asking GStreamer about each costs more than that.
bool has_metas_of_the_frame(GstBuffer* buffer) {
  static const GType of_memory = GST_VIDEO_META_API_TYPE;
  gpointer state = nullptr;
  while (const GstMeta* meta = gst_buffer_iterate_meta(buffer, &state))
    if (meta->info->api != of_memory) return true;
  return false;
}

constexpr std::array kSteps = {Step::Egl, Step::MemoryObject, Step::GpuCopy, Step::CpuCopy};

}  // namespace

void GlUpload::set_import(ImportMode mode) {
  const std::lock_guard guard(lock_);
  wish_.mode = mode;
}

ImportMode GlUpload::import() const {
  const std::lock_guard guard(lock_);
  return wish_.mode;
}

void GlUpload::set_verify(bool verify) {
  const std::lock_guard guard(lock_);
  wish_.verify = verify;
}

bool GlUpload::verify() const {
  const std::lock_guard guard(lock_);
  return wish_.verify;
}

ImportWish GlUpload::wish() const {
  const std::lock_guard guard(lock_);
  ImportWish wish = wish_;
  wish.verify = wish.verify || test_switch().verify;
  return wish;
}

StructurePtr GlUpload::stats() const {
  StructurePtr out(gst_structure_new_empty("dxvaglupload-stats"));
  const auto session = uploader_.session();
  const gl::ImportCache::Counts cache =
      session ? session->cache()->counts() : gl::ImportCache::Counts{};
  const std::lock_guard guard(lock_);
  uint64_t frames = 0;
  for (const uint64_t taken : counts_.steps) frames += taken;
  gst_structure_set(out.get(), "frames", G_TYPE_UINT64, frames, "renderer", G_TYPE_STRING,
                    session ? session->api().facts.renderer.c_str() : "", "cache-hits",
                    G_TYPE_UINT64, cache.hits, "cache-misses", G_TYPE_UINT64, cache.misses,
                    "verified", G_TYPE_UINT64, verified_, "dropped", G_TYPE_UINT64, dropped_,
                    nullptr);
  add_path_counts(out.get(), counts_, kSteps);
  GstStructure* uploads = gst_structure_new_empty("uploads");
  for (const gl::UploadWay way : gl::kUploadWays)
    gst_structure_set(uploads, gl::upload_way_name(way), G_TYPE_UINT64,
                      uploads_[static_cast<size_t>(way)], nullptr);
  gst_structure_set(out.get(), "upload", G_TYPE_STRING, last_upload_, "uploads",
                    GST_TYPE_STRUCTURE, uploads, nullptr);
  gst_structure_free(uploads);
  std::vector<NamedStanding> ways;
  if (session && picture_bytes_ > 0) ways = choice_of(*session, picture_bytes_).standings();
  add_ways(out.get(), "upload", ways);
  if (test_switch().memfd)
    gst_structure_set(out.get(), "test-memfd", G_TYPE_BOOLEAN, TRUE, nullptr);
  return out;
}

void GlUpload::reset() {
  const std::lock_guard guard(lock_);
  counts_ = {};
  dropped_ = 0;
  verified_ = 0;
  uploads_ = {};
  last_upload_ = "";
  watch_ = {};
  dropped_for_.clear();
  warned_of_glx_ = false;
}

GstPtr<GstGLContext> GlUpload::application_context() const {
  // GstGLBaseFilter keeps it to itself.
  const auto given = GstPtr<GstContext>::adopt(
      gst_element_get_context(GST_ELEMENT(&element_), "gst.gl.app_context"));
  GstGLContext* context = nullptr;
  if (given)
    gst_structure_get(gst_context_get_structure(given.get()), "context", GST_TYPE_GL_CONTEXT,
                      &context, nullptr);
  return GstPtr<GstGLContext>::adopt(context);
}

void GlUpload::begin_context() {
  // What comes downstream later may bring a display, or a context to share textures with.
  if (!element_.display || !gst_pad_is_linked(GST_BASE_TRANSFORM_SRC_PAD(&element_))) return;
  head_start_.begin(element_.display, application_context().get());
}

void GlUpload::check_begun_context() {
  if (!head_start_.is_for(element_.display, application_context().get())) head_start_.end();
}

std::shared_ptr<GlSession> GlUpload::find_session() {
  {
    const auto searching = search();
    if (element_.display) (void)gst_gl_base_filter_find_gl_context(&element_);
  }
  auto session = uploader_.session();
  {
    const std::lock_guard guard(lock_);
    if (!session || announced_.lock() == session) return session;
    announced_ = session;
  }
  // A decoder that playbin plugs in later, or that is not linked to us yet, learns it from its
  // bin.
  announce_context(GST_ELEMENT(&element_), device_context(*session));
  return session;
}

void GlUpload::end_session() {
  const auto session = uploader_.session();
  if (!session) return;
  session->thread().run([this] { uploader_.stop(); });
  session->releases().finish();
}

bool GlUpload::answer_device(GstQuery* query) {
  // The display outlives READY, and a context made after it would have nobody to end it.
  if (GST_STATE(&element_) < GST_STATE_READY) return false;
  const auto session = find_session();
  if (!session) return false;
  gst_query_set_context(query, device_context(*session).get());
  return true;
}

DmabufOffers GlUpload::offers() const {
  const auto session = uploader_.session();
  return session ? session->offers() : linear_offers();
}

GstPtr<GstCaps> GlUpload::transform_caps(GstPadDirection direction, GstCaps* caps,
                                         GstCaps* filter) {
  // What can be imported is only known in the context. Once there is a display a context can be
  // had, and an answer given now without it would be one that changes later.
  const auto session =
      is_any_context(direction, caps, filter) ? uploader_.session() : find_session();
  TransformCaps with{.offers = offers(),
                     .drm_caps = has_drm_caps(),
                     .draws = !session || session->api().shaders.has_value()};
  if (session && session->memory_objects()) with.opaque = session->memory_objects()->uuids();
  return gst::transform_caps(direction, caps, with);
}

bool GlUpload::set_caps(GstCaps* in, GstCaps* out) {
  const auto input = parse_input(in);
  if (!input) return false;
  const bool passthrough = input->memory == MemoryKind::Gl;
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(&element_), passthrough);
  {
    const std::lock_guard guard(lock_);
    dropped_for_.clear();
    passes_through_ = passthrough;
    takes_dmabufs_ = input->memory == MemoryKind::Dmabuf;
    picture_bytes_ = passthrough ? 0 : GST_VIDEO_INFO_SIZE(&input->info);
  }
  return passthrough || uploader_.set_formats(in, out);
}

bool GlUpload::propose_allocation(GstQuery* query) const {
  GstCaps* caps = nullptr;
  gboolean wants_pool = FALSE;
  gst_query_parse_allocation(query, &caps, &wants_pool);
  const auto input = caps ? parse_input(caps) : std::nullopt;
  // Textures pass through, and so does what downstream says of them.
  if (!input || input->memory == MemoryKind::Gl) return false;
  // ProducerFences waits for the kernel.
  AllocationWords words{.mixed_memory = true, .waits_for_fences = true, .only_consumer = true};
  const auto session = wants_pool ? uploader_.session() : nullptr;
  if (const auto pool = session ? make_upload_pool(session, input->info) : nullptr) {
    const uint64_t bytes = GST_VIDEO_INFO_SIZE(&input->info);
    const bool slots = offers_upload_slots(*session, bytes);
    // Under DMABuf caps a stranger would take the pool for one of dma-bufs: there it is a word
    // to our own decoder, for copies among dma-bufs. So it is where slots do not pay, for a
    // decoder that need not copy at all then.
    if (slots && input->memory == MemoryKind::System)
      gst_query_add_allocation_pool(query, pool.get(), static_cast<guint>(bytes), 0, 0);
    if (slots || reads_in_place(*session, bytes)) words.copy_pool = pool;
  }
  // Without parameters, or a tee drops it: behind one our decoder would copy padded surfaces.
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  words.add_to(query);
  // A tiled plane cannot be cropped by its offset.
  if (input->modifier == kModifierLinear)
    gst_query_add_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, nullptr);
  return true;
}

void GlUpload::tell_upstream(const Uploader::Picture::Refusal& refusal) {
  GstStructure* what =
      gst_structure_new("dxva-import-failed", "device", G_TYPE_UINT64, refusal.identity.device,
                        "inode", G_TYPE_UINT64, refusal.identity.inode, "reason", G_TYPE_STRING,
                        reason_name(refusal.reason), nullptr);
  gst_pad_push_event(GST_BASE_TRANSFORM_SINK_PAD(&element_),
                     gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, what));
}

void GlUpload::count(const Uploader::Picture& picture) {
  std::optional<StepWatch<Step>::Change> change;
  {
    const std::lock_guard guard(lock_);
    counts_.add(picture.step, picture.reason);
    if (picture.verified) ++verified_;
    if (picture.step == Step::CpuCopy) {
      ++uploads_[static_cast<size_t>(picture.upload)];
      last_upload_ = gl::upload_way_name(picture.upload);
    }
    change = watch_.next(picture.step);
  }
  if (!change) return;
  GstElement* element = GST_ELEMENT(&element_);
  gst_element_post_message(
      element, path_changed_message(element, change->from, change->to, picture.reason));
}

// To whoever draws where the time of frames goes.
void GlUpload::tell(GstBuffer* input, const Result<Uploader::Picture>& picture,
                    const trace::Spans& spans) const {
  const trace::Listener* listener = trace::listener();
  if (!listener) return;
  listener->part({
      .role = trace::Part::Role::Uploader,
      .element = this,
      .element_name = GST_OBJECT_NAME(&element_),
      .memory = trace_memory(input),
      .pts_ns =
          GST_BUFFER_PTS_IS_VALID(input) ? static_cast<int64_t>(GST_BUFFER_PTS(input)) : -1,
      .step = picture ? step_name(picture->step) : "dropped",
      .reason = reason_name(picture ? picture->reason : picture.error().reason),
      .damaged = GST_BUFFER_FLAG_IS_SET(input, GST_BUFFER_FLAG_CORRUPTED),
      .spans = spans.list(),
  });
}

// Nobody sees why the fans are loud: it works, frame by frame, by copies that one word avoids.
void GlUpload::warn_of_glx(const GlSession& session) {
  if (!session.is_glx()) return;
  {
    const std::lock_guard guard(lock_);
    if (warned_of_glx_ || !takes_dmabufs_ || wish_.mode == ImportMode::Copy) return;
    warned_of_glx_ = true;
  }
  GST_ELEMENT_WARNING(&element_, RESOURCE, SETTINGS,
                      (_("OpenGL runs on GLX, where a dma-buf cannot become a texture: every "
                         "frame is copied. Set GST_GL_PLATFORM=egl, or give the pipeline an "
                         "EGL context.")),
                      ("%s", session.api().facts.renderer.c_str()));
}

// A buffer that can be neither imported nor mapped has no picture to show: one frame is lost,
// the stream goes on, and the application is told once per reason. An error would end the
// stream for one bad buffer of a camera; showing the last picture again would hide that one is
// missing.
GstFlowReturn GlUpload::drop(const Error& error) {
  bool first = false;
  {
    const std::lock_guard guard(lock_);
    ++dropped_;
    if (error.reason != Reason::None) ++counts_.reasons[static_cast<size_t>(error.reason)];
    first = dropped_for_.insert(error.reason).second;
  }
  if (first)
    GST_ELEMENT_WARNING(
        &element_, STREAM, WRONG_TYPE,
        (_("A frame could not be read and was left out (%s)."), reason_name(error.reason)),
        ("%s", error.describe().c_str()));
  return GST_BASE_TRANSFORM_FLOW_DROPPED;
}

GstFlowReturn GlUpload::prepare_output(GstBuffer* input, GstBuffer** output) {
  GstBaseTransform* transform = &element_.parent;
  if (passes_through_) {
    *output = input;
    return GST_FLOW_OK;
  }
  // Who draws where the time goes sees the long way, which does the same.
  if (!trace::listener()) {
    if (auto again = uploader_.show_again(input, wish())) {
      count({.step = Step::Egl});
      *output = again.release();
      copy_flags_and_times(*output, input);
      return GST_FLOW_OK;
    }
  }
  const auto session = uploader_.session();
  if (!session) return GST_FLOW_NOT_NEGOTIATED;
  warn_of_glx(*session);
  std::optional<trace::Spans> spans;
  if (trace::listener()) spans.emplace();
  Result<Uploader::Picture> picture = [&] {
    const trace::Recording recording(spans ? &*spans : nullptr);
    return uploader_.process(session, input, wish());
  }();
  if (spans) tell(input, picture, *spans);
  if (!picture) return drop(picture.error());
  crop_applied_ = picture->crop_applied;
  count(*picture);
  if (picture->news) tell_upstream(*picture->news);
  *output = picture->buffer.release();
  if (has_metas_of_the_frame(input))
    GST_BASE_TRANSFORM_GET_CLASS(transform)->copy_metadata(transform, input, *output);
  else
    copy_flags_and_times(*output, input);
  return GST_FLOW_OK;
}

bool GlUpload::keeps_meta(const GstMeta* meta, GstBuffer*) const {
  // Pixels keep their places, so every meta stays true but the crop that was carried out. Metas
  // of memory (GstVideoMeta) are not asked about here.
  return meta->info->api != GST_VIDEO_CROP_META_API_TYPE || !crop_applied_;
}

}  // namespace dxva::gst
