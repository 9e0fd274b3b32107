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

decode::Device DecoderDevice::device() const {
  const std::lock_guard guard(lock_);
  return device_;
}

// --- choosing

Status DecoderDevice::open(const Settings& settings) {
  close();
  wish_ = settings.device;
  choice_ = va::DeviceChoice::parse(wish_);
  cuda_choice_ = cuda::DeviceChoice::parse(wish_);
  va_driver_ = from_environment("LIBVA_DRIVER_NAME");
  asked_by_ =
      (from_environment("GST_DXVA_DEVICE") == wish_ ? "GST_DXVA_DEVICE=" : "device=") + wish_;
  several_gpus_ = may_be_several();
  find_renderer();
  // Without software to fall back to, whoever sets us to READY must hear now if nothing starts.
  if (may_choose() && several_gpus_ && !renderer_known_ && settings.software_fallback) {
    if (auto given = cuda_choice_ ? nullptr : given_display()) {
      use({.va = std::move(given), .cuda = nullptr});
    } else {
      GST_DEBUG_OBJECT(&element_, "several GPUs, and nobody says yet which one draws");
      postponed_ = true;
    }
    return Done{};
  }
  return start();
}

Status DecoderDevice::settle() {
  if (device().is_lost()) return start_anew();
  if (!may_choose() || !several_gpus_) return Done{};
  if (!renderer_known_) find_renderer();
  if (std::exchange(postponed_, false)) return start();
  // Opened on a guess that turned out wrong; nothing is decoded on it now.
  if (!device() || !crosses_gpus() || placement_.cause != drm::Cause::Late) return Done{};
  return start();
}

Status DecoderDevice::start_anew() {
  {
    const std::lock_guard guard(lock_);
    device_ = {};
    shared_.reset();
  }
  return start();
}

Status DecoderDevice::start() {
  auto chosen = choose();
  if (!chosen) return chosen.error();
  use(std::move(*chosen));
  return Done{};
}

Result<decode::Device> DecoderDevice::choose() {
  if (cuda_choice_) return choose_cuda();
  if (auto given = given_display())
    return decode::Device{.va = std::move(given), .cuda = nullptr};
  choice_.preferred = placement_.renderer ? placement_.renderer->render_node : "";
  auto opened = va::Display::open(choice_);
  if (opened && !is_elsewhere(**opened))
    return decode::Device{.va = std::move(*opened), .cuda = nullptr};
  // NVIDIA's driver has no VA-API.
  if (choice_.kind == Kind::Auto) {
    if (auto cuda = choose_cuda()) return cuda;
    if (opened) return decode::Device{.va = std::move(*opened), .cuda = nullptr};
  }
  Error error = opened.error();
  for (const auto& node : drm::render_nodes())
    if (const auto device = drm::device_of_path(node); device && choice_.kind != Kind::Software)
      if (const std::string more = drm::driver_contradiction(*device, va_driver_);
          !more.empty())
        error.text += "; " + more;
  return error;
}

// On OpenGL's GPU; on any, where nobody says that OpenGL draws.
Result<decode::Device> DecoderDevice::choose_cuda() {
  cuda::DeviceChoice choice = cuda_choice_.value_or(cuda::DeviceChoice{});
  if (!choice.ordinal && cuda::Device::count() > 0) {
    if (!renderer_known_) ask_for_renderer();
    choice.uuid = renderer_uuid_;
    // Pictures of another GPU would only be copied down, and up again; who names CUDA gets it.
    if (renderer_known_ && !renderer_uuid_ && !cuda_choice_)
      return refusal(Reason::NoDevice, "OpenGL does not draw with CUDA's GPU");
  }
  auto opened = cuda::Device::open(choice);
  if (!opened && cuda_choice_ && choice.uuid) {
    choice.uuid.reset();
    opened = cuda::Device::open(choice);
  }
  if (!opened) return opened.error();
  return decode::Device{.va = nullptr, .cuda = std::move(*opened)};
}

// The element chooses among GPUs, and none was named.
bool DecoderDevice::may_choose() const {
  return cuda_choice_ ? !cuda_choice_->ordinal : choice_.kind == Kind::Auto;
}

bool DecoderDevice::may_be_several() const {
  return cuda_choice_ ? cuda::Device::count() > 1 : drm::render_nodes().size() > 1;
}

// On another GPU than OpenGL's, as far as that is known.
bool DecoderDevice::is_elsewhere(const va::Display& display) const {
  if (choice_.kind != Kind::Auto || !placement_.renderer) return false;
  const auto device = va::device_of(display.get());
  return device && device->id != placement_.renderer->id;
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

void DecoderDevice::use(decode::Device chosen) {
  const auto device = chosen.va ? va::device_of(chosen.va->get())
                                : Result<drm::Device>(refusal(Reason::None, "no DRM node"));
  has_device_ = bool(device);
  placement_.decoder = device ? *device : drm::Device{};
  placement_.cause = choice_.kind == Kind::Path ? drm::Cause::Asked
                     : renderer_known_          ? drm::Cause::NoDriver
                                                : drm::Cause::Late;
  auto context = chosen.va ? context_with(chosen.va) : nullptr;
  GST_INFO_OBJECT(&element_, "device: %s", chosen.name().c_str());
  {
    const std::lock_guard guard(lock_);
    device_ = std::move(chosen);
    shared_ = context;
  }
  if (context) announce_context(&element_, std::move(context));
  report();
}

void DecoderDevice::close() {
  const std::lock_guard guard(lock_);
  device_ = {};
  shared_.reset();
  placement_ = {};
  renderer_uuid_.reset();
  has_device_ = renderer_known_ = postponed_ = reported_ = false;
}

// --- OpenGL's GPU

void DecoderDevice::find_renderer() {
  // The bundled driver is on no GPU, and with one GPU there is nothing to match.
  if (choice_.kind == Kind::Software || !several_gpus_) return;
  ask_for_renderer();
}

void DecoderDevice::ask_for_renderer() {
  const auto context = find_context(element_, kGlDeviceContext);
  const auto facts = gl_device_of(context.get());
  if (!facts) return;
  renderer_known_ = true;
  renderer_uuid_ = facts->uuid;
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
