// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The work behind dxvadec: GstVideoDecoder's virtual functions, without GObject around them.
// decoder.cpp has what goes in (device, caps, packets, flushes), decoder_output.cpp what comes
// out, decoder_detile.cpp the copies that the device makes, decoder_caps.cpp the caps and the
// memory that it leaves with.

#include <gst/video/gstvideodecoder.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gst/common/gst_ptr.hpp"
#include "gst/dxva/copy_buffers.hpp"
#include "gst/dxva/decoder_device.hpp"
#include "gst/dxva/decoder_stats.hpp"
#include "gst/dxva/gpu_copies.hpp"
#include "gst/dxva/negotiation.hpp"
#include "gst/dxva/output_format.hpp"
#include "gst/dxva/picture_copy.hpp"
#include "gst/dxva/picture_trace.hpp"
#include "gst/dxva/refused_buffers.hpp"
#include "gst/dxva/settings.hpp"
#include "gst/dxva/surface_look.hpp"
#include "lib/decode/bitstream_decoder.hpp"
#include "lib/decode/device.hpp"
#include "lib/va/unfinished_pictures.hpp"

namespace dxva::gst {

// Thread rules: the virtual functions come with the stream lock held, or while no data flows.
// sink_event(), src_event(), interrupt(), stats() and the settings come from any thread.
class Decoder {
 public:
  explicit Decoder(GstVideoDecoder& element);
  ~Decoder();

  [[nodiscard]] Settings settings() const;
  void set_settings(const Settings& settings);
  [[nodiscard]] StructurePtr stats() const;

  // NULL→READY and back: the device.
  bool open();
  bool close();
  bool start();
  bool stop();
  // Ends waits for surfaces, now and until the next start or flush.
  void interrupt(bool on);

  bool set_format(GstVideoCodecState* state);
  GstFlowReturn handle_frame(GstVideoCodecFrame* frame);
  GstFlowReturn drain();
  bool flush();
  void before_sink_event(GstEvent* event);
  // True: the event was ours and goes no further.
  bool take_src_event(GstEvent* event);
  // What an allocation query brought, before the base class looks at it, and after.
  void before_decide_allocation(GstQuery* query);
  void after_decide_allocation(GstQuery* query);
  [[nodiscard]] GstCaps* sink_caps(GstCaps* filter) const;
  // Queries about what lies beside the stream; false: not ours to answer. Any thread.
  [[nodiscard]] bool answer_query(GstQuery* query) const { return device_.answer(query); }
  // Caps that arrive and will be refused: says why, which whoever sent them cannot.
  void report_unserved(const GstCaps* caps) const;

 private:
  // --- in
  bool use_device(const Status& chosen);
  [[nodiscard]] bool make_decoder();
  GstFlowReturn answer_error(const Error& error);
  [[nodiscard]] bool device_serves(const GstStructure* caps) const;
  [[nodiscard]] std::string stream_name() const;

  // --- out
  struct Outgoing {
    GstFlowReturn flow = GST_FLOW_OK;
    Leaving leaving = Leaving::Software;
    Reason reason = Reason::None;
    Reason unreadable = Reason::None;  // set: the surface has no pixels for anybody
    bool damaged = false;              // the driver says so
    bool measured = false;             // a turn of a way that may not stay
  };
  GstFlowReturn push_ready();
  void release_abandoned();
  GstFlowReturn deliver(const decode::DecodedFrame& picture);
  // Whether there are caps for a picture.
  struct Prepared {
    enum class Kind {
      Ready,
      Refused,
      DecodedAgain,  // it comes once more, on another surface
    } kind = Kind::Ready;
    GstFlowReturn flow = GST_FLOW_OK;  // of DecodedAgain
  };
  [[nodiscard]] Prepared prepare(const decode::DecodedFrame& picture, SurfaceLook& look);
  [[nodiscard]] Prepared negotiate(const decode::DecodedFrame& picture,
                                   const OutputFormat& output, SurfaceLook& look);
  [[nodiscard]] Result<bool> remake_surfaces(const decode::DecodedFrame& picture,
                                             const SurfaceLook& look,
                                             const ModifiersTaken& taken);
  [[nodiscard]] OutputFormat steady_format(const decode::DecodedFrame& picture) const;
  // Whether downstream could not import surfaces for the tiling of this one, which it had
  // listed.
  [[nodiscard]] bool is_layout_refused(const SurfaceLook& look) const;
  // Downstream has fewer surfaces of the pool than it may, or will in a moment.
  [[nodiscard]] bool has_room(surface::Pool& pool);
  [[nodiscard]] bool source_is_live();
  [[nodiscard]] Reason lend(const decode::DecodedFrame& picture, const SurfaceLook& look,
                            accel::Pixels pixels, GstVideoCodecFrame& frame);
  [[nodiscard]] bool lend_in_place(const decode::DecodedFrame& picture, const SurfaceLook& look,
                                   GstVideoCodecFrame& frame);
  [[nodiscard]] Outgoing leave(const decode::DecodedFrame& picture, const SurfaceLook& look,
                               GstVideoCodecFrame& frame);
  // --- copied by the device, where the layout is the trouble
  struct Detiling {
    va::CopyChoices::Key key;
    bool by_gpu = false;
    bool measured = false;
  };
  enum class EvenIfSlower { No, Yes };
  [[nodiscard]] std::optional<GpuCopies::Copied> offer_gpu_copy(
      const decode::DecodedFrame& picture, const SurfaceLook& look, const ModifiersTaken& taken,
      EvenIfSlower even);
  [[nodiscard]] std::optional<Detiling> detiling_of(const decode::DecodedFrame& picture,
                                                    const SurfaceLook& look, Reason reason);
  [[nodiscard]] Reason lend_gpu_copy(const decode::DecodedFrame& picture,
                                     const Detiling& detiling, Reason reason,
                                     GstVideoCodecFrame& frame);
  void took(const Detiling& detiling, std::chrono::nanoseconds time);
  [[nodiscard]] std::optional<GpuCopies::Copied> make_gpu_copy(
      const decode::DecodedFrame& picture, const va::CopyChoices::Key& key,
      const ModifiersTaken& taken);
  void report_gpu_copy(const va::CopyChoices::Key& key);

  [[nodiscard]] GstFlowReturn allocate_copy(GstVideoCodecFrame& frame, Reason reason);
  [[nodiscard]] GstFlowReturn fill_copy(const PictureView& picture, const decode::Rect& visible,
                                        GstVideoCodecFrame& frame);
  void let_be_next(surface::Surface& surface, const SurfaceLook& look) const;
  [[nodiscard]] bool may_leave_unfinished(const decode::DecodedFrame& picture,
                                          const SurfaceLook& look);
  void report_late(const Result<uint32_t>& damaged);
  GstFlowReturn cannot_export(Reason reason);
  [[nodiscard]] bool is_first_refusal();
  void report_refused_format(const OutputFormat& output);
  void report_latency();
  void take_a_pause();

  GstVideoDecoder& element_;
  DecoderStats stats_;
  PictureTrace trace_;
  RefusedBuffers refused_;

  mutable std::mutex settings_lock_;
  Settings settings_;

  DecoderDevice device_;
  // Its choice, from open() or the first caps to close(). None: software.
  decode::Device hardware_;
  std::string device_error_;  // why there is none
  Settings active_;           // as they were at open()

  GstVideoCodecState* input_ = nullptr;
  decode::StreamParams params_;
  // Other threads interrupt it, so the pointer has a lock; only the streaming thread writes it.
  std::mutex decoder_lock_;
  std::shared_ptr<decode::BitstreamDecoder> decoder_;
  bool interrupted_ = false;

  // --- out
  AllocationAnswer last_answer_;
  Negotiator negotiator_;
  OutputFormat output_;
  Agreement agreement_;
  bool negotiate_again_ = true;
  // Downstream has changed what it takes. The pad's own flag is lost where the base class
  // negotiates, which knows one kind of caps: in gst_video_decoder_negotiate() and for each
  // copy's buffer.
  std::atomic<bool> asked_to_negotiate_ = false;
  bool refusal_told_ = false;  // on the bus, since the last caps in or out
  bool end_told_ = false;      // there too: the last packet was an error
  std::optional<bool> live_;   // the source, since it was asked
  // That had no room for the running picture, which is copied therefore.
  std::weak_ptr<surface::Pool> full_;
  // What the driver was asked to lay surfaces out as, because downstream takes nothing else.
  // New decoders ask for it from the start.
  std::vector<uint64_t> tried_modifiers_;
  // Tiled buffers that went out under the caps as they are.
  std::set<BufferIdentity> lent_tiles_;
  // Tilings that downstream listed and could not import, of this stretch of pictures.
  std::vector<uint64_t> refused_modifiers_;
  // A refusal that made us leave dma-bufs altogether: pictures until the next try, and how
  // many it will be the time after.
  uint32_t pause_ = 0;
  uint32_t next_pause_ = 0;
  uint32_t latency_pictures_ = 0;
  GstPtr<GstAllocator> allocator_;
  GstPtr<GstAllocator> opaque_allocator_;
  va::UnfinishedPictures unfinished_;
  CopyBuffers copy_buffers_;
  GpuCopies gpu_copies_;
  // Made to see what it would be like, and not yet sent.
  std::optional<GpuCopies::Copied> gpu_copied_;
  // What `stats` know of them: the way, and how many were dropped.
  std::pair<const char*, size_t> gpu_copy_told_{"", 0};
};

}  // namespace dxva::gst
