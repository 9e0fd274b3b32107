// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/va_sharing.hpp"

#include <dlfcn.h>

#include <utility>

#include "lib/drm/device_id.hpp"

namespace dxva::gst {
namespace {

using Shared = std::shared_ptr<va::Display>;

Error no_display(const char* text) {
  return Error{.code = ErrorCode::Unsupported, .text = text, .reason = Reason::NoDevice};
}

Result<Shared> display_of(GObject* object) {
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(object), "va-display");
  if (!spec || !G_IS_PARAM_SPEC_POINTER(spec))
    return no_display("the context's object is no GstVaDisplay");
  gpointer handle = nullptr;
  g_object_get(object, "va-display", &handle, nullptr);
  return va::Display::adopt(handle, std::shared_ptr<void>(g_object_ref(object), [](gpointer o) {
                              g_object_unref(o);
                            }));
}

// GstVaDisplayWrapped, registered; 0 where the library is missing.
GType wrapped_type() {
  static const GType type = []() -> GType {
    if (const GType known = g_type_from_name("GstVaDisplayWrapped")) return known;
    // Never unloaded: types stay registered.
    void* library = ::dlopen("libgstva-1.0.so.0", RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return 0;
    auto* get_type =
        reinterpret_cast<GType (*)()>(::dlsym(library, "gst_va_display_wrapped_get_type"));
    return get_type ? get_type() : 0;
  }();
  return type;
}

bool may_be_shared(const va::Display& display) {
  const auto nodes = drm::render_nodes();
  return nodes.empty() ? display.is_software() : display.node() == nodes.front();
}

}  // namespace

Result<Shared> display_in(const GstContext* context) {
  const GstStructure* fields = gst_context_get_structure(context);
  const GValue* object = gst_structure_get_value(fields, "gst-display");
  if (object && G_VALUE_HOLDS_OBJECT(object) && g_value_get_object(object))
    return display_of(G_OBJECT(g_value_get_object(object)));
  const GValue* handle = gst_structure_get_value(fields, "va-display");
  if (handle && G_VALUE_HOLDS_POINTER(handle) && g_value_get_pointer(handle))
    return va::Display::adopt(g_value_get_pointer(handle), nullptr);
  return no_display("the context holds no display");
}

GstPtr<GstContext> context_with(const Shared& display) {
  if (!may_be_shared(*display) || wrapped_type() == 0) return nullptr;
  auto* made = static_cast<GstObject*>(
      g_object_new(wrapped_type(), "va-display", display->get(), nullptr));
  const auto wrapped = GstPtr<GstObject>::adopt(GST_OBJECT(gst_object_ref_sink(made)));
  // Whoever has the object may use the display, long after we are gone.
  g_object_set_data_full(G_OBJECT(wrapped.get()), "dxva-display", new Shared(display),
                         [](gpointer data) { delete static_cast<Shared*>(data); });
  // Not persistent, unlike those of GStreamer's elements: a pipeline that went to NULL would
  // keep the device open.
  auto context = GstPtr<GstContext>::adopt(gst_context_new(kVaContext, FALSE));
  gst_structure_set(gst_context_writable_structure(context.get()), "gst-display",
                    GST_TYPE_OBJECT, wrapped.get(), nullptr);
  return context;
}

}  // namespace dxva::gst
