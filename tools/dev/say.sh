# SPDX-License-Identifier: LGPL-2.1-or-later
# Everything ./dev says goes to stderr: stdout belongs to the program that it starts (--json).

say() { printf 'dev: %s\n' "$*" >&2; }
die() {
  say "$*"
  exit 1
}
