// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/display.hpp"

#include <va/va_backend.h>
#include <va/va_drmcommon.h>

#include <atomic>
#include <optional>
#include <utility>

#include "lib/base/log.hpp"
#include "lib/drm/device_id.hpp"
#include "lib/drm/gpu_match.hpp"
#include "lib/va/decode_caps.hpp"
#include "lib/va/display_registry.hpp"
#include "lib/va/driver.hpp"
#include "lib/va/fork_guard.hpp"

namespace dxva::va {

struct Display::State {
  std::optional<Driver> driver;    // of a display that we started
  std::shared_ptr<void> keeper;    // of somebody else's
  std::optional<ForkGuard> guard;  // goes before the display does

  VADisplay handle = nullptr;
  std::string node;
  Api api = Api::load();
  std::string vendor;
  bool software = false;
  std::vector<VAProfile> profiles;
  std::atomic<bool> lost{false};
  CopyChoices copy_choices;
};

namespace {

constexpr const char* kSoftwareDriver = "dxvasoft";
constexpr const char* kSoftwareNode = "software";

std::string vendor_of(VADisplay display) {
  const char* vendor = vaQueryVendorString(display);
  return vendor ? vendor : "";
}

std::string key_of(const drm::Device& device) {
  return std::to_string(device.id.major) + ":" + std::to_string(device.id.minor);
}

Error no_device(std::string text) {
  return Error{.code = ErrorCode::Unsupported,
               .call = "open device",
               .text = std::move(text),
               .reason = Reason::NoDevice};
}

}  // namespace

DeviceChoice DeviceChoice::parse(std::string_view text) {
  if (text.empty() || text == "auto") return {.kind = Kind::Auto};
  if (text == kSoftwareNode) return {.kind = Kind::Software};
  return {.kind = Kind::Path, .path = std::string(text)};
}

Display::Display(std::unique_ptr<State> state) : state_(std::move(state)) {}
Display::~Display() = default;

Result<std::unique_ptr<Display>> Display::around(std::unique_ptr<State> state) {
  state->guard.emplace(state->handle);
  auto profiles = decode_profiles(state->handle);
  if (!profiles) return profiles.error();
  state->profiles = std::move(*profiles);
  state->vendor = vendor_of(state->handle);
  // Somebody may have put our driver on a real node, with LIBVA_DRIVER_NAME.
  state->software =
      state->node == kSoftwareNode || state->vendor.find(kSoftwareDriver) != std::string::npos;
  DXVA_INFO(Va, "%s%s: %s, %zu profiles", state->keeper ? "somebody else's " : "",
            state->node.c_str(), state->vendor.c_str(), state->profiles.size());
  return std::unique_ptr<Display>(new Display(std::move(state)));
}

Result<std::unique_ptr<Display>> Display::started(Driver driver, std::string node) {
  auto state = std::make_unique<State>();
  state->driver.emplace(std::move(driver));
  state->handle = state->driver->get();
  state->node = std::move(node);
  return around(std::move(state));
}

Result<std::shared_ptr<Display>> Display::adopt(VADisplay handle,
                                                std::shared_ptr<void> keeper) {
  if (!vaDisplayIsValid(handle)) return no_device("the VADisplay is not valid");
  auto device = device_of(handle);
  return find_or_adopt(handle, device ? key_of(*device) : std::string(),
                       [&]() -> Result<std::unique_ptr<Display>> {
                         auto state = std::make_unique<State>();
                         state->keeper = std::move(keeper);
                         state->handle = handle;
                         if (device) state->node = device->render_node;
                         return around(std::move(state));
                       });
}

Result<std::shared_ptr<Display>> Display::open_software() {
  return find_or_start(kSoftwareNode, []() -> Result<std::unique_ptr<Display>> {
    auto driver = Driver::start_headless(kSoftwareDriver);
    if (!driver) return no_device("software driver: " + driver.error().describe());
    return started(std::move(*driver), kSoftwareNode);
  });
}

Result<std::shared_ptr<Display>> Display::open_node(const std::string& path) {
  auto device = drm::device_of_path(path);
  if (!device) return no_device(device.error().text);
  // A primary node would want its user to be DRM master, or to be told by the one who is.
  if (device->render_node.empty()) return no_device(path + " has no render node");
  const std::string& node = device->render_node;
  return find_or_start(key_of(*device), [&node]() -> Result<std::unique_ptr<Display>> {
    auto driver = Driver::start_on_node(node);
    if (!driver) return no_device(node + ": " + driver.error().describe());
    return started(std::move(*driver), node);
  });
}

Result<std::shared_ptr<Display>> Display::open_first(const std::string& preferred) {
  std::string refused;
  for (const std::string& node : drm::order_of_trial(drm::render_nodes(), preferred)) {
    auto display = open_node(node);
    if (display && !(*display)->profiles().empty()) {
      if (!refused.empty()) DXVA_INFO(Va, "refused before: %s", refused.c_str());
      return display;
    }
    if (!refused.empty()) refused += "; ";
    refused += display ? node + ": decodes nothing" : display.error().text;
  }
  return no_device(refused.empty() ? "no render node" : std::move(refused));
}

Result<std::shared_ptr<Display>> Display::open(const DeviceChoice& choice) {
  switch (choice.kind) {
    case DeviceChoice::Kind::Auto:
      return open_first(choice.preferred);
    case DeviceChoice::Kind::Software:
      return open_software();
    case DeviceChoice::Kind::Path:
      return open_node(choice.path);
  }
  return no_device("unknown choice");
}

// libva hands this structure to drivers and has no question for it, but where one of its kind
// of displays sits on a DRM node, drm_state is there (va_backend.h).
Result<drm::Device> device_of(VADisplay handle) {
  const auto* context = static_cast<const VADisplayContext*>(handle);
  if (!vaDisplayIsValid(handle) || !context->pDriverContext)
    return no_device("not a VADisplay");
  const VADriverContext& driver = *context->pDriverContext;
  const auto* drm = static_cast<const struct drm_state*>(driver.drm_state);
  if (!drm || drm->fd < 0) return no_device("a VADisplay without a DRM node");
  return drm::device_of_fd(drm->fd);
}

VADisplay Display::get() const {
  return state_->handle;
}

const Api& Display::api() const {
  return state_->api;
}

const std::string& Display::vendor() const {
  return state_->vendor;
}

const std::string& Display::node() const {
  return state_->node;
}

bool Display::is_software() const {
  return state_->software;
}

const std::vector<VAProfile>& Display::profiles() const {
  return state_->profiles;
}

CopyChoices& Display::copy_choices() const {
  return state_->copy_choices;
}

void Display::set_lost() {
  if (state_->lost.exchange(true)) return;
  DXVA_INFO(Va, "%s is lost", state_->node.c_str());
  forget_device_of(*this);
}

bool Display::is_lost() const {
  return state_->lost;
}

Result<DecodeCaps> Display::decode_caps(VAProfile profile) const {
  return query_decode_caps(get(), profile);
}

}  // namespace dxva::va
