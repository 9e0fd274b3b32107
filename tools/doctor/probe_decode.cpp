// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/allocators/gstdmabuf.h>
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "lib/base/buffer_identity.hpp"
#include "lib/base/fourcc.hpp"
#include "lib/dmabuf/identity.hpp"
#include "lib/dmabuf/sync_file.hpp"
#include "lib/video/nv12_layout.hpp"
#include "tools/doctor/hang_watch.hpp"
#include "tools/doctor/probes.hpp"
#include "tools/doctor/test_stream.hpp"

namespace dxva::doctor {
namespace {

// More than a decoder keeps inside, few enough for a slow one.
constexpr uint32_t kPictures = 8;

struct Unref {
  void operator()(gpointer object) const { gst_object_unref(object); }
};
using Element = std::unique_ptr<GstElement, Unref>;
struct SampleUnref {
  void operator()(GstSample* sample) const { gst_sample_unref(sample); }
};
using Sample = std::unique_ptr<GstSample, SampleUnref>;

Element child(const Element& bin, const char* name) {
  return Element(gst_bin_get_by_name(GST_BIN(bin.get()), name));
}

// --- the surface as it left the decoder

// The first buffer behind dxvadec; written on the streaming thread, read when it has ended.
struct Seen {
  std::mutex lock;
  bool any = false;
  Json json = Json::object();
};

std::string hex(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, number);
  return text;
}

// "NV12:0x0100000000000002", or a format alone, which is linear.
uint64_t modifier_of(const GstStructure* caps) {
  const char* drm = gst_structure_get_string(caps, "drm-format");
  const char* colon = drm ? std::strchr(drm, ':') : nullptr;
  return colon ? std::strtoull(colon + 1, nullptr, 16) : 0;
}

void describe_memory(GstBuffer* buffer, GstCaps* caps, Json& out) {
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  char* text = gst_caps_to_string(caps);
  out.set("caps", text);
  g_free(text);
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  if (!gst_is_dmabuf_memory(memory)) {
    out.set("memory", "system");
    return;
  }
  out.set("memory", "dma-buf");
  const uint64_t modifier = modifier_of(structure);
  out.set("modifier", hex(modifier));
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  if (!meta) return;

  video::ImageDescription image{
      .fourcc = meta->format == GST_VIDEO_FORMAT_P010_10LE ? format::kP010 : format::kNV12,
      .width = meta->width,
      .height = meta->height};
  image.object_count = std::min<uint32_t>(gst_buffer_n_memory(buffer), video::kMaxPlanes);
  Json objects = Json::array();
  for (uint32_t i = 0; i < image.object_count; ++i) {
    const int fd = gst_dmabuf_memory_get_fd(gst_buffer_peek_memory(buffer, i));
    if (const auto looked = dmabuf::inspect(fd)) {
      if (looked->kind == dmabuf::FdKind::TestMemfd) out.set("memory", "memfd (GST_DXVA_TEST)");
      image.objects[i] = {
          .size_bytes = looked->size_bytes, .identity = looked->identity, .modifier = modifier};
      if (i == 0) out.set("sync-file", static_cast<bool>(dmabuf::export_write_fence(fd)));
      Json object = Json::object();
      object.set("size", static_cast<int64_t>(looked->size_bytes));
      objects.add(object);
    }
  }
  out.set("objects", objects);
  image.plane_count = std::min<uint32_t>(meta->n_planes, video::kMaxPlanes);
  Json planes = Json::array();
  for (uint32_t i = 0; i < image.plane_count; ++i) {
    guint index = 0, length = 0;
    gsize skip = 0;
    if (!gst_buffer_find_memory(buffer, meta->offset[i], 1, &index, &length, &skip)) continue;
    const GstMemory* part = gst_buffer_peek_memory(buffer, index);
    image.planes[i] = {.object = index,
                       .offset = part->offset + skip,
                       .pitch_bytes = static_cast<uint64_t>(std::max(0, meta->stride[i]))};
    Json plane = Json::object();
    plane.set("object", int64_t{index});
    plane.set("offset", static_cast<int64_t>(image.planes[i].offset));
    plane.set("pitch", static_cast<int64_t>(image.planes[i].pitch_bytes));
    planes.add(plane);
  }
  out.set("planes", planes);
  if (video::classify(image, video::LayoutRule::TightLinear))
    out.set("layout", "tight-linear");
  else if (const auto layout = video::classify(image, video::LayoutRule::Any))
    out.set("layout", layout->layout_class == video::LayoutClass::Tiled ? "tiled" : "linear");
  else
    out.set("layout", reason_name(layout.error().reason));
}

GstPadProbeReturn on_buffer(GstPad* pad, GstPadProbeInfo* info, gpointer data) {
  auto& seen = *static_cast<Seen*>(data);
  const std::lock_guard guard(seen.lock);
  if (std::exchange(seen.any, true)) return GST_PAD_PROBE_OK;
  if (GstCaps* caps = gst_pad_get_current_caps(pad)) {
    describe_memory(GST_PAD_PROBE_INFO_BUFFER(info), caps, seen.json);
    gst_caps_unref(caps);
  }
  return GST_PAD_PROBE_OK;
}

// --- the picture as it came out

// Differences to what the stream says, in bytes; none but a wrong format gives all.
uint64_t wrong_bytes(GstSample* sample, const TestPicture& wanted) {
  const uint64_t all = wanted.luma.size() + wanted.chroma.size();
  GstVideoInfo info;
  GstVideoFrame frame;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
      GST_VIDEO_INFO_FORMAT(&info) != GST_VIDEO_FORMAT_NV12 ||
      GST_VIDEO_INFO_WIDTH(&info) != static_cast<int>(wanted.width) ||
      GST_VIDEO_INFO_HEIGHT(&info) != static_cast<int>(wanted.height) ||
      !gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ))
    return all;
  uint64_t wrong = 0;
  for (uint32_t plane = 0; plane < 2; ++plane) {
    const auto& right = plane == 0 ? wanted.luma : wanted.chroma;
    const auto* data = static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane));
    const int stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane);
    for (uint32_t y = 0; y < wanted.height >> plane; ++y)
      for (uint32_t x = 0; x < wanted.width; ++x)
        if (data[static_cast<gssize>(y) * stride + x] != right[y * wanted.width + x]) ++wrong;
  }
  gst_video_frame_unmap(&frame);
  return wrong;
}

std::string png(GstSample* sample) {
  GstCaps* caps = gst_caps_new_empty_simple("image/png");
  GstSample* converted = gst_video_convert_sample(sample, caps, 20 * GST_SECOND, nullptr);
  gst_caps_unref(caps);
  std::string out;
  GstMapInfo map;
  if (converted && gst_buffer_map(gst_sample_get_buffer(converted), &map, GST_MAP_READ)) {
    char* text = g_base64_encode(map.data, map.size);
    out = text;
    g_free(text);
    gst_buffer_unmap(gst_sample_get_buffer(converted), &map);
  }
  if (converted) gst_sample_unref(converted);
  return out;
}

// The same picture in system memory: gst_video_convert_sample() makes no pipeline with OpenGL.
Sample in_system_memory(GstSample* sample) {
  GstVideoInfo info;
  GstVideoFrame frame;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
      !gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ))
    return nullptr;
  GstVideoInfo plain;
  gst_video_info_set_format(&plain, GST_VIDEO_INFO_FORMAT(&info), info.width, info.height);
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, plain.size, nullptr);
  GstVideoFrame copy;
  if (gst_video_frame_map(&copy, &plain, buffer, GST_MAP_WRITE)) {
    gst_video_frame_copy(&copy, &frame);
    gst_video_frame_unmap(&copy);
  }
  gst_video_frame_unmap(&frame);
  GstCaps* caps = gst_video_info_to_caps(&plain);
  Sample out(gst_sample_new(buffer, caps, nullptr, nullptr));
  gst_caps_unref(caps);
  gst_buffer_unref(buffer);
  return out;
}

Sample reference_sample(const TestPicture& picture) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_NV12, picture.width, picture.height);
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  gst_buffer_fill(buffer, info.offset[0], picture.luma.data(), picture.luma.size());
  gst_buffer_fill(buffer, info.offset[1], picture.chroma.data(), picture.chroma.size());
  GstCaps* caps = gst_video_info_to_caps(&info);
  Sample out(gst_sample_new(buffer, caps, nullptr, nullptr));
  gst_caps_unref(caps);
  gst_buffer_unref(buffer);
  return out;
}

// --- the run

Json counts(const GstStructure* stats, const char* part) {
  Json out = Json::object();
  const GValue* value = gst_structure_get_value(stats, part);
  const GstStructure* inner =
      value && GST_VALUE_HOLDS_STRUCTURE(value) ? gst_value_get_structure(value) : nullptr;
  for (gint i = 0; inner && i < gst_structure_n_fields(inner); ++i) {
    const char* name = gst_structure_nth_field_name(inner, static_cast<guint>(i));
    guint64 count = 0;
    if (gst_structure_get_uint64(inner, name, &count) && count > 0)
      out.set(name, static_cast<int64_t>(count));
  }
  return out;
}

Json stats_of(const Element& element) {
  Json out = Json::object();
  GstStructure* stats = nullptr;
  if (element) g_object_get(element.get(), "stats", &stats, nullptr);
  if (!stats) return out;
  for (const char* part : {"steps", "reasons"}) out.set(part, counts(stats, part));
  for (const char* name : {"device", "device-error", "modifier", "profile", "renderer"})
    if (const char* text = gst_structure_get_string(stats, name)) out.set(name, text);
  guint64 in_place = 0;
  if (gst_structure_get_uint64(stats, "read-in-place", &in_place) && in_place > 0)
    out.set("read-in-place", static_cast<int64_t>(in_place));
  gboolean memfd = FALSE;
  if (gst_structure_get_boolean(stats, "test-memfd", &memfd)) out.set("test-memfd", memfd != 0);
  gst_structure_free(stats);
  return out;
}

void push_clip(GstAppSrc* source) {
  for (uint32_t i = 0; i < kPictures; ++i) {
    const std::vector<uint8_t> unit = test_access_unit(test_picture(i), i);
    GstBuffer* buffer = gst_buffer_new_memdup(unit.data(), unit.size());
    GST_BUFFER_PTS(buffer) = i * GST_SECOND / 25;
    GST_BUFFER_DURATION(buffer) = GST_SECOND / 25;
    gst_app_src_push_buffer(source, buffer);
  }
  gst_app_src_end_of_stream(source);
}

// The first one is why the others came.
bool take_error(GstElement* pipeline, Json& out) {
  GstBus* bus = gst_element_get_bus(pipeline);
  GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  if (message && !out.at("error").exists()) {
    GError* error = nullptr;
    char* details = nullptr;
    gst_message_parse_error(message, &error, &details);
    out.set("error", error->message);
    out.set("details", details ? details : "");
    g_clear_error(&error);
    g_free(details);
  }
  gst_object_unref(bus);
  if (message) gst_message_unref(message);
  return out.at("error").exists();
}

// Null: the stream has ended, or an error has ended it, or there was none for 20 seconds.
Sample next_sample(GstElement* pipeline, GstAppSink* end, Json& out) {
  constexpr GstClockTime kSlice = 100 * GST_MSECOND;
  for (GstClockTime waited = 0; waited < 20 * GST_SECOND; waited += kSlice) {
    // What came before an error is there when the error is.
    const bool failed = take_error(pipeline, out);
    Sample sample(gst_app_sink_try_pull_sample(end, failed ? 0 : kSlice));
    if (sample || failed || gst_app_sink_is_eos(end)) return sample;
  }
  return nullptr;
}

Element make_pipeline(WithOpenGl gl, Json& out) {
  GError* error = nullptr;
  const std::string uploader =
      "dxvaglupload name=uploader ! video/x-raw(memory:GLMemory),format=NV12 ! ";
  const std::string text =
      "appsrc name=source format=time "
      "caps=\"video/x-h264,stream-format=byte-stream,alignment=au,framerate=25/1\" ! "
      "h264parse ! dxvadec name=decoder ! " +
      (gl == WithOpenGl::Yes ? uploader : std::string("video/x-raw,format=NV12 ! ")) +
      "appsink name=end sync=false";
  Element pipeline(gst_parse_launch(text.c_str(), &error));
  if (error) {
    out.set("error", error->message);
    g_clear_error(&error);
    return nullptr;
  }
  return pipeline;
}

}  // namespace

Json probe_decode(const std::string& device, bool pictures, WithOpenGl gl) {
  Json out = Json::object();
  const Element pipeline = make_pipeline(gl, out);
  if (!pipeline) return out;
  const Element decoder = child(pipeline, "decoder");
  const Element uploader = child(pipeline, "uploader");
  if (!device.empty()) g_object_set(decoder.get(), "device", device.c_str(), nullptr);
  Seen seen;
  GstPad* pad = gst_element_get_static_pad(decoder.get(), "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, &seen, nullptr);
  gst_object_unref(pad);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  push_clip(GST_APP_SRC(child(pipeline, "source").get()));

  const Element end = child(pipeline, "end");
  uint32_t frames = 0;
  uint64_t wrong = 0;
  while (const Sample sample = next_sample(pipeline.get(), GST_APP_SINK(end.get()), out)) {
    const TestPicture wanted = test_picture(frames);
    note_progress();
    wrong += wrong_bytes(sample.get(), wanted);
    if (++frames == kPictures && pictures) {
      Json shown = Json::object();
      if (const Sample plain = in_system_memory(sample.get()))
        shown.set("decoded", png(plain.get()));
      shown.set("reference", png(reference_sample(wanted).get()));
      out.set("pictures", shown);
    }
  }
  if (!take_error(pipeline.get(), out) && !gst_app_sink_is_eos(GST_APP_SINK(end.get())))
    out.set("timed-out", true);
  out.set("sent", int64_t{kPictures});
  out.set("frames", int64_t{frames});
  out.set("wrong-bytes", static_cast<int64_t>(wrong));
  out.set("decoder", stats_of(decoder));
  out.set("uploader", stats_of(uploader));
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  out.set("surface", seen.json);
  return out;
}

}  // namespace dxva::doctor
