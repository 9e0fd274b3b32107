// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/translation.hpp"
#include "tools/doctor/reports.hpp"

namespace dxva::doctor {
namespace {

// Vendor strings and error texts are a stranger's.
std::string escaped(const std::string& text) {
  char* safe = g_markup_escape_text(text.c_str(), static_cast<gssize>(text.size()));
  std::string out = safe;
  g_free(safe);
  return out;
}

std::string picture(const char* caption, const std::string& base64) {
  if (base64.empty()) return {};
  return std::string("<figure><img alt=\"\" src=\"data:image/png;base64,") + base64 +
         "\"><figcaption>" + escaped(caption) + "</figcaption></figure>\n";
}

}  // namespace

std::string html_report(const Json& findings, const Verdict& verdict) {
  std::string out =
      "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>dxva-doctor</title>\n"
      "<style>body{font-family:sans-serif;max-width:60em;margin:2em auto}"
      "figure{display:inline-block;margin:0 1em 1em 0}img{image-rendering:pixelated;"
      "border:1px solid #888}pre{background:#f4f4f4;padding:1em;overflow:auto}</style>"
      "</head><body>\n<h1>dxva-doctor: ";
  out += outcome_name(verdict.outcome);
  out += "</h1>\n<ul>\n";
  for (const Problem& problem : verdict.problems)
    out += "<li><b>" + escaped(problem.what) + "</b> " + escaped(problem.remedy) + "</li>\n";
  out += "</ul>\n";
  out += picture(_("decoded here"), findings.at("decode/pictures/decoded").text());
  out += picture(_("as it should be"), findings.at("decode/pictures/reference").text());
  out += "<pre>" + escaped(text_report(findings, verdict)) + "</pre>\n";
  out += "</body></html>\n";
  return out;
}

}  // namespace dxva::doctor
