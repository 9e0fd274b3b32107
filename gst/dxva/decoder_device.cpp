// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/decoder_device.hpp"

#include <cstdlib>
#include <utility>

#include "gst/common/context_query.hpp"
#include "gst/common/gl_device_context.hpp"
#include "gst/dxva/va_sharing.hpp"

GST_DEBUG_CATEGORY_EXTERN(dxvadec_debug);
#define GST_CAT_DEFAULT dxvadec_debug

namespace dxva::gst {
namespace {

using Kind = va::DeviceChoice::Kind;

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// What the element was given, what its neighbours have, what bins or the application know.
GstPtr<GstContext> find_context(GstElement& element, const char* type) {
  const auto have = [&] {
    return GstPtr<GstContext>::adopt(gst_element_get_context(&element, type));
  };
  if (auto given = have()) return given;
  if (auto found = ask_neighbours(&element, type)) return found;
  ask_for_context(&element, type);
  return have();
}

}  // namespace

std::shared_ptr<va::Display> DecoderDevice::display() const {
  const std::lock_guard guard(lock_);
  return display_;
}

// --- choosing

Status DecoderDevice::open(const Settings& settings) {
  close();
  wish_ = settings.device;
  choice_ = va::DeviceChoice::parse(wish_);
  va_driver_ = from_environment("LIBVA_DRIVER_NAME");
  asked_by_ =
      (from_environment("GST_DXVA_DEVICE") == wish_ ? "GST_DXVA_DEVICE=" : "device=") + wish_;
  several_gpus_ = drm::render_nodes().size() > 1;
  find_renderer();
  // Without software to fall back to, whoever sets us to READY must hear now if nothing starts.
  if (choice_.kind == Kind::Auto && several_gpus_ && !renderer_known_ &&
      settings.software_fallback) {
    if (auto given = given_display()) {
      use(std::move(given));
    } else {
      GST_DEBUG_OBJECT(&element_, "several GPUs, and nobody says yet which one draws");
      postponed_ = true;
    }
    return Done{};
  }
  return start();
}

Status DecoderDevice::settle() {
  if (const auto held = display(); held && held->is_lost()) return start_anew();
  if (choice_.kind != Kind::Auto || !several_gpus_) return Done{};
  if (!renderer_known_) find_renderer();
  if (std::exchange(postponed_, false)) return start();
  // Opened on a guess that turned out wrong; nothing is decoded on it now.
  if (!display() || !crosses_gpus() || placement_.cause != drm::Cause::Late) return Done{};
  return start();
}

Status DecoderDevice::start_anew() {
  {
    const std::lock_guard guard(lock_);
    display_.reset();
    shared_.reset();
  }
  return start();
}

Status DecoderDevice::start() {
  if (auto given = given_display()) {
    use(std::move(given));
    return Done{};
  }
  choice_.preferred = placement_.renderer ? placement_.renderer->render_node : "";
  auto opened = va::Display::open(choice_);
  if (!opened) {
    Error error = opened.error();
    for (const auto& node : drm::render_nodes())
      if (const auto device = drm::device_of_path(node);
          device && choice_.kind != Kind::Software)
        if (const std::string more = drm::driver_contradiction(*device, va_driver_);
            !more.empty())
          error.text += "; " + more;
    return error;
  }
  use(std::move(*opened));
  return Done{};
}

// Somebody's display is taken where it is on the device that we would have taken: it is there
// to be shared, and not to choose the GPU.
bool DecoderDevice::fits(const va::Display& display) const {
  if (display.is_lost() || display.profiles().empty()) return false;
  if (choice_.kind == Kind::Software) return display.is_software();
  if (choice_.kind == Kind::Auto && !placement_.renderer) return true;
  const auto theirs = va::device_of(display.get());
  if (choice_.kind == Kind::Auto) return theirs && theirs->id == placement_.renderer->id;
  const auto wanted = drm::device_of_path(choice_.path);
  return theirs && wanted && theirs->id == wanted->id;
}

std::shared_ptr<va::Display> DecoderDevice::given_display() const {
  const auto context = find_context(element_, kVaContext);
  if (!context) return nullptr;
  auto display = display_in(context.get());
  if (!display) {
    GST_WARNING_OBJECT(&element_, "%s: %s", kVaContext, display.error().describe().c_str());
    return nullptr;
  }
  if (fits(**display)) return *display;
  GST_INFO_OBJECT(&element_, "not the display of %s: it is %s (%s)", kVaContext,
                  (*display)->vendor().c_str(), (*display)->node().c_str());
  return nullptr;
}

void DecoderDevice::use(std::shared_ptr<va::Display> display) {
  const auto device = va::device_of(display->get());
  has_device_ = bool(device);
  placement_.decoder = device ? *device : drm::Device{};
  placement_.cause = choice_.kind == Kind::Path ? drm::Cause::Asked
                     : renderer_known_          ? drm::Cause::NoDriver
                                                : drm::Cause::Late;
  auto context = context_with(display);
  GST_INFO_OBJECT(&element_, "device: %s (%s)", display->vendor().c_str(),
                  display->node().c_str());
  {
    const std::lock_guard guard(lock_);
    display_ = std::move(display);
    shared_ = context;
  }
  if (context) announce_context(&element_, std::move(context));
  report();
}

void DecoderDevice::close() {
  const std::lock_guard guard(lock_);
  display_.reset();
  shared_.reset();
  placement_ = {};
  has_device_ = renderer_known_ = postponed_ = reported_ = false;
}

// --- OpenGL's GPU

void DecoderDevice::find_renderer() {
  // The bundled driver is on no GPU, and with one GPU there is nothing to match.
  if (choice_.kind == Kind::Software || !several_gpus_) return;
  const auto context = find_context(element_, kGlDeviceContext);
  const auto facts = gl_device_of(context.get());
  if (!facts) return;
  renderer_known_ = true;
  const auto device = drm::device_of_path(facts->node);
  placement_.renderer = device ? std::optional(*device) : std::nullopt;
  GST_INFO_OBJECT(&element_, "OpenGL draws with %s (%s)", facts->renderer.c_str(),
                  device ? device->render_node.c_str() : "no GPU");
}

void DecoderDevice::look_for_renderer() {
  if (!renderer_known_) find_renderer();
  report();
}

bool DecoderDevice::crosses_gpus() const {
  return has_device_ && drm::crosses_gpus(placement_);
}

void DecoderDevice::report() {
  if (reported_ || !crosses_gpus()) return;
  reported_ = true;
  drm::Placement told = placement_;
  told.asked_by = asked_by_;
  told.va_driver = va_driver_;
  const std::string text = drm::describe_mismatch(told);
  gst_element_post_message(
      &element_,
      gst_message_new_element(
          GST_OBJECT(&element_),
          gst_structure_new("dxva-device-mismatch", "decoder", G_TYPE_STRING,
                            told.decoder.render_node.c_str(), "decoder-driver", G_TYPE_STRING,
                            told.decoder.driver.c_str(), "renderer", G_TYPE_STRING,
                            told.renderer->render_node.c_str(), "renderer-driver",
                            G_TYPE_STRING, told.renderer->driver.c_str(), nullptr)));
  GST_ELEMENT_WARNING(&element_, RESOURCE, SETTINGS, ("%s", text.c_str()), (nullptr));
}

// --- ours for others

bool DecoderDevice::answer(GstQuery* query) const {
  if (!asks_for_context(query, kVaContext)) return false;
  const std::lock_guard guard(lock_);
  if (!shared_) return false;
  gst_query_set_context(query, shared_.get());
  return true;
}

}  // namespace dxva::gst
