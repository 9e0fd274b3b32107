# SPDX-License-Identifier: LGPL-2.1-or-later
# Debian 12's own Mesa (22.3) offers no dma-buf import without a DRM node; Mesa 25 does, in software.
# It is taken from bookworm-backports and only unpacked, below build/: neither the system's Mesa nor
# its apt sources change. Debian 13 has Mesa 25 and needs nothing.

mesa_root=$keep/mesa
mesa_packages=(libegl-mesa0 libgl1-mesa-dri libgbm1 libglx-mesa0 mesa-libgallium
  mesa-vulkan-drivers libdrm2 libdrm-amdgpu1 libdrm-intel1)

# A render node that we may open: then the real drivers are used and nothing here is.
have_gpu() {
  local node
  for node in /dev/dri/renderD*; do
    [ -r "$node" ] && [ -w "$node" ] && return 0
  done
  return 1
}

on_debian_12() {
  [ -r /etc/os-release ] && (. /etc/os-release && [ "${ID:-}" = debian ] && [ "${VERSION_ID:-}" = 12 ])
}

# Somebody may have installed the one of backports.
have_new_system_mesa() {
  local version
  version=$(dpkg-query -W -f '${Version}' libegl-mesa0 2>/dev/null) || return 1
  dpkg --compare-versions "$version" ge 25
}

want_private_mesa() {
  [ "${DXVA_MESA:-private}" != system ] && on_debian_12 && ! have_gpu && ! have_new_system_mesa
}

have_private_mesa() { want_private_mesa && [ -d "$mesa_root" ]; }

# The address under which this machine's apt finds bookworm: its mirror, not one of our choice.
debian_mirror() {
  local uri suite
  while read -r uri suite; do
    [ "$suite" = "$1" ] || continue
    printf '%s\n' "$uri"
    return 0
  done < <(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Identifier: Packages' 2>/dev/null)
  return 1
}

# apt with lists, cache and state of its own; proxies and passwords stay the machine's.
private_apt_configuration() {
  local folder=$1 mirror=$2 keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  mkdir -p "$folder"/{parts,state/lists/partial,cache/archives/partial,debs}
  printf 'deb %s%s bookworm-backports main\n' \
    "$([ ! -r "$keyring" ] || printf '[signed-by=%s] ' "$keyring")" "$mirror" >"$folder/sources.list"
  cat >"$folder/apt.conf" <<CONF
Dir::Etc::SourceList "$folder/sources.list";
Dir::Etc::SourceParts "$folder/parts";
Dir::Etc::Preferences "$folder/parts/none";
Dir::Etc::PreferencesParts "$folder/parts";
Dir::State "$folder/state";
Dir::State::Lists "lists";
Dir::State::Status "/dev/null";
Dir::Cache "$folder/cache";
APT::Sandbox::User "$(id -un)";
Acquire::Languages "none";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
CONF
}

unpack_mesa() (
  local work=$keep/mesa.work mirror package
  mirror=$(debian_mirror bookworm-backports || debian_mirror bookworm) ||
    { say "apt knows no source of bookworm"; return 1; }
  rm -rf "$work" "$mesa_root"
  private_apt_configuration "$work" "$mirror"
  local apt=(apt-get -q -c "$work/apt.conf")
  "${apt[@]}" update </dev/null >&2 || return 1
  cd "$work/debs" || return 1
  "${apt[@]}" download "${mesa_packages[@]}" </dev/null >&2 || return 1
  for package in ./*.deb; do
    dpkg-deb -x "$package" "$work/root" || return 1
  done
  local unresolved
  unresolved=$(LD_LIBRARY_PATH=$(echo "$work/root"/usr/lib/*-linux-gnu) \
    ldd "$work/root"/usr/lib/*/libgallium-*.so "$work/root"/usr/lib/*/libEGL_mesa.so.0 |
    grep 'not found' | sort -u) || true
  [ -z "$unresolved" ] || { say "libraries that Mesa 25 needs are missing:"; say "$unresolved"; return 1; }
  mv "$work/root" "$mesa_root"  # whole or not at all
  rm -rf "$work"
)

unpack_mesa_if_needed() {
  want_private_mesa || return 0
  [ ! -d "$mesa_root" ] || return 0
  # Offline, the attempt costs time at every start: once a day is enough.
  [ -z "$(find "$keep" -maxdepth 1 -name mesa.failed -mmin -1440)" ] || return 0
  say "unpacking Mesa 25 of bookworm-backports privately (20 MiB): ${mesa_packages[*]}"
  if unpack_mesa; then
    rm -f "$keep/mesa.failed"
  else
    : >"$keep/mesa.failed"
    say "no Mesa 25: going on with the system's Mesa, which imports nothing without a GPU (frames are copied)." \
      "Remove build/dev/mesa.failed to try again"
  fi
}
