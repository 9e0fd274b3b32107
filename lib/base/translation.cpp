// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/translation.hpp"

#include <cstdlib>

namespace dxva {

void bind_translations() {
  const char* folder = std::getenv("TEXTDOMAINDIR");
  bindtextdomain(GETTEXT_PACKAGE, folder && *folder ? folder : LOCALE_DIR);
  // Whatever the locale's character set: GLib and GStreamer speak UTF-8.
  bind_textdomain_codeset(GETTEXT_PACKAGE, "UTF-8");
}

}  // namespace dxva
