// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/doctor/verdict.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "lib/base/fourcc.hpp"
#include "lib/base/test_switch.hpp"
#include "lib/base/translation.hpp"
#include "lib/base/variables.hpp"
#include "lib/drm/device_advice.hpp"

namespace dxva::doctor {
namespace {

// "VENDOR (NODE)", as dxvadec's stats name the device.
std::string node_in(const std::string& device) {
  const size_t open = device.rfind('(');
  if (open == std::string::npos || !device.ends_with(")")) return {};
  return device.substr(open + 1, device.size() - open - 2);
}

// EGL may name the primary node of a GPU that decodes on its render node.
bool same_gpu(const Json& drm, const std::string& one, const std::string& other) {
  if (one == other) return true;
  for (const Json& node : drm.items()) {
    const std::string render = node.at("node").text();
    const std::string primary = node.at("primary").text();
    const bool has_one = one == render || one == primary;
    const bool has_other = other == render || other == primary;
    if (has_one || has_other) return has_one && has_other;
  }
  return false;
}

class Judge {
 public:
  explicit Judge(const Json& findings) : all_(findings) {
    verdict_.copies = count_copies(all_.at("decode"));
  }

  Verdict judge() {
    look_for_plugins();
    look_at_devices();
    look_at_drivers();
    look_at_asked_nvdec();
    look_at_opengl();
    look_at_refusal();
    look_at_decoding();
    look_at_the_way_to_opengl();
    look_at_two_gpus();
    look_at_ranks();
    look_at_switches();
    verdict_.outcome = outcome();
    return std::move(verdict_);
  }

 private:
  void add(const char* id, std::string what, std::string remedy) {
    verdict_.problems.push_back({id, std::move(what), std::move(remedy)});
  }

  [[nodiscard]] Json decode(const char* path) const {
    return all_.at(std::string("decode/") + path);
  }
  [[nodiscard]] bool steps_has(const char* step) const {
    return decode("uploader/steps").at(step).number() > 0;
  }
  [[nodiscard]] bool hardware() const {
    const auto steps = decode("decoder/steps");
    return decode("frames").number() > 0 && steps.at("software").number() == 0;
  }
  // Of both elements.
  [[nodiscard]] bool reason(const char* name) const { return times(name) > 0; }
  // How often, of both elements.
  [[nodiscard]] int64_t times(const char* name) const {
    return decode("decoder/reasons").at(name).number() +
           decode("uploader/reasons").at(name).number();
  }
  [[nodiscard]] bool told(const char* id) const {
    return std::any_of(verdict_.problems.begin(), verdict_.problems.end(),
                       [&](const Problem& problem) { return problem.id == id; });
  }
  [[nodiscard]] std::string variable(const char* name) const {
    return all_.at("environment").at(name).text();
  }

  void look_for_plugins() {
    const std::string start = all_.at("tracers/error").text();
    if (died(start))
      add("gstreamer-broken", fill(_("GStreamer does not start; it %s."), start),
          _("It looks at all plugins then, and some start every VA-API driver: "
            "GST_DEBUG=GST_PLUGIN_LOADING:5 gst-inspect-1.0 names the last one. Update that "
            "driver, or take another one with LIBVA_DRIVER_NAME."));
    const std::string error = decode("error").text();
    if (error.find("dxvadec") != std::string::npos &&
        error.find("element") != std::string::npos)
      add("plugin-missing", _("GStreamer does not find the element dxvadec."),
          _("Install the package gstreamer1.0-dxva, or name the folder of libgstdxva.so in "
            "GST_PLUGIN_PATH."));
    else if (error.find("h264parse") != std::string::npos &&
             error.find("element") != std::string::npos)
      add("parser-missing", _("GStreamer does not find the element h264parse."),
          _("Install the package gstreamer1.0-plugins-bad."));
  }

  void look_at_devices() {
    bool openable = false;
    for (const Json& node : all_.at("drm").items()) {
      const std::string refused = node.at("error").text();
      if (refused.empty()) {
        openable = true;
        continue;
      }
      add("node-not-openable",
          fill(_("You may not open %s (%s)."), node.at("node").text(), refused),
          _("Add yourself to the group that owns it, often \"render\" (usermod -aG render "
            "USER), and log in again; give a container the device."));
    }
    if (!openable && all_.at("drm").items().empty() && !on_bundled_driver() && !on_nvdec())
      add("no-render-node", _("There is no GPU that renders: /dev/dri has no render node."),
          _("Load the GPU's kernel driver; in a container pass /dev/dri on. Without a GPU "
            "video is decoded on the CPU."));
  }

  void look_at_drivers() {
    for (const Json& device : all_.at("va").items()) {
      const std::string error = device.at("error").text();
      const std::string name = device.at("device").text();
      // Of NVIDIA's driver nobody expects another way.
      if (!error.empty() && on_nvdec() && is_nvidia(name)) continue;
      if (!error.empty()) {
        if (error.starts_with("crashed") || error.starts_with("hangs"))
          add("va-driver-crashes", fill(_("The VA-API driver of %s %s."), name, error),
              _("Update the driver, or take another one with LIBVA_DRIVER_NAME; until then "
                "GST_DXVA_DEVICE can name another GPU."));
        else if (name == asked() && name != "software" && !is_known(name))
          add("asked-device",
              fill(_("The device %s, which was asked for, does not start: %s."), name, error),
              remedy_for(name, error));
        else
          add("va-driver-broken", fill(_("VA-API does not start on %s: %s."), name, error),
              remedy_for(name, error));
        continue;
      }
      const auto codecs = device.at("codecs").items();
      const bool h264 = std::any_of(codecs.begin(), codecs.end(),
                                    [](const Json& codec) { return codec.text() == "h264"; });
      if (codecs.empty())
        add("va-no-decoder", fill(_("The VA-API driver of %s decodes nothing."), name),
            driver_remedy(name));
      else if (!h264)
        add("va-no-h264", fill(_("The VA-API driver of %s decodes no H.264."), name),
            _("Some distributions build Mesa without patented codecs: install their full "
              "build of its VA-API drivers."));
    }
  }

  // What somebody set or named is what to look at first.
  [[nodiscard]] std::string remedy_for(const std::string& device,
                                       const std::string& error) const {
    if (!drm::bundled_driver_setting(error).empty()) return drm::device_advice(device, error);
    const std::string advice =
        device == asked() ? all_.at("asked/advice").text() : std::string();
    return advice.empty() ? driver_remedy(device) : advice;
  }

  void look_at_asked_nvdec() {
    const std::string error = decode("decoder/device-error").text();
    // A name that is none of CUDA's was tried as a node, and told as one.
    if (!asked().starts_with("cuda") || error.empty() || told("asked-device")) return;
    add("asked-device",
        fill(_("The device %s, which was asked for, does not start: %s."), asked(), error),
        remedy_for(asked(), error));
  }

  [[nodiscard]] std::string asked() const { return all_.at("asked/device").text(); }

  [[nodiscard]] bool is_known(const std::string& device) const {
    for (const Json& node : all_.at("drm").items())
      if (node.at("node").text() == device) return true;
    return false;
  }

  [[nodiscard]] std::string driver_remedy(const std::string& device) const {
    if (!variable("LIBVA_DRIVER_NAME").empty())
      return fill(_("LIBVA_DRIVER_NAME=%s is set: unset it, unless you know that the driver "
                    "fits the GPU."),
                  variable("LIBVA_DRIVER_NAME"));
    for (const Json& node : all_.at("drm").items()) {
      if (node.at("node").text() != device) continue;
      const std::string driver = node.at("driver").text();
      if (driver == "i915" || driver == "xe")
        return _("Install intel-media-va-driver (Broadwell and later) or i965-va-driver.");
      if (driver == "amdgpu" || driver == "radeon" || driver == "nouveau")
        return _("Install mesa-va-drivers.");
      if (driver == "nvidia" || driver == "nvidia-drm")
        return _(
            "NVIDIA's own driver has no VA-API; install its libraries libcuda and libnvcuvid, "
            "and video is decoded by NVDEC.");
      if (driver == "vgem" || driver == "virtio_gpu" || driver == "virtio-pci")
        return _(
            "A virtual GPU decodes no video; the bundled driver does it in software: "
            "GST_DXVA_DEVICE=software.");
    }
    return _("Install the VA-API driver of your GPU.");
  }

  [[nodiscard]] bool is_nvidia(const std::string& device) const {
    for (const Json& node : all_.at("drm").items())
      if (node.at("node").text() == device)
        return node.at("driver").text().starts_with("nvidia");
    return false;
  }

  void look_at_opengl() {
    const std::string error = all_.at("gl/error").text();
    if (error.starts_with(kNotTried)) return;
    if (!error.empty()) {
      if (error.starts_with("crashed") || error.starts_with("hangs"))
        add("gl-crashes", fill(_("OpenGL %s while it was started."), error),
            _("Update Mesa or the GPU's OpenGL driver."));
      else
        add("no-gl", fill(_("There is no OpenGL context: %s."), error),
            _("Set DISPLAY or WAYLAND_DISPLAY; without a screen GST_GL_WINDOW=egl-device and "
              "GST_GL_PLATFORM=egl."));
      return;
    }
    if (all_.at("gl/platform").text() == "glx")
      add("glx", _("OpenGL runs on GLX, where no dma-buf becomes a texture."),
          _("Set GST_GL_PLATFORM=egl, or play with dxvaglsink, which does it by itself."));
    else if (all_.at("gl/software").flag() && !all_.at("drm").items().empty())
      add("gl-in-software",
          fill(_("OpenGL runs on the CPU (%s), although there is a GPU."),
               all_.at("gl/renderer").text()),
          _("Install the GPU's OpenGL driver, and see that its node may be opened."));
    else if (!all_.at("gl/imports").flag() && !steps_has("memory-object"))
      add("gl-no-import",
          fill(_("OpenGL on %s imports no dma-buf (%s)."), all_.at("gl/renderer").text(),
               all_.at("gl/import-reason").text()),
          _("Update Mesa; on an X server see that DRI3 is on."));
  }

  // Without a device, or with one that fails, there is the CPU, unless somebody forbade it.
  void look_at_refusal() {
    const std::string error = decode("error").text();
    if (variable("GST_DXVA_SOFTWARE_FALLBACK") != "0" || error.empty() ||
        decode("frames").number() > 0 || died(error) || error.starts_with(kNotTried) ||
        told("plugin-missing") || told("parser-missing"))
      return;
    // On its way to READY: playbin then goes on with the next decoder.
    if (decode("decoder/device").text() == "none") verdict_.left_to = next_decoder();
    add("software-fallback-off",
        fill(_("GST_DXVA_SOFTWARE_FALLBACK=0 keeps dxvadec from decoding on the CPU, so it "
               "refuses: %s"),
             error),
        verdict_.left_to.empty()
            ? _("Unset it, and dxvadec decodes on the CPU what no device decodes.")
            : fill(_("playbin takes %s instead; unset it, and dxvadec decodes on the CPU."),
                   verdict_.left_to));
  }

  [[nodiscard]] std::string next_decoder() const {
    for (const Json& one : all_.at("ranks/h264").items())
      if (one.at("element").text() != "dxvadec") return one.at("element").text();
    return {};
  }

  [[nodiscard]] static bool died(const std::string& error) {
    return error.starts_with("crashed") || error.starts_with("hangs");
  }

  [[nodiscard]] static const char* what_fails(std::string_view failure) {
    if (failure == "sync-failed")
      return _("The device takes a small clip, and does not finish its pictures (%s).");
    if (failure == "read-back-failed")
      return _("The device decodes a small clip, and its pictures cannot be read back (%s).");
    return _("The device does not decode a small clip that its driver takes (%s).");
  }

  void look_at_decoding() {
    const std::string error = decode("error").text();
    if (died(error)) {
      add("decoding-crashes", fill(_("Decoding a small clip: the process %s."), error),
          !slowed() ? _("Try GST_DXVA_ZEROCOPY=0, then another driver; attach the report of "
                        "--html to a bug report.")
                    : slowed_remedy());
      return;
    }
    if (!error.empty() && verdict_.problems.empty())
      add("decoding-fails", fill(_("Decoding a small clip ended in an error: %s"), error),
          _("GST_DEBUG=dxva*:5 names the call that fails; try another driver "
            "(LIBVA_DRIVER_NAME) or another GPU (GST_DXVA_DEVICE), and attach the report of "
            "--html to a bug report."));
    if (decode("frames").number() > 0 && decode("wrong-bytes").number() > 0)
      add("wrong-picture", _("The decoded picture is not the one in the stream."),
          _("Set GST_DXVA_ZEROCOPY=0 and see whether it is right then; attach the report of "
            "--html, which shows both, to a bug report."));
    else if (error.empty() && decode("frames").number() < decode("sent").number())
      add_missing_frames();
    // The driver starts, says that it decodes the codec, and fails at it.
    for (const char* failure : {"device-lost", "decode-errors", "context-not-made",
                                "surfaces-not-made", "sync-failed", "read-back-failed"})
      if (!hardware() && reason(failure)) {
        add("device-fails", fill(what_fails(failure), std::string(failure)),
            _("Try another driver (LIBVA_DRIVER_NAME) or another version of it; "
              "GST_DEBUG=dxva*:5 "
              "names the call that fails."));
        return;
      }
  }

  void add_missing_frames() {
    const std::string came = std::to_string(decode("frames").number());
    const std::string sent = std::to_string(decode("sent").number());
    if (!decode("timed-out").flag())
      add("frames-missing",
          fill(_("Only %s of %s pictures of a small clip came out."), came, sent),
          _("GST_DEBUG=dxva*:5 says what became of them; attach the report of --html to a bug "
            "report."));
    else
      add("frames-missing",
          fill(_("%s of %s pictures of a small clip came out, and then none for 20 seconds."),
               came, sent),
          !slowed()
              ? _("The device is slow or hangs: try another driver (LIBVA_DRIVER_NAME) or "
                  "another "
                  "GPU (GST_DXVA_DEVICE); GST_DXVA_DEVICE=software shows whether it is the "
                  "device.")
              : slowed_remedy());
  }

  [[nodiscard]] bool slowed() const { return !variable("DXVASOFT_DECODE_DELAY_MS").empty(); }
  [[nodiscard]] std::string slowed_remedy() const {
    return fill(_("DXVASOFT_DECODE_DELAY_MS=%s makes the bundled driver slow: unset it."),
                variable("DXVASOFT_DECODE_DELAY_MS"));
  }

  // Where it was copied the surface itself came to nobody; the decoder has looked at it.
  [[nodiscard]] std::string tiled_layout() const {
    const std::string modifier = decode("decoder/modifier").text();
    if (modifier == modifier_text(kModifierInvalid))
      return _("a layout without a name (no modifier)");
    return modifier.empty() ? _("a tiled layout")
                            : fill(_("a tiled layout (modifier %s)"), modifier);
  }

  void look_at_the_way_to_opengl() {
    if (!hardware() || verdict_.copies.copied == 0) return;
    // Between two GPUs only linear surfaces go, whatever caps can name; that has its sentence.
    const bool unnamed = reason("modifier-not-linear") && gpu_match(all_) != "different";
    if (reason("modifier-not-importable") || unnamed)
      add("tiled-only",
          fill(_("The VA-API driver gives surfaces in %s that %s."), tiled_layout(),
               std::string(reason("modifier-not-importable")
                               ? _("OpenGL does not import")
                               : _("this GStreamer's caps cannot name"))),
          _("GStreamer 1.24 and later can name layouts; Mesa and the VA-API driver should be "
            "of the same GPU."));
    if (reason("export-unsupported"))
      add("export-missing",
          _("The VA-API driver, or this libva, cannot hand surfaces over (no export)."),
          _("Update libva (2.1 and later) and the driver; until then frames are copied."));
    if (reason("export-failed"))
      add("export-fails",
          fill(
              _("The VA-API driver fails when it is to hand a surface over (%s of %s frames)."),
              std::to_string(times("export-failed")), std::to_string(verdict_.copies.frames)),
          _("Update the driver; until then such frames are copied."));
    if (decode("decoder/reasons").at("not-a-dmabuf").number() > 0)
      add("export-no-dmabuf",
          _("What the VA-API driver hands over is no dma-buf, so OpenGL must not have it."),
          on_bundled_driver()
              ? _("The bundled driver has dma-bufs where you may open /dev/udmabuf or "
                  "/dev/dma_heap/system; until then frames are copied.")
              : _("Update the driver, or take another one with LIBVA_DRIVER_NAME; until then "
                  "frames are copied."));
    look_at_other_reasons();
  }

  // Those that have no sentence of their own.
  void look_at_other_reasons() {
    static constexpr std::array kTold = {
        "modifier-not-importable", "modifier-not-linear", "export-unsupported", "export-failed",
        // OpenGL, its GPU and switches have sentences.
        "no-egl", "no-import-extension", "software-renderer", "zero-copy-off",
        // Of the uploader, for what the decoder copied; of the decoder, without an uploader.
        "system-memory", "downstream-no-dmabuf"};
    std::map<std::string, int64_t> others;
    for (const char* element : {"decoder/reasons", "uploader/reasons"})
      for (const std::string& name : decode(element).names())
        if (std::find(kTold.begin(), kTold.end(), name) == kTold.end())
          others[name] += decode(element).at(name).number();
    if (told("export-no-dmabuf")) others.erase("not-a-dmabuf");
    std::string list;
    for (const auto& [name, count] : others)
      list += (list.empty() ? "" : ", ") + name + " " + std::to_string(count);
    if (list.empty()) return;
    add("copied-frames", fill(_("Frames are copied because of: %s."), list),
        _("GST_DEBUG=dxva*:5 names the calls that fail; update the driver and Mesa, and attach "
          "the report of --html to a bug report."));
  }

  void look_at_two_gpus() {
    if (gpu_match(all_) != "different") return;
    const std::string gl = all_.at("gl/node").text();
    const std::string decoder = node_in(decode("decoder/device").text());
    add("two-gpus", fill(_("Video is decoded on %s, and OpenGL draws on %s."), decoder, gl),
        fill(_("Set GST_DXVA_DEVICE=%s; for the other one DRI_PRIME moves OpenGL."), gl));
  }

  void look_at_ranks() {
    const auto h264 = all_.at("ranks/h264").items();
    if (h264.empty() || !hardware()) return;
    const std::string first = h264.front().at("element").text();
    if (first != "dxvadec")
      add("not-first", fill(_("playbin takes %s for H.264, not dxvadec."), first),
          _("Set GST_PLUGIN_FEATURE_RANK=dxvadec:MAX."));
  }

  void look_at_switches() {
    if (on_bundled_driver() && hardware())
      add("bundled-driver",
          _("The bundled driver decodes, on the CPU: this shows that the way to OpenGL works, "
            "and says nothing about speed."),
          "");
    if (variable("GST_DXVA_ZEROCOPY") == "0")
      add("zero-copy-off", _("GST_DXVA_ZEROCOPY=0 turns zero-copy off."), _("Unset it."));
    const std::string test = variable("GST_DXVA_TEST");
    const TestSwitch switches = TestSwitch::parse(test.c_str());
    if (switches.loosens_rules() && !on_bundled_driver())
      add("test-switch",
          fill(_("GST_DXVA_TEST=%s is set: it loosens safety rules and is for tests only."),
               test),
          _("Unset GST_DXVA_TEST."));
    else if (switches.upload_ring || switches.read_in_place || switches.verify)
      add("test-switch",
          fill(_("GST_DXVA_TEST=%s is set: frames go a slower way than they could."), test),
          _("Unset GST_DXVA_TEST; to compare what one element imports, there is dxvaglupload "
            "verify=true."));
    look_at_misunderstood();
  }

  // What somebody set, and believes to be in force.
  void look_at_misunderstood() {
    std::map<std::string, std::string> environment;
    for (const std::string& name : all_.at("environment").names())
      environment[name] = variable(name.c_str());
    for (const Misunderstood& one : misunderstood(environment))
      add("not-understood", one.what, one.remedy);
    for (const Json& one : all_.at("tracers/ignored").items())
      add("not-understood", fill(_("GST_TRACERS: the tracer dxva ignores %s."), one.text()),
          _("Its settings are file, a path, and frames, a number from 1 to 100000: "
            "dxva(file=run.svg,frames=500)."));
  }

  [[nodiscard]] bool on_nvdec() const {
    return node_in(decode("decoder/device").text()).starts_with("cuda:");
  }

  [[nodiscard]] bool on_bundled_driver() const {
    return node_in(decode("decoder/device").text()) == "software" ||
           variable("GST_DXVA_DEVICE") == "software";
  }

  [[nodiscard]] Outcome outcome() const {
    if (!verdict_.left_to.empty()) return Outcome::Software;
    if (decode("frames").number() == 0 || decode("wrong-bytes").number() > 0 ||
        !decode("error").text().empty())
      return Outcome::Broken;
    if (!hardware()) return Outcome::Software;
    return verdict_.copies.copied == 0 ? Outcome::ZeroCopy : Outcome::Copies;
  }

  const Json& all_;
  Verdict verdict_;
};

}  // namespace

const char* outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::ZeroCopy:
      return "zero-copy";
    case Outcome::Copies:
      return "copies";
    case Outcome::Software:
      return "software";
    case Outcome::Broken:
      break;
  }
  return "broken";
}

Json Verdict::json() const {
  Json out = Json::object();
  out.set("outcome", outcome_name(outcome));
  out.set("copies", copies.json());
  if (!left_to.empty()) out.set("left-to", left_to);
  Json list = Json::array();
  for (const Problem& problem : problems) {
    Json one = Json::object();
    one.set("id", problem.id);
    one.set("what", problem.what);
    one.set("remedy", problem.remedy);
    list.add(one);
  }
  out.set("problems", list);
  return out;
}

Verdict judge(const Json& findings) {
  return Judge(findings).judge();
}

std::string gpu_match(const Json& findings) {
  const std::string gl = findings.at("gl/node").text();
  const std::string decoder = node_in(findings.at("decode/decoder/device").text());
  if (gl.empty() || !decoder.starts_with("/dev/")) return "unknown";
  return same_gpu(findings.at("drm"), gl, decoder) ? "same" : "different";
}

std::string expected_step(const Json& findings, const std::string& codec) {
  const std::string node = node_in(findings.at("decode/decoder/device").text());
  bool decodes = false;
  for (const char* kind : {"va", "cuda"})
    for (const Json& one : findings.at(kind).items())
      for (const Json& name : one.at("codecs").items())
        decodes |= one.at("node").text() == node && name.text() == codec;
  if (!decodes) return "software";
  // Without OpenGL there is no uploader.
  const Json uploader = findings.at("decode/uploader/steps");
  const Json steps = uploader.names().empty() ? findings.at("decode/decoder/steps") : uploader;
  std::string most;
  for (const std::string& name : steps.names())
    if (most.empty() || steps.at(name).number() > steps.at(most).number()) most = name;
  return most.empty() ? "?" : most;
}

}  // namespace dxva::doctor
