// SPDX-License-Identifier: LGPL-2.1-or-later
//
// autoplug [FACTORY.PROPERTY=VALUE...]: for each line "PLAYBIN SINK URI" on stdin plays URI to
// its end and prints one JSON object in a line: the elements that were in the pipeline then,
// the decoders that were tried, how many buffers left each, how many frames the sink drew, and
// what was said on the bus;
// and "ended" when the pipeline is gone, so that a crash on the way there can be told from
// others. The properties are set on elements as playbin plugs them, before they leave NULL, as
// an application does it with deep-element-added.
//
// Many runs in one process, because starting GStreamer and a scan of its plugins takes longer
// than a short clip.

#include <gst/gst.h>
#include <json-glib/json-glib.h>

#include <atomic>
#include <cstdio>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gst/common/gst_ptr.hpp"

namespace {

using dxva::gst::GlibString;
using dxva::gst::GstPtr;

constexpr GstClockTime kPatience = 60 * GST_SECOND;  // a hang, not slowness

struct Setting {
  std::string factory, property, value;
};

std::vector<Setting> parse_settings(int argc, char** argv) {
  std::vector<Setting> out;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const size_t dot = text.find('.'), equals = text.find('=');
    if (dot == std::string::npos || equals == std::string::npos || equals < dot) {
      std::fprintf(stderr, "autoplug: %s is no FACTORY.PROPERTY=VALUE\n", argv[i]);
      std::exit(2);
    }
    out.push_back(
        {text.substr(0, dot), text.substr(dot + 1, equals - dot - 1), text.substr(equals + 1)});
  }
  return out;
}

// Not by its own name: an application may have called it anything.
std::string factory_of(GstElement* element) {
  const GstElementFactory* factory = gst_element_get_factory(element);
  return factory ? GST_OBJECT_NAME(factory) : "";
}

class Run {
 public:
  Run(std::string playbin, std::string sink, std::string uri,
      const std::vector<Setting>& settings)
      : playbin_(std::move(playbin)),
        sink_(std::move(sink)),
        uri_(std::move(uri)),
        settings_(settings) {}

  void play();
  [[nodiscard]] std::string json();

 private:
  void on_element(GstElement* element);
  void wait(GstElement* pipeline);
  void look(GstElement* pipeline);

  std::string playbin_, sink_, uri_;
  const std::vector<Setting>& settings_;

  std::mutex lock_;                                  // elements are put in by several threads
  std::set<std::string> tried_;                      // decoders that were put in
  std::map<std::string, std::atomic<gint64>> gave_;  // those and bins of them; never removed
  std::set<std::string> elements_;                   // what was in at the end
  GstElement* silence_ = nullptr;  // lent by the pipeline: the sink of what is no video
  guint64 drawn_ = 0;
  std::string error_;
  std::vector<std::string> warnings_;
};

void Run::on_element(GstElement* element) {
  const std::string factory = factory_of(element);
  for (const Setting& setting : settings_)
    if (setting.factory == factory)
      gst_util_set_object_arg(G_OBJECT(element), setting.property.c_str(),
                              setting.value.c_str());
  if (!gst_element_get_factory(element) ||
      !gst_element_factory_list_is_type(gst_element_get_factory(element),
                                        GST_ELEMENT_FACTORY_TYPE_DECODER))
    return;
  const std::lock_guard guard(lock_);
  if (!GST_IS_BIN(element)) tried_.insert(factory);
  // decodebin has pads when it needs them, and is no decoder. decodebin3 of GStreamer 1.26 has
  // put away the decoder when the end of the stream is told.
  const auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(element, "src"));
  if (!pad) return;
  gst_pad_add_probe(
      pad.get(), GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad*, GstPadProbeInfo*, gpointer count) {
        ++*static_cast<std::atomic<gint64>*>(count);
        return GST_PAD_PROBE_OK;
      },
      &gave_[factory], nullptr);
}

void Run::wait(GstElement* pipeline) {
  const auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline));
  for (;;) {
    const auto message = GstPtr<GstMessage>::adopt(gst_bus_timed_pop_filtered(
        bus.get(), kPatience,
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR |
                                    GST_MESSAGE_WARNING)));
    if (!message) {
      error_ = "no end after " + std::to_string(kPatience / GST_SECOND) + " s";
      return;
    }
    GError* what = nullptr;
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_WARNING) {
      gst_message_parse_warning(message.get(), &what, nullptr);
      warnings_.emplace_back(what->message);
      g_error_free(what);
      continue;
    }
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR) {
      gst_message_parse_error(message.get(), &what, nullptr);
      error_ = std::string(GST_MESSAGE_SRC_NAME(message.get())) + ": " + what->message;
      g_error_free(what);
    }
    return;
  }
}

// Every element however deep it lies, and what the sink that draws says of itself.
void Run::look(GstElement* pipeline) {
  GstIterator* all = gst_bin_iterate_recurse(GST_BIN(pipeline));
  const auto each = [](const GValue* value, gpointer data) {
    auto* element = static_cast<GstElement*>(g_value_get_object(value));
    auto& run = *static_cast<Run*>(data);
    run.elements_.insert(factory_of(element));
    GParamSpec* stats = g_object_class_find_property(G_OBJECT_GET_CLASS(element), "stats");
    if (element == run.silence_) return;
    if (!GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SINK) || GST_IS_BIN(element) ||
        !stats)
      return;
    GstStructure* counts = nullptr;
    g_object_get(element, "stats", &counts, nullptr);
    guint64 drawn = 0;
    if (counts && gst_structure_get_uint64(counts, "rendered", &drawn)) run.drawn_ += drawn;
    if (counts) gst_structure_free(counts);
  };
  while (gst_iterator_foreach(all, each, this) == GST_ITERATOR_RESYNC) {
    gst_iterator_resync(all);
    elements_.clear();
    drawn_ = 0;
  }
  gst_iterator_free(all);
}

void Run::play() {
  GError* failed = nullptr;
  const auto pipeline = GstPtr<GstElement>::adopt(
      GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make(playbin_.c_str(), nullptr))));
  // One element as itself; of several GStreamer 1.22 would make a pipeline with that flag.
  auto* sink = gst_parse_bin_from_description_full(sink_.c_str(), TRUE, nullptr,
                                                   sink_.find('!') == std::string::npos
                                                       ? GST_PARSE_FLAG_NO_SINGLE_ELEMENT_BINS
                                                       : GST_PARSE_FLAG_NONE,
                                                   &failed);
  if (failed) {
    error_ = failed->message;
    g_error_free(failed);
    std::printf("%s\n", json().c_str());
    return;
  }
  // The video alone; playbin3 of GStreamer 1.22 looks for a sound device all the same.
  silence_ = gst_element_factory_make("fakesink", nullptr);
  gst_util_set_object_arg(G_OBJECT(pipeline.get()), "flags", "video");
  g_object_set(pipeline.get(), "uri", uri_.c_str(), "video-sink", sink, "audio-sink", silence_,
               nullptr);
  g_signal_connect(pipeline.get(), "deep-element-added",
                   G_CALLBACK(+[](GstBin*, GstBin*, GstElement* element, gpointer run) {
                     static_cast<Run*>(run)->on_element(element);
                   }),
                   this);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  wait(pipeline.get());
  look(pipeline.get());
  std::printf("%s\n", json().c_str());
  std::fflush(stdout);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

std::string Run::json() {
  JsonBuilder* out = json_builder_new();
  const auto list = [out](const char* name, const auto& texts) {
    json_builder_set_member_name(out, name);
    json_builder_begin_array(out);
    for (const std::string& text : texts) json_builder_add_string_value(out, text.c_str());
    json_builder_end_array(out);
  };
  json_builder_begin_object(out);
  list("elements", elements_);
  {
    const std::lock_guard guard(lock_);
    list("tried", tried_);
    json_builder_set_member_name(out, "gave");
    json_builder_begin_object(out);
    for (const auto& [factory, buffers] : gave_) {
      json_builder_set_member_name(out, factory.c_str());
      json_builder_add_int_value(out, buffers);
    }
    json_builder_end_object(out);
  }
  json_builder_set_member_name(out, "drawn");
  json_builder_add_int_value(out, static_cast<gint64>(drawn_));
  json_builder_set_member_name(out, "error");
  json_builder_add_string_value(out, error_.c_str());
  list("warnings", warnings_);
  json_builder_end_object(out);
  JsonNode* root = json_builder_get_root(out);
  const GlibString text(json_to_string(root, FALSE));
  json_node_unref(root);
  g_object_unref(out);
  return text.get();
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  const std::vector<Setting> settings = parse_settings(argc, argv);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string playbin, sink, uri;
    if (!std::getline(words, playbin, '\t') || !std::getline(words, sink, '\t') ||
        !std::getline(words, uri))
      continue;
    Run run(playbin, sink, uri, settings);
    run.play();
    std::puts("ended");
    std::fflush(stdout);
  }
  return 0;
}
