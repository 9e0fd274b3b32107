// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/decode/avcodec_decoder.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <utility>

#include "lib/base/log.hpp"
#include "lib/decode/av1_metadata.hpp"
#include "lib/decode/avcodec_context.hpp"
#include "lib/decode/avcodec_frame.hpp"
#include "lib/decode/avcodec_handles.hpp"
#include "lib/decode/avcodec_hwaccel.hpp"
#include "lib/decode/device_support.hpp"
#include "lib/decode/jpeg_scans.hpp"
#include "lib/decode/pending_pictures.hpp"
#include "lib/decode/replay_queue.hpp"
#include "lib/decode/sync_point.hpp"
#include "lib/decode/unserved.hpp"

namespace dxva::decode {

namespace {

// Above the codec's own count: the picture being written, and what libavcodec keeps beside the
// DPB (a delayed output, the missing-reference stand-in, the previous picture for concealment).
// Its own suggestion cannot be used: FFmpeg 7.1 says 0.
constexpr uint32_t kBeyondDpb = 1 + 3;

// A device that failed gets another chance at each new start (a seek), this often, and while
// the stream goes on after a wait that doubles with each failure.
constexpr uint32_t kMaxDeviceFailures = 3;
constexpr uint32_t kFirstWait = 250;  // packets; ten seconds of most streams
constexpr uint32_t kLongestWait = 16'000;

bool is_device_failure(Reason reason) {
  using enum Reason;
  return reason == DecodeErrors || reason == SyncFailed || reason == ReadBackFailed ||
         reason == DeviceLost || reason == ContextNotMade || reason == SurfacesNotMade;
}

Error refused_in_software(Reason reason) {
  const bool failed = is_device_failure(reason);
  return Error{.code = failed ? ErrorCode::DeviceLost : ErrorCode::Unsupported,
               .call = "decode",
               .text = failed ? "the device failed" : "the device cannot decode this stream",
               .reason = reason};
}

class AvcodecDecoder final : public BitstreamDecoder {
 public:
  AvcodecDecoder(const StreamParams& params, Device device, SoftwareFallback fallback)
      : params_(params),
        traits_(traits(params.codec)),
        hardware_(std::move(device)),
        software_allowed_(fallback == SoftwareFallback::Allowed),
        pending_(traits_.reorders),
        context_(
            {.began = [this](uint32_t number) { pending_.allocated(number); },
             .output = [this](AVFrame& frame, uint32_t number) { output(frame, number); }}) {}

  ~AvcodecDecoder() override = default;

  [[nodiscard]] Status open(std::shared_ptr<surface::Pool> spare);

  Status send(const Packet& packet) override;
  std::optional<DecodedFrame> receive() override;
  Status decode_again(const DecodedFrame& picture, Reason reason) override;
  bool takes_modifiers() const override {
    return mode_.hardware && hardware_.va &&
           device_takes_modifiers(*hardware_.va, params_.codec);
  }
  Result<bool> remake_surfaces(const DecodedFrame& picture,
                               const std::vector<uint64_t>& modifiers) override;
  std::vector<uint32_t> take_abandoned() override { return pending_.take_abandoned(); }
  void drain() override;
  void flush() override;
  void interrupt(bool on) override;
  Mode mode() const override { return mode_; }
  uint32_t delay() const override { return context_.delay(); }
  Pools pools() const override { return hwaccel_ ? hwaccel_->pools() : Pools{}; }
  std::shared_ptr<surface::Pool> surfaces() const override {
    return hwaccel_ ? hwaccel_->surfaces() : nullptr;
  }
  std::string profile() const override { return context_.profile(); }

 private:
  [[nodiscard]] Status open_context(bool hardware) {
    return context_.open(params_, hardware ? hwaccel_.get() : nullptr);
  }
  [[nodiscard]] Status decode(const StoredPacket& packet, bool may_restart);
  [[nodiscard]] Status go_software(Reason reason, const StoredPacket& current);
  [[nodiscard]] Status restart_larger(const StoredPacket& packet);
  void output(AVFrame& frame, uint32_t number);
  void lose(uint32_t number);
  void await_again(const DecodedFrame& picture);
  [[nodiscard]] Status replay(const std::deque<StoredPacket>& packets);
  void await_unread();
  void begin_stretch();
  [[nodiscard]] bool is_overdue() const;
  void show_unrecovered();
  void decode_backlog();
  void finish();
  void device_failed();
  // In software for a reason that may have passed.
  [[nodiscard]] bool device_may_be_tried() const {
    return hwaccel_ && !mode_.hardware && is_device_failure(mode_.reason) &&
           !hardware_.is_lost();
  }
  void try_device_again();

  const StreamParams params_;
  const CodecTraits traits_;
  const Device hardware_;
  const bool software_allowed_;

  PendingPictures pending_;
  ReplayQueue replay_;
  // Decoded as their pictures are taken: all at once would hold more surfaces than there are.
  std::deque<StoredPacket> backlog_;
  std::deque<DecodedFrame> ready_;
  Av1Metadata av1_metadata_;  // of the packets so far
  Mode mode_;
  uint32_t device_failures_ = 0;
  uint32_t packets_to_wait_ = 0;  // in software, before the device is tried again
  bool corrupt_ = false;          // since the last sync point
  bool unshown_ = true;           // nothing has come out of this stretch
  bool baseless_ = false;         // what comes out, up to the next sync point
  bool drained_ = false;          // and nothing sent since
  bool shown_ = false;            // a picture of this stream

  std::atomic<bool> interrupted_ = false;

  std::unique_ptr<Hwaccel> hwaccel_;  // null: no device
  AvcodecContext context_;            // last: its worker threads call into the members above
};

Status AvcodecDecoder::open(std::shared_ptr<surface::Pool> spare) {
  // av1C (AV1 in ISOBMFF 2.3.3): four bytes, then OBUs.
  if (params_.codec == Codec::Av1 && params_.codec_data.size() > 4)
    av1_metadata_.read(std::span(params_.codec_data).subspan(4));
  if (!hardware_) {
    mode_ = {.hardware = false, .reason = Reason::NoDevice};
    return open_context(false);
  }
  Status opened = Done{};
  // Nothing of libavcodec is asked before: its AV1 decoder prints errors to stderr from within
  // the opening where the device has no AV1.
  if (!device_decodes(hardware_, params_.codec))
    opened =
        Error{.code = ErrorCode::Unsupported,
              .call = "open",
              .text = std::string("the device does not decode ") + codec_name(params_.codec),
              .reason = Reason::ProfileUnsupported};
  if (opened) {
    auto made = Hwaccel::create(params_.codec, hardware_,
                                traits_.dpb + kBeyondDpb + params_.extra_surfaces);
    if (made) {
      hwaccel_ = std::move(*made);
      hwaccel_->set_modifiers(params_.modifiers);
      hwaccel_->take_over(std::move(spare));
    } else {
      opened = made.error();
    }
  }
  if (opened) opened = open_context(true);
  if (opened) {
    mode_ = {.hardware = true};
    return opened;
  }
  if (!software_allowed_) return opened;
  DXVA_INFO(Decode, "%s in software: %s", codec_name(params_.codec),
            opened.error().describe().c_str());
  const Reason reason = opened.error().reason;
  mode_ = {.hardware = false,
           .reason = reason != Reason::None ? reason : Reason::ProfileUnsupported};
  if (hwaccel_ && is_device_failure(reason)) device_failed();
  return open_context(false);
}

// --- packets in, pictures out

Status AvcodecDecoder::send(const Packet& packet) {
  if (interrupted_) return Error{.code = ErrorCode::Busy, .call = "send"};
  if (packet.data.empty()) {
    // libavcodec takes an empty packet for the end of the stream.
    pending_.sent(packet.number, {});
    pending_.failed(packet.number);
    return Done{};
  }
  if (packet.data.size() > INT32_MAX - AV_INPUT_BUFFER_PADDING_SIZE)
    return Error{.code = ErrorCode::BadInput, .call = "send", .text = "packet too large"};

  // A picture of JPEG is a stream of its own.
  if (!shown_ || params_.codec == Codec::Jpeg)
    if (std::string what = unserved(params_.codec, packet.data, params_.codec_data);
        !what.empty())
      return Error{.code = ErrorCode::Unsupported, .call = "send", .text = std::move(what)};

  if (std::exchange(drained_, false)) {
    pending_.drained();
    begin_stretch();
  }
  if (packets_to_wait_ > 0) --packets_to_wait_;
  if (packets_to_wait_ == 0 && device_may_be_tried() &&
      starts_anew(params_.codec, packet, params_.codec_data))
    try_device_again();
  const StoredPacket stored =
      StoredPacket::copy(packet.data, AV_INPUT_BUFFER_PADDING_SIZE, packet.number,
                         starts_decoding(params_.codec, packet));
  if (stored.sync_point) corrupt_ = false;
  pending_.sent(stored.number, {.sync_point = stored.sync_point, .corrupt = corrupt_});
  if (mode_.hardware || unshown_) replay_.push(stored, pending_.oldest());
  if (params_.codec == Codec::Av1) av1_metadata_.read(packet.data);
  if (!backlog_.empty()) {
    backlog_.push_back(stored);
    return Done{};
  }
  Status decoded = decode(stored, true);
  const bool goes_on = decoded || decoded.error().code == ErrorCode::BadInput;
  if (goes_on && is_overdue()) show_unrecovered();
  return decoded;
}

Status AvcodecDecoder::decode(const StoredPacket& packet, bool may_restart) {
  if (mode_.hardware && params_.codec == Codec::Jpeg &&
      has_several_jpeg_scans({packet.bytes.get(), packet.size_bytes}))
    return go_software(Reason::ProfileUnsupported, packet);
  // Its decoder asks for surfaces before it finds that there is no key frame yet to tell their
  // size.
  if (mode_.hardware && params_.codec == Codec::Vp8 && !packet.sync_point &&
      !context_.knows_size()) {
    pending_.failed(packet.number);
    return Error{.code = ErrorCode::BadInput, .call = "decode", .text = "no key frame yet"};
  }
  if (!context_.is_open()) {
    // A restart failed earlier, or surfaces were refused and there is no software behind them.
    if (auto opened = open_context(mode_.hardware); !opened) return opened;
  }
  const int rc = context_.submit(packet);
  const Hwaccel::Noticed noticed = context_.noticed();
  if (noticed.refused != Reason::None) {
    // It may have been short of memory, and have more another time.
    if (is_device_failure(noticed.refused)) device_failed();
    return go_software(noticed.refused, packet);
  }
  if (noticed.too_large)
    return may_restart ? restart_larger(packet) : go_software(Reason::SizeOutOfRange, packet);
  if (noticed.interrupted) return Error{.code = ErrorCode::Busy, .call = "get_buffer2"};
  if (noticed.no_surface) {
    corrupt_ = true;
    pending_.failed(packet.number);
    return av_error(ErrorCode::NoMemory, "get_buffer2", rc, Reason::SurfacePoolEmpty);
  }
  if (mode_.hardware && accel::stops(noticed.severity)) {
    device_failed();
    return go_software(
        noticed.severity == accel::Severity::Fatal ? Reason::DeviceLost : Reason::DecodeErrors,
        packet);
  }
  if (noticed.unstarted) {
    lose(packet.number);
    return Error{.code = ErrorCode::BadInput,
                 .call = "avcodec_send_packet",
                 .text = "the references of all slices are missing"};
  }
  if (rc >= 0) return Done{};
  corrupt_ = true;
  // With frame threads the error may be an earlier packet's.
  if (mode_.hardware) pending_.failed(packet.number);
  return av_error(ErrorCode::BadInput, "avcodec_send_packet", rc);
}

// The picture's surface has what it had before.
void AvcodecDecoder::lose(uint32_t number) {
  corrupt_ = true;
  std::erase_if(ready_, [&](const DecodedFrame& ready) { return ready.number == number; });
  pending_.lost(number);
}

void AvcodecDecoder::output(AVFrame& frame, uint32_t number) {
  shown_ = true;
  // A replay shows pictures again; they are not awaited any more.
  const auto marks = pending_.output(number);
  if (!marks) return;
  if (std::exchange(unshown_, false) && !mode_.hardware) replay_.clear();
  if (marks->sync_point) baseless_ = false;

  auto out = describe(frame, mode_.hardware ? hwaccel_.get() : nullptr);
  if (!out) return;
  out->number = number;
  out->sync_point = marks->sync_point;
  out->corrupt |= marks->corrupt || baseless_;
  if (params_.codec == Codec::H265) {
    // Its decoder pairs no fields: what it calls interlaced is one of them alone.
    out->lone_field = std::exchange(out->interlaced, false);
    out->top_field_first = false;
  }
  if (out->surface) {
    // Decoders of system memory read them themselves, and give pictures out later.
    if (!out->mastering) out->mastering = av1_metadata_.mastering;
    if (!out->light) out->light = av1_metadata_.light;
  }
  ready_.push_back(std::move(*out));
}

std::optional<DecodedFrame> AvcodecDecoder::receive() {
  while (ready_.empty() && !backlog_.empty()) decode_backlog();
  if (ready_.empty()) return std::nullopt;
  std::optional<DecodedFrame> out(std::move(ready_.front()));
  ready_.pop_front();
  return out;
}

void AvcodecDecoder::drain() {
  // The books stay until the next packet: a surface may yet turn out to be unreadable.
  drained_ = true;
  if (!backlog_.empty()) return;
  finish();
  if (unshown_ && !replay_.packets().empty()) show_unrecovered();
}

void AvcodecDecoder::finish() {
  context_.drain();
  const accel::Severity severity = context_.noticed().severity;
  if (!mode_.hardware || !accel::stops(severity)) return;
  device_failed();
  const Status again = go_software(
      severity == accel::Severity::Fatal ? Reason::DeviceLost : Reason::DecodeErrors, {});
  if (!again) DXVA_INFO(Decode, "the last pictures: %s", again.error().describe().c_str());
}

void AvcodecDecoder::flush() {
  context_.flush();
  ready_.clear();
  pending_.clear();
  begin_stretch();
  corrupt_ = false;
  drained_ = false;
  // A new start is a chance for a device that failed, but not for ever.
  if (device_failures_ < kMaxDeviceFailures && device_may_be_tried()) {
    if (open_context(true)) mode_ = {.hardware = true};
  }
}

void AvcodecDecoder::interrupt(bool on) {
  interrupted_ = on;
  if (hwaccel_) hwaccel_->interrupt(on);
}

// --- from the device to software, and to larger surfaces

Status AvcodecDecoder::decode_again(const DecodedFrame& picture, Reason reason) {
  await_again(picture);
  if (mode_.hardware) device_failed();
  return go_software(reason, {});
}

// This picture and those that wait behind it come out once more.
void AvcodecDecoder::await_again(const DecodedFrame& picture) {
  pending_.sent(picture.number, {.sync_point = picture.sync_point, .corrupt = picture.corrupt});
  await_unread();
}

// Those on surfaces. Pictures in system memory are as good as they were, and nothing is left to
// make them of when the device has just been tried again.
void AvcodecDecoder::await_unread() {
  std::deque<DecodedFrame> kept;
  for (DecodedFrame& unread : ready_) {
    if (unread.surface)
      pending_.sent(unread.number,
                    {.sync_point = unread.sync_point, .corrupt = unread.corrupt});
    else
      kept.push_back(std::move(unread));
  }
  ready_ = std::move(kept);
}

Result<bool> AvcodecDecoder::remake_surfaces(const DecodedFrame& picture,
                                             const std::vector<uint64_t>& modifiers) {
  if (!mode_.hardware || replay_.packets().empty()) return false;
  await_again(picture);
  hwaccel_->set_modifiers(modifiers);
  const std::deque<StoredPacket> again = replay_.packets();
  if (auto opened = open_context(true); !opened) {
    const Status last = go_software(opened.error().reason, {});
    if (!last) return last.error();
    return true;
  }
  if (context_.shows_unrecovered()) {
    // From the stretch's first packet on.
    backlog_ = again;
    return true;
  }
  // The queue stays: the device may yet fail. A broken packet has been told of already.
  const Status last = replay(again);
  if (!last && last.error().code != ErrorCode::BadInput) return last.error();
  return true;
}

// What follows needs nothing from before it that could be had.
void AvcodecDecoder::begin_stretch() {
  replay_.begin();
  backlog_.clear();
  context_.show_unrecovered(false);
  unshown_ = true;
  baseless_ = false;
}

// libavcodec hides the pictures of a stretch up to the first one that needs nothing from before
// it (H.264: an IDR picture, a recovery point, an I picture that looks like one): whoever joins
// a stream in its middle wants it so. There are streams in which none comes.
bool AvcodecDecoder::is_overdue() const {
  return unshown_ && (replay_.packets().empty() || replay_.packets().size() > kLongestDelay);
}

// Decodes the stretch again and shows all of it, as it is.
void AvcodecDecoder::show_unrecovered() {
  // The queue stays, for a device that fails meanwhile.
  backlog_ = replay_.packets();
  DXVA_INFO(Decode, "%s: no picture to start at in %zu packets, shown as it is",
            codec_name(params_.codec), backlog_.size());
  context_.flush();
  context_.show_unrecovered(true);
  unshown_ = false;
  baseless_ = true;
}

void AvcodecDecoder::decode_backlog() {
  const StoredPacket packet = std::move(backlog_.front());
  backlog_.pop_front();
  const Status decoded = decode(packet, false);
  // A broken packet has been told of already.
  if (!decoded && decoded.error().code != ErrorCode::BadInput) {
    DXVA_INFO(Decode, "decoded again: %s", decoded.error().describe().c_str());
    backlog_.clear();
  }
  if (drained_ && backlog_.empty()) finish();
}

// Pictures that are out already find nobody who awaits them and fall away (output()).
Status AvcodecDecoder::replay(const std::deque<StoredPacket>& packets) {
  const bool hardware = mode_.hardware;
  Status last = Done{};
  for (const StoredPacket& packet : packets) {
    last = decode(packet, false);
    // A device that fails meanwhile has had all of them decoded in software.
    if (mode_.hardware != hardware) return last;
    if (!last && last.error().code == ErrorCode::Busy) break;
  }
  if (drained_) context_.drain();
  return last;
}

void AvcodecDecoder::device_failed() {
  packets_to_wait_ = std::min(kFirstWait << std::min(device_failures_, 16u), kLongestWait);
  ++device_failures_;
  hwaccel_->distrust_surfaces();
  // Nobody has read them yet, and by the time somebody does there is nothing left to replay.
  await_unread();
}

// Before a packet that needs nothing of those before it, whose pictures all come out first.
void AvcodecDecoder::try_device_again() {
  context_.drain();
  pending_.drained();
  replay_.clear();
  const Status opened = open_context(true);
  DXVA_INFO(Decode, "%s on the device again: %s", codec_name(params_.codec),
            opened ? "" : opened.error().describe().c_str());
  if (opened) {
    mode_ = {.hardware = true};
    return;
  }
  // send() opens the context for software.
  packets_to_wait_ = kLongestWait;
}

// `current` is the packet at hand; without bytes, there is none.
Status AvcodecDecoder::go_software(Reason reason, const StoredPacket& current) {
  if (!software_allowed_) return refused_in_software(reason);
  DXVA_INFO(Decode, "%s in software from packet %u on: %s", codec_name(params_.codec),
            current.number, reason_name(reason));
  mode_ = {.hardware = false, .reason = reason};
  if (auto opened = open_context(false); !opened) {
    replay_.clear();
    return opened;
  }
  if (replay_.packets().empty() && current.bytes) {
    // In the middle of a stretch without sync points. For this context it is the start of one.
    begin_stretch();
    replay_.push(current, current.number);
  }
  const std::deque<StoredPacket> again = replay_.packets();
  if (!unshown_) replay_.clear();
  backlog_.clear();
  return replay(again);
}

// AV1 may grow without asking get_format again (FFmpeg 5.1 and 7.1): pictures would be written
// into surfaces that are too small.
Status AvcodecDecoder::restart_larger(const StoredPacket& packet) {
  if (!packet.sync_point) return go_software(Reason::SizeOutOfRange, packet);
  DXVA_DEBUG(Decode, "packet %u is larger than the surfaces: a new context", packet.number);
  context_.drain();
  if (auto opened = open_context(true); !opened) return opened;
  return decode(packet, false);
}

}  // namespace

std::string avcodec_version_text() {
  const unsigned version = avcodec_version();
  return std::to_string(AV_VERSION_MAJOR(version)) + "." +
         std::to_string(AV_VERSION_MINOR(version)) + "." +
         std::to_string(AV_VERSION_MICRO(version));
}

Result<std::unique_ptr<BitstreamDecoder>> make_avcodec_decoder(
    const StreamParams& params, Device device, SoftwareFallback fallback,
    std::shared_ptr<surface::Pool> spare) {
  auto decoder = std::make_unique<AvcodecDecoder>(params, std::move(device), fallback);
  if (auto opened = decoder->open(std::move(spare)); !opened) return opened.error();
  return std::unique_ptr<BitstreamDecoder>(std::move(decoder));
}

}  // namespace dxva::decode
