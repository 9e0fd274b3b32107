# SPDX-License-Identifier: LGPL-2.1-or-later
# meson and ninja. ninja decides what is old; that costs 0.1 s when nothing is.

# Where `$1` was configured from; a build folder remembers absolute paths, so a moved one is useless.
configured_source() {
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["directories"]["source"])' \
    "$1/meson-info/meson-info.json" 2>/dev/null || true
}

# build TARGET FOLDER [MESON OPTION...]
build() {
  local target=$1 folder=$2
  shift 2
  if [ "${CI:-}" = true ]; then set -- "$@" --werror; fi
  # A full or read-only home must not stop the compiler.
  if ! mkdir -p "${CCACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/ccache}" 2>/dev/null; then
    export CCACHE_DISABLE=1
  fi
  if [ "$(configured_source "$folder")" != "$root" ] || [ ! -e "$folder/build.ninja" ]; then
    [ ! -d "$folder/meson-info" ] || say "$folder was configured elsewhere or not to the end: again"
    # Everything but what ./dev keeps there.
    mkdir -p "$folder"
    find "$folder" -mindepth 1 -maxdepth 1 ! -path "$keep" -exec rm -rf {} +
    say "configuring $folder (log: $folder/meson-logs/meson-log.txt)"
    meson setup "$folder" "$root" "$@" </dev/null >&2 {setup_lock}>&- || die "meson setup failed"
  elif [ "${CI:-}" = true ] && ! grep -qs -- -Werror "$folder/build.ninja"; then
    meson configure "$folder" -Dwerror=true >&2 || die "meson configure failed"
  fi
  local output
  if ! output=$(ninja -C "$folder" -n "$target" 2>&1 </dev/null) || [[ $output != *"no work to do"* ]]; then
    say "building in $folder"
    ninja -C "$folder" "$target" </dev/null >&2 {setup_lock}>&- || die "the build failed"
  fi
}
