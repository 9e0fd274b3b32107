// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/sink_interfaces.hpp"

#include <gst/video/colorbalance.h>
#include <gst/video/navigation.h>
#include <gst/video/videooverlay.h>

#include "gst/common/gst_ptr.hpp"

namespace dxva::gst {
namespace {

GstPtr<GstElement> child(gpointer bin, const char* name) {
  return GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(bin), name));
}

// The child is asked what it is: a platform may have brought another sink.
template <typename Call>
void with(gpointer bin, const char* name, GType interface, Call call) {
  const auto element = child(bin, name);
  if (element && G_TYPE_CHECK_INSTANCE_TYPE(element.get(), interface)) call(element.get());
}

// --- GstVideoOverlay

template <typename Call>
void with_overlay(gpointer bin, Call call) {
  with(bin, "sink", GST_TYPE_VIDEO_OVERLAY,
       [&](GstElement* sink) { call(GST_VIDEO_OVERLAY(sink)); });
}

void init_overlay(gpointer iface, gpointer) {
  auto* overlay = static_cast<GstVideoOverlayInterface*>(iface);
  overlay->expose = [](GstVideoOverlay* bin) { with_overlay(bin, gst_video_overlay_expose); };
  overlay->handle_events = [](GstVideoOverlay* bin, gboolean on) {
    with_overlay(bin,
                 [&](GstVideoOverlay* sink) { gst_video_overlay_handle_events(sink, on); });
  };
  overlay->set_render_rectangle = [](GstVideoOverlay* bin, gint x, gint y, gint width,
                                     gint height) {
    with_overlay(bin, [&](GstVideoOverlay* sink) {
      gst_video_overlay_set_render_rectangle(sink, x, y, width, height);
    });
  };
  overlay->set_window_handle = [](GstVideoOverlay* bin, guintptr handle) {
    with_overlay(
        bin, [&](GstVideoOverlay* sink) { gst_video_overlay_set_window_handle(sink, handle); });
  };
}

// --- GstNavigation

void init_navigation(gpointer iface, gpointer) {
  auto* navigation = static_cast<GstNavigationInterface*>(iface);
  navigation->send_event_simple = [](GstNavigation* bin, GstEvent* event) {
    auto owned = GstPtr<GstEvent>::adopt(event);
    with(bin, "sink", GST_TYPE_NAVIGATION, [&](GstElement* sink) {
      gst_navigation_send_event_simple(GST_NAVIGATION(sink), owned.release());
    });
  };
}

// --- GstColorBalance

void init_balance(gpointer iface, gpointer) {
  auto* balance = static_cast<GstColorBalanceInterface*>(iface);
  balance->list_channels = [](GstColorBalance* bin) -> const GList* {
    const GList* out = nullptr;
    with(bin, "balance", GST_TYPE_COLOR_BALANCE, [&](GstElement* element) {
      out = gst_color_balance_list_channels(GST_COLOR_BALANCE(element));
    });
    return out;
  };
  balance->set_value = [](GstColorBalance* bin, GstColorBalanceChannel* channel, gint value) {
    with(bin, "balance", GST_TYPE_COLOR_BALANCE, [&](GstElement* element) {
      gst_color_balance_set_value(GST_COLOR_BALANCE(element), channel, value);
    });
  };
  balance->get_value = [](GstColorBalance* bin, GstColorBalanceChannel* channel) -> gint {
    gint out = 0;
    with(bin, "balance", GST_TYPE_COLOR_BALANCE, [&](GstElement* element) {
      out = gst_color_balance_get_value(GST_COLOR_BALANCE(element), channel);
    });
    return out;
  };
  // In shaders on the GPU.
  balance->get_balance_type = [](GstColorBalance*) { return GST_COLOR_BALANCE_HARDWARE; };
}

void add(GType type, GType interface, GInterfaceInitFunc init) {
  const GInterfaceInfo info = {init, nullptr, nullptr};
  g_type_add_interface_static(type, interface, &info);
}

}  // namespace

void add_sink_interfaces(GType type) {
  add(type, GST_TYPE_VIDEO_OVERLAY, init_overlay);
  add(type, GST_TYPE_NAVIGATION, init_navigation);
  add(type, GST_TYPE_COLOR_BALANCE, init_balance);
}

}  // namespace dxva::gst
