// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/play/timeline.hpp"

namespace dxva::play {
namespace {

Error timeline_error(const std::string& text) {
  return {.code = ErrorCode::Failed, .call = "", .text = text};
}

}  // namespace

Result<Timeline> Timeline::start(const std::string& file) {
  const Owned<GstObject> feature(GST_OBJECT_CAST(
      gst_registry_find_feature(gst_registry_get(), "dxva", GST_TYPE_TRACER_FACTORY)));
  const Owned<GstObject> loaded(
      feature ? GST_OBJECT_CAST(gst_plugin_feature_load(GST_PLUGIN_FEATURE(feature.get())))
              : nullptr);
  if (!loaded)
    return timeline_error(
        "there is no tracer dxva: is the build in GST_PLUGIN_PATH? ./dev play sees to it");
  const GType type = gst_tracer_factory_get_tracer_type(GST_TRACER_FACTORY(loaded.get()));
  Timeline made(
      GST_OBJECT_CAST(gst_object_ref_sink(g_object_new(type, "file", file.c_str(), nullptr))));
  if (auto told = made.told_error(); !told) return told.error();
  return made;
}

Status Timeline::write() {
  g_signal_emit_by_name(tracer_.get(), "write");
  return told_error();
}

Status Timeline::told_error() const {
  char* told = nullptr;
  g_object_get(tracer_.get(), "error", &told, nullptr);
  const Owned<char> text(told);
  if (text) return timeline_error(text.get());
  return Done{};
}

}  // namespace dxva::play
