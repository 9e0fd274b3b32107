// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// One initialised VADisplay and what is under it. lib/va is the only folder that includes
// va/va.h; others pass these objects around and never call libva themselves.

#include <va/va.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/drm/device_id.hpp"
#include "lib/va/api.hpp"
#include "lib/va/copy_choices.hpp"

namespace dxva::va {

class Driver;

// Where to look for a device: the `device` property as people write it.
struct DeviceChoice {
  enum class Kind {
    Auto,  // `preferred`, then the first render node whose driver starts and decodes anything
    Software,  // the bundled software driver, on a display that needs no node
    Path,      // a DRM node, e.g. "/dev/dri/renderD128"
  };
  Kind kind = Kind::Auto;
  std::string path;       // of Kind::Path
  std::string preferred;  // of Kind::Auto: the node to try first; empty: none

  // "auto", "" → Auto; "software" → Software; anything else is a path.
  [[nodiscard]] static DeviceChoice parse(std::string_view text);
};

// What a config for (profile, VLD) can do.
struct DecodeCaps {
  uint32_t rt_formats = 0;  // VA_RT_FORMAT_*
  uint32_t min_width = 1, min_height = 1;
  uint32_t max_width = 0, max_height = 0;  // pixels; 0 = not told
  std::vector<uint32_t> fourccs;           // VA fourccs of surfaces it decodes into
  bool exports_prime2 = false;             // the driver says so; only a real export proves it
  bool takes_modifiers = false;  // it reads a list of them for new surfaces; also only a hint
};

// Shared by everyone who holds a surface, context or image of it; the last one terminates it.
// One per device and process: opening a device again, by whichever of its nodes, gives the
// same. Thread-safe (libva's entry points are).
class Display {
 public:
  // Refusals: NoDevice. The error names every node tried and what it said.
  [[nodiscard]] static Result<std::shared_ptr<Display>> open(const DeviceChoice& choice);
  // Around an initialised VADisplay of somebody else, who terminates it; `keeper` holds it for
  // as long as we use it, null where its owner promised to. A handle of our own comes back as
  // the display that it belongs to.
  [[nodiscard]] static Result<std::shared_ptr<Display>> adopt(VADisplay handle,
                                                              std::shared_ptr<void> keeper);
  ~Display();
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  [[nodiscard]] VADisplay get() const;
  [[nodiscard]] const Api& api() const;             // optional entry points of this libva
  [[nodiscard]] const std::string& vendor() const;  // vaQueryVendorString
  // "/dev/dri/renderD128", "software", or empty: somebody else's, and it does not say.
  [[nodiscard]] const std::string& node() const;
  [[nodiscard]] bool is_software() const;                        // the bundled driver
  [[nodiscard]] const std::vector<VAProfile>& profiles() const;  // with a VLD entrypoint
  [[nodiscard]] Result<DecodeCaps> decode_caps(VAProfile profile) const;

  // What was measured about copies on it.
  [[nodiscard]] CopyChoices& copy_choices() const;

  // The device answers nothing any more. Those who hold it keep it; who opens the device from
  // now on gets a new start of the driver.
  void set_lost();
  [[nodiscard]] bool is_lost() const;

 private:
  struct State;
  explicit Display(std::unique_ptr<State> state);

  static Result<std::shared_ptr<Display>> open_first(const std::string& preferred);
  static Result<std::shared_ptr<Display>> open_node(const std::string& path);
  static Result<std::shared_ptr<Display>> open_software();
  static Result<std::unique_ptr<Display>> around(std::unique_ptr<State> state);
  static Result<std::unique_ptr<Display>> started(Driver driver, std::string node);

  std::unique_ptr<State> state_;
};

// The GPU under a VADisplay, whoever made it. Unsupported: it has none, or does not say.
[[nodiscard]] Result<drm::Device> device_of(VADisplay handle);

// VAStatus as an Error that says which call and what libva calls the status.
[[nodiscard]] Status check(VAStatus status, const char* call);
[[nodiscard]] Error va_error(VAStatus status, const char* call);

// VA's fourcc for a DRM one and back; 0 when there is none.
[[nodiscard]] uint32_t va_fourcc(uint32_t drm);
[[nodiscard]] uint32_t drm_fourcc(uint32_t va);

}  // namespace dxva::va
