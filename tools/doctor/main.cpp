// SPDX-License-Identifier: LGPL-2.1-or-later
// dxva-doctor: what this machine can do with video, what not, and why not.
#include <gst/gst.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/output_file.hpp"
#include "lib/base/translation.hpp"
#include "lib/cuda/device.hpp"
#include "lib/drm/device_advice.hpp"
#include "tools/doctor/child.hpp"
#include "tools/doctor/hang_watch.hpp"
#include "tools/doctor/json.hpp"
#include "tools/doctor/probes.hpp"
#include "tools/doctor/reports.hpp"
#include "tools/doctor/verdict.hpp"

namespace dxva::doctor {
namespace {

constexpr int kUsage = 64;  // EX_USAGE of sysexits.h; the lower ones are verdicts

struct Options {
  std::string device;
  bool json = false;
  bool version = false;
  std::string html;
  std::string probe;  // hidden: be a child
  bool pictures = false;
  bool without_gl = false;
};

std::string take(char* text) {
  std::string out = text ? text : "";
  g_free(text);
  return out;
}

bool parse(int argc, char** argv, Options& out) {
  char *device = nullptr, *html = nullptr, *probe = nullptr;
  gboolean json = FALSE, version = FALSE, pictures = FALSE, without_gl = FALSE;
  const GOptionEntry entries[] = {
      {"device", 0, 0, G_OPTION_ARG_FILENAME, &device,
       N_("what decodes: auto, software (the bundled driver), cuda or a render node"),
       N_("DEVICE")},
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, N_("print everything as one JSON object"),
       nullptr},
      {"html", 0, 0, G_OPTION_ARG_FILENAME, &html,
       N_("write a report with pictures, to attach to a bug report; - is stdout"), N_("FILE")},
      {"version", 0, 0, G_OPTION_ARG_NONE, &version,
       N_("print the versions of this program and of the libraries that it runs with"),
       nullptr},
      {"probe", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &probe, "", nullptr},
      {"pictures", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &pictures, "", nullptr},
      {"without-gl", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &without_gl, "", nullptr},
      {}};
  GOptionContext* context = g_option_context_new(nullptr);
  g_option_context_set_summary(
      context, _("Says what this machine can do with video: GPUs and drivers, what OpenGL\n"
                 "imports, which way the frames of each codec take, and what stands in the\n"
                 "way of a better one."));
  g_option_context_set_description(
      context,
      _("Exit status: 0 frames reach OpenGL without a copy, 1 all or some are copied,\n"
        "2 video is decoded on the CPU, or dxvadec leaves it to another decoder, 3 it\n"
        "does not play right, 64 the command line is wrong, or a report could not be\n"
        "written."));
  g_option_context_add_main_entries(context, entries, GETTEXT_PACKAGE);
  GError* error = nullptr;
  bool good = g_option_context_parse(context, &argc, &argv, &error);
  if (good && argc > 1) {
    std::fprintf(stderr, _("dxva-doctor: %s is one argument too many; see --help\n"), argv[1]);
    good = false;
  } else if (!good) {
    std::fprintf(stderr, "dxva-doctor: %s\n", error->message);
  }
  if (good && json && html && std::strcmp(html, "-") == 0) {
    std::fprintf(stderr, _("dxva-doctor: --json and --html - both want stdout\n"));
    good = false;
  }
  // It goes into reports, which are text.
  if (good && device && !g_utf8_validate(device, -1, nullptr)) {
    std::fprintf(stderr, _("dxva-doctor: --device: the name is not UTF-8\n"));
    good = false;
  }
  g_clear_error(&error);
  g_option_context_free(context);
  out = {.device = take(device),
         .json = json != 0,
         .version = version != 0,
         .html = take(html),
         .probe = take(probe),
         .pictures = pictures != 0,
         .without_gl = without_gl != 0};
  return good;
}

// Does not come back. The answer goes where stdout went; what drivers print there joins their
// errors.
[[noreturn]] void be_child(const Options& options) {
  const int answer_fd = ::dup(STDOUT_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  // Who looks at a driver does not need GStreamer, whose plugins may start every driver.
  if (options.probe != "va" && options.probe != "cuda") gst_init(nullptr, nullptr);
  // From here on: the first start of GStreamer has other processes work for it.
  HangWatch watch(answer_fd);
  Json out;
  if (options.probe == "va")
    out = probe_va(options.device);
  else if (options.probe == "cuda")
    out = probe_cuda();
  else if (options.probe == "gl")
    out = probe_gl();
  else if (options.probe == "decode")
    out = probe_decode(options.device, options.pictures,
                       options.without_gl ? WithOpenGl::No : WithOpenGl::Yes);
  else if (options.probe == "ranks")
    out = probe_ranks();
  else if (options.probe == "tracers")
    out = probe_tracers();
  if (!out.exists()) ::_exit(kUsage);
  watch.answer(out.to_text());
}

bool hangs(const Json& found) {
  return found.at("error").text().starts_with("hangs");
}

// Instead of what would hang as well.
Json not_tried(const std::string& why) {
  Json out = Json::object();
  out.set("error", kNotTried + why);
  return out;
}

// Why the device that dxvadec would take is known to hang; empty: it is not. By itself dxvadec
// goes on to the next one where a driver fails, so it needs one that answers.
std::string hung_driver(const std::string& device, const Json& va) {
  std::string hung;
  for (const Json& one : va.items()) {
    const bool asked = one.at("device").text() == device;
    const bool any = device.empty() || device == "auto";
    if (!hangs(one) && any && !one.at("error").exists()) return {};
    if (hangs(one) && (asked || any) && hung.empty())
      hung = "the VA-API driver of " + one.at("device").text() + " " + one.at("error").text();
  }
  return hung;
}

// What needs GStreamer.
void examine_pipeline(const Options& options, const std::string& device, Json& out) {
  // Reads nothing but settings: whatever is wrong with it is wrong with GStreamer's start.
  const Json tracers = run_child({"--probe=tracers"}, _("GStreamer's start"));
  out.set("tracers", tracers);
  const bool starts = !hangs(tracers);
  const Json instead = not_tried("GStreamer's start " + tracers.at("error").text());
  const Json gl = starts ? run_child({"--probe=gl"}, "OpenGL") : instead;
  out.set("gl", gl);
  std::vector<std::string> decode = {"--probe=decode"};
  if (!options.device.empty()) decode.push_back("--device=" + options.device);
  if (!options.html.empty()) decode.push_back("--pictures");
  // A server without a screen decodes all the same.
  if (gl.at("error").exists()) decode.push_back("--without-gl");
  const std::string hung = hung_driver(device, out.at("va"));
  out.set("decode", !starts        ? instead
                    : hung.empty() ? run_child(decode, _("a small H.264 clip"))
                                   : not_tried(hung));
  out.set("ranks",
          starts ? run_child({"--probe=ranks"}, _("GStreamer's list of decoders")) : instead);
}

Json examine(const Options& options) {
  Json out = Json::object();
  out.set("system", probe_system());
  out.set("environment", probe_environment());
  const Json drm = probe_drm();
  out.set("drm", drm);

  std::vector<std::string> devices;
  for (const Json& node : drm.items())
    if (!node.at("error").exists()) devices.push_back(node.at("node").text());
  const char* wanted = g_getenv("GST_DXVA_DEVICE");
  const std::string device = !options.device.empty() ? options.device : wanted ? wanted : "";
  // One that was named is looked at, whatever it is; NVDEC is below.
  const std::vector<Json> nodes = drm.items();
  const bool known = std::any_of(nodes.begin(), nodes.end(), [&](const Json& node) {
    return node.at("node").text() == device;
  });
  if (!known && !device.empty() && device != "auto" && !cuda::DeviceChoice::parse(device))
    devices.push_back(device);
  Json va = Json::array();
  for (const std::string& name : devices) {
    Json one =
        run_child({"--probe=va", "--device=" + name}, fill(_("the VA-API driver of %s"), name));
    one.set("device", name);  // a child that died could not say for whom it asked
    va.add(one);
  }
  out.set("va", va);
  const Json cuda = run_child({"--probe=cuda"}, _("NVIDIA's driver"));
  if (!cuda.at("devices").items().empty()) out.set("cuda", cuda.at("devices"));
  examine_pipeline(options, device, out);
  Json asked = Json::object();
  asked.set("device", device);
  asked.set("advice", drm::device_advice(device, out.at("decode/decoder/device-error").text()));
  out.set("asked", asked);
  return out;
}

int complain(const Error& error) {
  std::fprintf(stderr, "dxva-doctor: %s\n", error.text.c_str());
  return kUsage;
}

int print_versions() {
  const Json versions = probe_versions();
  std::printf("dxva-doctor %s\n%s\n%s\nlibavcodec %s\n", VERSION,
              versions.at("gstreamer").text().c_str(), versions.at("libva").text().c_str(),
              versions.at("libavcodec").text().c_str());
  const Status written = flush(stdout, "stdout");
  return written ? 0 : complain(written.error());
}

int run(int argc, char** argv) {
  std::setlocale(LC_ALL, "");
  bind_translations();
  textdomain(GETTEXT_PACKAGE);  // GLib leaves its own words alone in a program without a domain
  Options options;
  if (!parse(argc, argv, options)) return kUsage;
  if (!options.probe.empty()) be_child(options);
  if (options.version) return print_versions();
  const bool page_on_stdout = options.html == "-";
  std::optional<OutputFile> page;
  if (!options.html.empty() && !page_on_stdout) {
    auto opened = OutputFile::open(options.html, OutputFile::Kind::Html);
    if (!opened) return complain(opened.error());
    page.emplace(std::move(*opened));
  }
  Json findings = examine(options);
  findings.set("gpu-match", gpu_match(findings));
  const Verdict verdict = judge(findings);
  const std::string html = options.html.empty() ? "" : html_report(findings, verdict);
  const Status page_written = page ? page->write(html) : Status(Done{});
  findings.set("verdict", verdict.json());
  const std::string report = page_on_stdout ? html  // has all of the text
                             : options.json ? findings.to_text() + "\n"
                                            : text_report(findings, verdict);
  std::fputs(report.c_str(), stdout);
  const Status report_written = flush(stdout, "stdout");
  if (!page_written) return complain(page_written.error());
  if (!report_written) return complain(report_written.error());
  return static_cast<int>(verdict.outcome);
}

}  // namespace
}  // namespace dxva::doctor

int main(int argc, char** argv) {
  return dxva::doctor::run(argc, argv);
}
