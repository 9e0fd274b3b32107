// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Sentences that people read, in their language: gettext's `_` and `N_`, from our own domain
// whatever the program's is. Logs, names that are ABI (steps, reasons, fields) and the details
// of errors stay as they are written. po/POTFILES.in lists the files that have such sentences.

#include <libintl.h>

#include <cstdio>
#include <string>

#define _(sentence) dgettext(GETTEXT_PACKAGE, sentence)
#define N_(sentence) (sentence)

namespace dxva {

// Tells gettext where translations are: $TEXTDOMAINDIR, which `meson devenv` and others set
// who run what is not installed, else where they were installed. Once before the first
// sentence; again does no harm. Thread-safe.
void bind_translations();

// A translated format with texts for its %s, or %1$s and so on where a language turns them
// round.
template <typename... Texts>
[[nodiscard]] std::string fill(const char* format, const Texts&... texts) {
  const int length = std::snprintf(nullptr, 0, format, texts.c_str()...);
  std::string out(length > 0 ? static_cast<size_t>(length) : 0, '\0');
  std::snprintf(out.data(), out.size() + 1, format, texts.c_str()...);
  return out;
}

}  // namespace dxva
