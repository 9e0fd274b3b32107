// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/play/options.hpp"

#include <glib.h>

#include <vector>

#include "lib/base/translation.hpp"
#include "tools/play/handles.hpp"

namespace dxva::play {
namespace {

Error usage_error(const std::string& text) {
  return {.code = ErrorCode::BadInput, .call = "", .text = text + _("; see --help")};
}

std::string take(char* text) {
  const Owned<char> owned(text);
  return text ? text : "";
}

// MEDIA is a path or a file:// URI.
Result<std::string> path_of(const std::string& media) {
  if (media.empty()) return usage_error(_("MEDIA is empty"));
  if (!media.starts_with("file://")) return media;
  GError* failure = nullptr;
  const std::string path = take(g_filename_from_uri(media.c_str(), nullptr, &failure));
  if (!failure) return path;
  const Owned<GError> owned(failure);
  return usage_error(failure->message);
}

}  // namespace

Result<Options> parse_options(int argc, char** argv) {
  char *import = nullptr, *device = nullptr, *zero_copy = nullptr, *layout = nullptr,
       *framemd5 = nullptr, *sheet = nullptr, *timeline = nullptr, *keep = nullptr;
  char** media = nullptr;
  gboolean check = FALSE, json = FALSE, window = FALSE, hold = FALSE, version = FALSE;
  const GOptionEntry entries[] = {
      {"import", 0, 0, G_OPTION_ARG_STRING, &import,
       N_("how surfaces reach GL: auto, egl, memory-object or copy"), N_("STEP")},
      {"device", 0, 0, G_OPTION_ARG_STRING, &device,
       N_("what decodes: auto, software (the bundled driver), cuda, cuda:N or a render node"),
       N_("DEVICE")},
      {"zero-copy", 0, 0, G_OPTION_ARG_STRING, &zero_copy,
       N_("whether pictures leave the decoder as surfaces: auto, require or off"),
       N_("WHETHER")},
      {"layout", 0, 0, G_OPTION_ARG_STRING, &layout,
       N_("which surfaces leave without a copy: any or tight-linear"), N_("LAYOUT")},
      {"check", 0, 0, G_OPTION_ARG_NONE, &check,
       N_("compare every frame with libavcodec's software decode; exit 1 when one differs"),
       nullptr},
      {"framemd5", 0, 0, G_OPTION_ARG_FILENAME, &framemd5,
       N_("write one md5 per frame, of its cropped NV12 or P010 bytes; - is stdout"),
       N_("FILE")},
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, N_("print the summary as one JSON object"),
       nullptr},
      {"window", 0, 0, G_OPTION_ARG_NONE, &window, N_("show the video as well"), nullptr},
      {"sheet", 0, 0, G_OPTION_ARG_FILENAME, &sheet,
       N_("where the contact sheet goes; none writes none"), N_("PNG")},
      {"timeline", 0, 0, G_OPTION_ARG_FILENAME, &timeline,
       N_("draw where each frame's time went, and which frames took a worse step"), N_("SVG")},
      {"version", 0, 0, G_OPTION_ARG_NONE, &version,
       N_("print the versions of this program and of the libraries that it runs with"),
       nullptr},
      {"hold", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &hold,
       N_("keep every frame to the end, as a sink does that gives none back"), nullptr},
      {"keep", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &keep,
       N_("folder of the default clip and sheet"), N_("FOLDER")},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &media, nullptr, N_("[MEDIA]")},
      {nullptr, 0, 0, G_OPTION_ARG_NONE, nullptr, nullptr, nullptr},
  };
  GOptionContext* context = g_option_context_new(nullptr);
  g_option_context_set_summary(
      context,
      _("Decodes MEDIA through dxvadec and dxvaglupload and says which way its frames went."));
  g_option_context_add_main_entries(context, entries, GETTEXT_PACKAGE);
  GError* failure = nullptr;
  const bool parsed = g_option_context_parse(context, &argc, &argv, &failure);
  g_option_context_free(context);

  Options options{
      .import = take(import),
      .device = take(device),
      .zero_copy = take(zero_copy),
      .layout = take(layout),
      .framemd5 = take(framemd5),
      .sheet = take(sheet),
      .timeline = take(timeline),
      .check = check != FALSE,
      .json = json != FALSE,
      .window = window != FALSE,
      .hold = hold != FALSE,
      .version = version != FALSE,
  };
  const std::string folder = take(keep);
  std::vector<std::string> given;
  for (char** one = media; one && *one; ++one) given.emplace_back(*one);
  g_strfreev(media);
  if (!parsed) {
    const Owned<GError> owned(failure);
    return usage_error(failure->message);
  }
  if (options.version) return options;
  if (given.size() > 1) return usage_error(_("more than one MEDIA"));
  if (!given.empty()) {
    auto path = path_of(given.front());
    if (!path) return path.error();
    options.media = std::move(*path);
  } else if (!folder.empty()) {
    options.media = folder + "/clip.mp4";
  } else {
    return usage_error(_("no MEDIA"));
  }
  if (options.sheet.empty()) options.sheet = folder.empty() ? "none" : folder + "/sheet.png";
  if (options.json && options.framemd5 == "-")
    return usage_error(_("--json and --framemd5 - both want stdout"));
  return options;
}

}  // namespace dxva::play
