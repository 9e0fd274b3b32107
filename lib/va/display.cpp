// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/display.hpp"

#include <utility>

#include "lib/base/log.hpp"
#include "lib/drm/device_id.hpp"
#include "lib/va/decode_caps.hpp"
#include "lib/va/display_registry.hpp"
#include "lib/va/driver.hpp"

namespace dxva::va {

struct Display::State {
  Driver driver;
  std::string node;
  Api api;
  std::string vendor;
  bool software = false;
  std::vector<VAProfile> profiles;
};

namespace {

constexpr const char* kSoftwareDriver = "dxvasoft";
constexpr const char* kSoftwareNode = "software";

std::string vendor_of(VADisplay display) {
  const char* vendor = vaQueryVendorString(display);
  return vendor ? vendor : "";
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

Result<std::shared_ptr<Display>> Display::adopt(Driver driver, std::string node) {
  auto profiles = decode_profiles(driver.get());
  if (!profiles) return profiles.error();
  auto state = std::make_unique<State>(State{.driver = std::move(driver),
                                             .node = std::move(node),
                                             .api = Api::load(),
                                             .profiles = std::move(*profiles)});
  state->vendor = vendor_of(state->driver.get());
  // Somebody may have put our driver on a real node, with LIBVA_DRIVER_NAME.
  state->software =
      state->node == kSoftwareNode || state->vendor.find(kSoftwareDriver) != std::string::npos;
  DXVA_INFO(Va, "%s: %s, %zu profiles", state->node.c_str(), state->vendor.c_str(),
            state->profiles.size());
  return std::shared_ptr<Display>(new Display(std::move(state)));
}

Result<std::shared_ptr<Display>> Display::open_software() {
  return find_or_start(kSoftwareNode, []() -> Result<std::shared_ptr<Display>> {
    auto driver = Driver::start_headless(kSoftwareDriver);
    if (!driver) return no_device("software driver: " + driver.error().describe());
    return adopt(std::move(*driver), kSoftwareNode);
  });
}

Result<std::shared_ptr<Display>> Display::open_node(const std::string& path) {
  auto device = drm::device_of_path(path);
  if (!device) return no_device(device.error().describe());
  // A primary node would want its user to be DRM master, or to be told by the one who is.
  if (device->render_node.empty()) return no_device(path + " has no render node");
  const std::string key =
      std::to_string(device->id.major) + ":" + std::to_string(device->id.minor);
  const std::string& node = device->render_node;
  return find_or_start(key, [&node]() -> Result<std::shared_ptr<Display>> {
    auto driver = Driver::start_on_node(node);
    if (!driver) return no_device(node + ": " + driver.error().describe());
    return adopt(std::move(*driver), node);
  });
}

Result<std::shared_ptr<Display>> Display::open_first() {
  std::string refused;
  for (const std::string& node : drm::render_nodes()) {
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
      return open_first();
    case DeviceChoice::Kind::Software:
      return open_software();
    case DeviceChoice::Kind::Path:
      return open_node(choice.path);
  }
  return no_device("unknown choice");
}

VADisplay Display::get() const {
  return state_->driver.get();
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

Result<DecodeCaps> Display::decode_caps(VAProfile profile) const {
  return query_decode_caps(get(), profile);
}

}  // namespace dxva::va
