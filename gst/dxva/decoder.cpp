// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/decoder.hpp"

#include <cstring>
#include <utility>

#include "gst/dxva/codecs.hpp"
#include "gst/dxva/downstream_limits.hpp"
#include "gst/dxva/gstdxvaallocator.hpp"
#include "lib/base/translation.hpp"
#include "lib/decode/avcodec_decoder.hpp"
#include "lib/decode/device_support.hpp"
#include "lib/drm/device_advice.hpp"

GST_DEBUG_CATEGORY_EXTERN(dxvadec_debug);
#define GST_CAT_DEFAULT dxvadec_debug

namespace dxva::gst {

Decoder::Decoder(GstVideoDecoder& element)
    : element_(element),
      device_(*GST_ELEMENT_CAST(&element)),
      negotiator_(element, last_answer_),
      allocator_(make_dxva_allocator()),
      opaque_allocator_(make_dxva_opaque_allocator()),
      copy_buffers_(allocator_.get()) {}

Decoder::~Decoder() {
  if (input_) gst_video_codec_state_unref(input_);
}

Settings Decoder::settings() const {
  const std::lock_guard guard(settings_lock_);
  return settings_;
}

void Decoder::set_settings(const Settings& settings) {
  const std::lock_guard guard(settings_lock_);
  settings_ = settings;
}

StructurePtr Decoder::stats() const {
  return stats_.structure();
}

// --- the device

bool Decoder::open() {
  active_ = settings();
  // Without software behind us the caps query knows what we serve (sink_caps()); with it the
  // template does, and a query would ask all of downstream for each caps event.
  GstPad* sink = GST_VIDEO_DECODER_SINK_PAD(&element_);
  if (active_.software_fallback)
    GST_PAD_SET_ACCEPT_TEMPLATE(sink);
  else
    GST_PAD_UNSET_ACCEPT_TEMPLATE(sink);
  device_error_.clear();
  return use_device(device_.open(active_));
}

namespace {

// In a sentence about a device that does not start "[no-device]" says nothing.
std::string why_not(const Status& chosen) {
  if (chosen) return {};
  Error error = chosen.error();
  error.reason = Reason::None;
  return error.describe();
}

// decodebin3 takes the next decoder when one fails on its way to READY; before GStreamer 1.24
// it passes the failed one's error on all the same, and whoever listens ends the stream.
bool error_would_end_autoplugging(GstVideoDecoder& element) {
  if (GST_STATE(&element) != GST_STATE_NULL) return false;
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  if (major > 1 || minor >= 23) return false;
  const auto parent =
      GstPtr<GstObject>::adopt(gst_object_get_parent(GST_OBJECT_CAST(&element)));
  return parent && g_strcmp0(G_OBJECT_TYPE_NAME(parent.get()), "GstDecodebin3") == 0;
}

}  // namespace

bool Decoder::use_device(const Status& chosen) {
  hardware_ = device_.device();
  if (chosen) {
    // settle() has no more to say about what open() had none of.
    if (hardware_) device_error_.clear();
    stats_.set_device(hardware_.name(), device_error_);
    return true;
  }
  const std::string& why = device_error_ = why_not(chosen);
  stats_.set_device(hardware_.name(), why);
  if (!active_.software_fallback) {
    // Both with the same words.
    const auto* text = _("No device for device=%s, and software-fallback is off.");
    if (error_would_end_autoplugging(element_))
      GST_ELEMENT_WARNING(&element_, RESOURCE, NOT_FOUND, (text, active_.device.c_str()),
                          ("%s", why.c_str()));
    else
      GST_ELEMENT_ERROR(&element_, RESOURCE, NOT_FOUND, (text, active_.device.c_str()),
                        ("%s", why.c_str()));
    return false;
  }
  // Not an error: a failure here ends playbin3 in 1.22 instead of trying the next decoder.
  // Somebody who named a device wants to know; for `auto` a machine without one is as good as
  // any other.
  if (!cuda::DeviceChoice::parse(active_.device) &&
      va::DeviceChoice::parse(active_.device).kind == va::DeviceChoice::Kind::Auto)
    GST_INFO_OBJECT(&element_, "no device, decoding in software: %s", why.c_str());
  else
    GST_ELEMENT_WARNING(&element_, RESOURCE, NOT_FOUND,
                        (_("Device %s does not start, decoding in software: %s"),
                         active_.device.c_str(), why.c_str()),
                        ("%s", drm::device_advice(active_.device, why).c_str()));
  return true;
}

bool Decoder::close() {
  // Buffers downstream keep the device themselves.
  hardware_ = {};
  device_.close();
  return true;
}

bool Decoder::start() {
  interrupt(false);
  stats_.reset();
  refused_.clear();
  refused_modifiers_.clear();
  negotiate_again_ = true;
  refusal_told_ = false;
  end_told_ = false;
  live_.reset();
  output_ = {};
  agreement_ = {};
  pause_ = next_pause_ = 0;
  tried_modifiers_.clear();
  gpu_copy_told_ = {"", 0};
  return true;
}

bool Decoder::stop() {
  {
    const std::lock_guard guard(decoder_lock_);
    decoder_.reset();
  }
  params_ = {};
  trace_.forget();
  unfinished_.forget();
  gpu_copied_.reset();
  gpu_copies_.reset();
  copy_buffers_.reset();
  // Downstream's pool is in both: held over the stop, it would keep the OpenGL context.
  agreement_ = {};
  last_answer_ = {};
  if (input_) gst_video_codec_state_unref(std::exchange(input_, nullptr));
  return true;
}

void Decoder::interrupt(bool on) {
  const std::lock_guard guard(decoder_lock_);
  interrupted_ = on;
  gpu_copies_.interrupt(on);
  if (decoder_) decoder_->interrupt(on);
}

// --- caps

namespace {

std::vector<uint8_t> bytes_of(GstBuffer* buffer) {
  std::vector<uint8_t> out;
  GstMapInfo map;
  if (!buffer || !gst_buffer_map(buffer, &map, GST_MAP_READ)) return out;
  out.assign(map.data, map.data + map.size);
  gst_buffer_unmap(buffer, &map);
  return out;
}

bool differ(const GstCaps* a, const GstCaps* b, std::initializer_list<const char*> fields) {
  const GstStructure* x = gst_caps_get_structure(a, 0);
  const GstStructure* y = gst_caps_get_structure(b, 0);
  for (const char* field : fields) {
    const GValue* p = gst_structure_get_value(x, field);
    const GValue* q = gst_structure_get_value(y, field);
    if ((p == nullptr) != (q == nullptr)) return true;
    if (p && gst_value_compare(p, q) != GST_VALUE_EQUAL) return true;
  }
  return false;
}

// Whether two caps of one codec differ in what a device may refuse.
bool other_picture(const GstCaps* a, const GstCaps* b) {
  return differ(a, b, {"width", "height", "profile", "chroma-format", "bit-depth-luma"});
}

// libavcodec 5.1's AV1 decoder asks for the pictures' format once, at the first sequence: one
// of another depth fails on the device. Such a sequence begins with a key frame, and with caps.
bool needs_new_decoder(decode::Codec codec, const GstCaps* before, const GstCaps* now) {
  return codec == decode::Codec::Av1 &&
         differ(before, now, {"chroma-format", "bit-depth-luma"});
}

}  // namespace

bool Decoder::set_format(GstVideoCodecState* state) {
  const GstStructure* caps = gst_caps_get_structure(state->caps, 0);
  const auto codec = codec_of(caps);
  if (!codec) return false;
  // The alpha channel is a stream of its own beside this one; without it the picture is not
  // what was meant. GStreamer's vp8alphadecodebin and vp9alphadecodebin have the higher rank.
  if (has_alpha(caps)) {
    GST_ELEMENT_ERROR(&element_, STREAM, CODEC_NOT_FOUND,
                      (_("This %s stream has an alpha channel, which dxvadec does not decode; "
                         "%salphadecodebin does."),
                       decode::codec_name(*codec), decode::codec_name(*codec)),
                      (nullptr));
    return false;
  }
  decode::StreamParams params{.codec = *codec,
                              .codec_data = bytes_of(state->codec_data),
                              .low_latency = active_.low_latency,
                              .extra_surfaces = active_.extra_surfaces,
                              .modifiers = tried_modifiers_};

  const bool same_stream =
      decoder_ && params.codec == params_.codec && params.codec_data == params_.codec_data;
  // In software because of the picture, not of the device: another picture is another chance.
  const bool try_device = same_stream && hardware_ && !decoder_->mode().hardware && input_ &&
                          other_picture(input_->caps, state->caps);
  // Byte streams bring their headers inside; a new decoder would lose those it has.
  const bool keep = same_stream && !try_device &&
                    !(input_ && needs_new_decoder(params.codec, input_->caps, state->caps));
  // The old stream's pictures, still with the old caps' frame rate and colours.
  if (decoder_ && !keep) drain();
  if (input_) gst_video_codec_state_unref(input_);
  input_ = gst_video_codec_state_ref(state);
  negotiate_again_ = true;
  refusal_told_ = false;
  refused_.clear();
  refused_modifiers_.clear();
  pause_ = next_pause_ = 0;
  if (keep) return true;
  params_ = std::move(params);
  return use_device(device_.settle()) && make_decoder();
}

bool Decoder::make_decoder() {
  auto made = decode::make_avcodec_decoder(params_, hardware_,
                                           active_.software_fallback
                                               ? decode::SoftwareFallback::Allowed
                                               : decode::SoftwareFallback::Forbidden,
                                           decoder_ ? decoder_->surfaces() : nullptr);
  if (!made) {
    answer_error(made.error());
    return false;
  }
  const std::lock_guard guard(decoder_lock_);
  decoder_ = std::move(*made);
  decoder_->interrupt(interrupted_);
  stats_.set_stream(decode::codec_name(params_.codec), "");
  return true;
}

// With software behind us everything in the template is served.
bool Decoder::device_serves(const GstStructure* caps) const {
  if (!hardware_ || active_.software_fallback) return true;
  const auto codec = codec_of(caps);
  return !codec || decode::device_decodes(hardware_, *codec);
}

GstCaps* Decoder::sink_caps(GstCaps* filter) const {
  GstPtr<GstCaps> caps = GstPtr<GstCaps>::adopt(sink_template_caps());
  // Autoplugging asks before it starts the element, or about another stream once it is linked.
  // A pad that runs and has no peer yet is about to be linked by somebody who has decided:
  // refused then, the stream would end as "not linked", and nobody would know why.
  GstPad* sink = GST_VIDEO_DECODER_SINK_PAD(&element_);
  if (!GST_PAD_IS_ACTIVE(sink) || gst_pad_is_linked(sink)) {
    GstCaps* served = gst_caps_new_empty();
    for (guint i = 0; i < gst_caps_get_size(caps.get()); ++i) {
      const GstStructure* structure = gst_caps_get_structure(caps.get(), i);
      if (device_serves(structure))
        gst_caps_append_structure(served, gst_structure_copy(structure));
    }
    caps = GstPtr<GstCaps>::adopt(served);
  }
  if (auto limited =
          within_downstream_limits(GST_VIDEO_DECODER_SRC_PAD(&element_), caps.get(), filter))
    return limited.release();
  return gst_video_decoder_proxy_getcaps(&element_, caps.get(), filter);
}

void Decoder::report_unserved(const GstCaps* caps) const {
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  if (device_serves(structure)) return;
  GST_ELEMENT_ERROR(&element_, STREAM, CODEC_NOT_FOUND,
                    (_("The device (%s) does not decode %s, and software-fallback is off."),
                     hardware_.name().c_str(), decode::codec_name(*codec_of(structure))),
                    (nullptr));
}

// --- packets

// "h264, profile High 4:4:4 Predictive, 1920x1080", as far as it is known.
std::string Decoder::stream_name() const {
  std::string out = decode::codec_name(params_.codec);
  std::string profile = decoder_ ? decoder_->profile() : "";
  const char* told =
      input_ ? gst_structure_get_string(gst_caps_get_structure(input_->caps, 0), "profile")
             : nullptr;
  if (profile.empty() && told) profile = told;
  if (!profile.empty()) out += ", profile " + profile;
  if (input_ && input_->info.width > 0)
    out +=
        ", " + std::to_string(input_->info.width) + "x" + std::to_string(input_->info.height);
  return out;
}

GstFlowReturn Decoder::handle_frame(GstVideoCodecFrame* frame) {
  if (!decoder_) {
    gst_video_decoder_drop_frame(&element_, frame);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  GstMapInfo map;
  if (!gst_buffer_map(frame->input_buffer, &map, GST_MAP_READ)) {
    GST_ELEMENT_ERROR(&element_, STREAM, DECODE, (nullptr), ("input buffer cannot be read"));
    gst_video_decoder_drop_frame(&element_, frame);
    return GST_FLOW_ERROR;
  }
  const Status sent = [&] {
    const trace::Recording recording(trace_.open(frame->system_frame_number));
    const trace::Timed decoding(trace::Stage::Decode);
    return decoder_->send({.data = {map.data, map.size},
                           .number = frame->system_frame_number,
                           .sync_point = GST_VIDEO_CODEC_FRAME_IS_SYNC_POINT(frame)});
  }();
  gst_buffer_unmap(frame->input_buffer, &map);
  // The base class keeps its own reference until a picture with this number comes out.
  gst_video_codec_frame_unref(frame);

  const GstFlowReturn flow = push_ready();
  release_abandoned();
  // What ends the stream is told once: the pictures' trouble before the packet's.
  const GstFlowReturn answer = sent || flow != GST_FLOW_OK ? flow : answer_error(sent.error());
  end_told_ = answer == GST_FLOW_ERROR;
  return answer;
}

GstFlowReturn Decoder::answer_error(const Error& error) {
  GstFlowReturn flow = GST_FLOW_OK;
  const std::string text = error.describe();
  switch (error.code) {
    case ErrorCode::Busy:
      return GST_FLOW_FLUSHING;
    case ErrorCode::BadInput:
    case ErrorCode::NoMemory:
    case ErrorCode::Failed:
      stats_.count_error();
      // Counted by the base class; it ends the stream only where `max-errors` says so.
      GST_VIDEO_DECODER_ERROR(&element_, 1, STREAM, DECODE, (nullptr), ("%s", text.c_str()),
                              flow);
      return flow;
    case ErrorCode::Unsupported:
      stats_.count_error();
      if (error.reason == Reason::None || active_.software_fallback)
        GST_ELEMENT_ERROR(&element_, STREAM, CODEC_NOT_FOUND,
                          (_("This stream (%s) cannot be decoded: %s."), stream_name().c_str(),
                           error.text.c_str()),
                          ("%s", text.c_str()));
      else
        GST_ELEMENT_ERROR(
            &element_, STREAM, CODEC_NOT_FOUND,
            (_("The device (%s) cannot decode this stream (%s): %s. software-fallback is off."),
             hardware_.name().c_str(), stream_name().c_str(), reason_name(error.reason)),
            ("%s", text.c_str()));
      return GST_FLOW_ERROR;
    case ErrorCode::DeviceLost:
      stats_.count_error();
      GST_ELEMENT_ERROR(
          &element_, STREAM, DECODE,
          (_("The device (%s) failed while decoding (%s), and software-fallback is off."),
           hardware_.name().c_str(), reason_name(error.reason)),
          ("%s", text.c_str()));
      return GST_FLOW_ERROR;
  }
  return GST_FLOW_ERROR;
}

GstFlowReturn Decoder::drain() {
  if (!decoder_) return GST_FLOW_OK;
  decoder_->drain();
  const GstFlowReturn flow = push_ready();
  release_abandoned();
  // No later picture will ask.
  report_late(unfinished_.wait());
  // Else the base class adds "No valid frames decoded" where there was none before.
  return end_told_ && flow == GST_FLOW_OK ? GST_FLOW_ERROR : flow;
}

bool Decoder::flush() {
  interrupt(false);
  end_told_ = false;
  unfinished_.forget();
  gpu_copied_.reset();
  if (decoder_) decoder_->flush();
  return true;
}

// Without the stream lock: the streaming thread may be waiting for a surface with it.
void Decoder::before_sink_event(GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START) interrupt(true);
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) interrupt(false);
}

bool Decoder::take_src_event(GstEvent* event) {
  // In the middle of a negotiation perhaps, of which this is not the answer then.
  if (GST_EVENT_TYPE(event) == GST_EVENT_RECONFIGURE) asked_to_negotiate_ = true;
  if (GST_EVENT_TYPE(event) != GST_EVENT_CUSTOM_UPSTREAM) return false;
  const GstStructure* structure = gst_event_get_structure(event);
  if (!structure || !gst_structure_has_name(structure, "dxva-import-failed")) return false;
  guint64 device = 0;
  guint64 inode = 0;
  // Inode 0 is about all buffers: the consumer will map them, which costs the one copy that we
  // would make.
  if (gst_structure_get_uint64(structure, "device", &device) &&
      gst_structure_get_uint64(structure, "inode", &inode) && inode != 0) {
    const char* name = gst_structure_get_string(structure, "reason");
    refused_.add({.device = device, .inode = inode}, reason_of_name(name));
    GST_DEBUG_OBJECT(&element_, "buffer %" G_GUINT64_FORMAT " is not imported (%s): copied",
                     inode, name ? name : "no reason");
  }
  return true;
}

}  // namespace dxva::gst
