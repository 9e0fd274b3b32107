// SPDX-License-Identifier: LGPL-2.1-or-later
// A VA-API driver that does not come back from its start.
#include <unistd.h>

extern "C" [[gnu::visibility("default")]] int __vaDriverInit_1_0(void* context);
extern "C" int __vaDriverInit_1_0(void*) {
  for (;;) ::pause();
}
