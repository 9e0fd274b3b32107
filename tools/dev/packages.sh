# SPDX-License-Identifier: LGPL-2.1-or-later
# Debian packages: asked for at every start (30 ms), installed only when one is missing.

wanted_packages() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$1"; }

missing_packages() { # LIST
  local wanted
  mapfile -t wanted < <(wanted_packages "$1")
  comm -23 <(printf '%s\n' "${wanted[@]}" | sort) \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
      sed -n 's/^installed //p' | sort -u)
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif ! command -v sudo >/dev/null; then
    die "needs root for: $* (no sudo here)"
  elif [ -t 0 ]; then
    sudo "$@"
  else
    sudo -n "$@"  # nobody there to type a password: fail instead of waiting
  fi
}

install_missing_packages() { # [LIST]
  local list=${1:-$root/tools/dev/packages.txt}
  [ "${DXVA_SETUP:-}" != skip ] || return 0
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    [ -e "$keep/not-debian" ] ||
      say "not a Debian system: install what corresponds to ${list#"$root/"} yourself"
    : >"$keep/not-debian"
    return 0
  fi
  local missing
  mapfile -t missing < <(missing_packages "$list")
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0)
  as_root "${apt[@]}" update </dev/null >&2 || say "apt-get update failed; trying with the lists there are"
  as_root "${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null >&2 ||
    die "could not install: ${missing[*]}"
}
