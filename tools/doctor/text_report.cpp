// SPDX-License-Identifier: LGPL-2.1-or-later
#include <utility>

#include "lib/base/translation.hpp"
#include "tools/doctor/reports.hpp"

namespace dxva::doctor {
namespace {

std::string list(const std::vector<Json>& items) {
  std::string out;
  for (const Json& item : items) out += (out.empty() ? "" : ", ") + item.text();
  return out.empty() ? _("none") : out;
}

void line(std::string& out, const std::string& name, const std::string& value) {
  if (value.empty()) return;
  out += "  " + name + std::string(name.size() < 18 ? 18 - name.size() : 1, ' ') + value + "\n";
}

void title(std::string& out, const char* text) {
  out += std::string(out.empty() ? "" : "\n") + text + "\n";
}

std::string counts(const Json& object) {
  std::string out;
  for (const std::string& name : object.names())
    out += (out.empty() ? "" : ", ") + name + " " + std::to_string(object.at(name).number());
  return out;
}

void devices(const Json& findings, std::string& out) {
  title(out, _("GPUs"));
  if (findings.at("drm").items().empty()) line(out, "/dev/dri", _("no render node"));
  for (const Json& node : findings.at("drm").items())
    line(out, node.at("node").text(),
         node.at("driver").text() + " " + node.at("address").text() +
             (node.at("error").exists() ? ", " + node.at("error").text() : ""));
  for (const Json& device : findings.at("va").items()) {
    title(out, (std::string("VA-API ") + device.at("device").text()).c_str());
    line(out, _("error"), device.at("error").text());
    line(out, _("driver"), device.at("vendor").text());
    if (!device.at("error").exists())
      line(out, _("decodes"), list(device.at("codecs").items()));
  }
}

// "h264, h265 (8 and 10 bits)"
std::string cuda_codecs(const Json& device) {
  std::string out;
  for (const Json& codec : device.at("codecs").items()) {
    bool ten = false;
    for (const Json& profile : device.at("profiles").items())
      ten |= profile.at("codec").text() == codec.text() && profile.at("bits").number() == 10;
    out += (out.empty() ? "" : ", ") + codec.text() + (ten ? _(" (10 bits too)") : "");
  }
  return out.empty() ? _("nothing") : out;
}

void cuda_devices(const Json& findings, std::string& out) {
  for (const Json& device : findings.at("cuda").items()) {
    title(out, ("NVDEC " + device.at("node").text()).c_str());
    line(out, _("error"), device.at("error").text());
    if (device.at("error").exists()) continue;
    line(out, _("GPU"), device.at("vendor").text());
    line(out, "UUID", device.at("uuid").text());
    line(out, _("decodes"), cuda_codecs(device));
    line(out, _("exports memory"), device.at("exports").flag() ? _("yes") : _("no"));
  }
}

void opengl(const Json& gl, std::string& out) {
  title(out, "OpenGL");
  line(out, _("error"), gl.at("error").text());
  if (gl.at("error").exists()) return;
  line(out, _("renderer"), gl.at("renderer").text());
  line(out, _("version"),
       std::string(gl.at("gles").flag() ? "OpenGL ES " : "OpenGL ") + gl.at("version").text() +
           ", " + gl.at("platform").text());
  line(out, _("GPU"), gl.at("node").text());
  line(out, _("imports"),
       gl.at("imports").flag() ? std::string("dma-buf") : gl.at("import-reason").text());
  for (const std::string& format : gl.at("importable").names())
    line(out, "  " + format, list(gl.at("importable").at(format).items()));
  line(out, _("fences"),
       gl.at("native-fence").flag() ? _("of the kernel") : _("of OpenGL only"));
  line(out, _("memory objects"), gl.at("memory-object-fd").flag() ? _("yes") : _("no"));
}

std::string match(const Json& findings) {
  const std::string match = findings.at("gpu-match").text();
  if (match == "same") return _("what decodes also draws");
  if (match == "different") return _("one decodes, another draws");
  return _("not known: decoder or OpenGL names no GPU");
}

void decoding(const Json& decode, std::string& out) {
  title(out, _("A small H.264 clip"));
  line(out, _("error"), decode.at("error").text());
  line(out, _("decoded on"), decode.at("decoder/device").text());
  line(out, _("no device"), decode.at("decoder/device-error").text());
  line(out, _("pictures"),
       std::to_string(decode.at("frames").number()) + " / " +
           std::to_string(decode.at("sent").number()) +
           (decode.at("frames").number() == 0        ? ""
            : decode.at("wrong-bytes").number() == 0 ? _(", every byte right")
                                                     : _(", WRONG")));
  const Json surface = decode.at("surface");
  if (surface.at("memory").exists())
    line(out, _("surfaces"),
         surface.at("memory").text() + (surface.at("layout").exists()
                                            ? ", " + surface.at("layout").text() +
                                                  ", modifier " + surface.at("modifier").text()
                                            : ""));
  if (surface.at("sync-file").exists())
    line(
        out, _("their fences"),
        surface.at("sync-file").flag() ? _("of the kernel") : _("none that can be waited for"));
  for (const Json& plane : surface.at("planes").items())
    line(out, "  " + std::string(_("plane")),
         "object " + std::to_string(plane.at("object").number()) + ", offset " +
             std::to_string(plane.at("offset").number()) + ", pitch " +
             std::to_string(plane.at("pitch").number()));
  line(out, _("left dxvadec"), counts(decode.at("decoder/steps")));
  line(out, _("because"), counts(decode.at("decoder/reasons")));
  line(out, _("became textures"), counts(decode.at("uploader/steps")));
  line(out, _("because"), counts(decode.at("uploader/reasons")));
}

// "…; 4 of 8 frames are copied (by the CPU 4, uploaded to OpenGL 4)."
std::string copied(const Copies& copies) {
  std::string by;
  for (const auto& [words, count] :
       {std::pair{_("on the GPU"), copies.by_gpu}, std::pair{_("by the CPU"), copies.by_cpu},
        std::pair{_("uploaded to OpenGL"), copies.uploaded}})
    if (count > 0)
      by += (by.empty() ? "" : ", ") + std::string(words) + " " + std::to_string(count);
  return fill(_("Video is decoded by the device; %s of %s frames are copied (%s)."),
              std::to_string(copies.copied), std::to_string(copies.frames), by);
}

void codecs(const Json& findings, std::string& out) {
  title(out, _("Codecs: the way a frame would take, and what playbin tries, by rank"));
  for (const std::string& codec : findings.at("ranks").names()) {
    std::string elements;
    for (const Json& one : findings.at("ranks").at(codec).items())
      elements +=
          ", " + one.at("element").text() + " " + std::to_string(one.at("rank").number());
    line(out, codec, expected_step(findings, codec) + elements);
  }
}

}  // namespace

std::string text_report(const Json& findings, const Verdict& verdict) {
  std::string out;
  title(out, _("System"));
  for (const std::string& name : findings.at("system").names())
    line(out, name, findings.at("system").at(name).text());
  if (!findings.at("environment").names().empty()) title(out, _("Environment"));
  for (const std::string& name : findings.at("environment").names())
    out += "  " + name + "=" + findings.at("environment").at(name).text() + "\n";
  devices(findings, out);
  cuda_devices(findings, out);
  opengl(findings.at("gl"), out);
  decoding(findings.at("decode"), out);
  line(out, _("GPU match"), match(findings));
  codecs(findings, out);

  title(out, _("Verdict"));
  switch (verdict.outcome) {
    case Outcome::ZeroCopy:
      out += std::string("  ") + _("Video is decoded by the device and shown without a copy.") +
             "\n";
      break;
    case Outcome::Copies:
      out += "  " + copied(verdict.copies) + "\n";
      break;
    case Outcome::Software:
      out +=
          "  " +
          (verdict.left_to.empty()
               ? std::string(_("Video is decoded on the CPU."))
               : fill(_("dxvadec refuses; %s decodes the video instead."), verdict.left_to)) +
          "\n";
      break;
    case Outcome::Broken:
      out += std::string("  ") + _("Video does not play right.") + "\n";
  }
  for (const Problem& problem : verdict.problems) {
    out += "  - " + problem.what + "\n";
    if (!problem.remedy.empty()) out += "    " + problem.remedy + "\n";
  }
  return out;
}

}  // namespace dxva::doctor
