# shellcheck shell=bash
# Building with CMake's presets.

presets=(release debug asan tsan clang)

# The same cache serves every clone: paths inside the project are hashed relative to it. Precompiled headers are used
# as they are, whenever their source is the same.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

# configure PRESET [CMAKE ARGUMENT...]
configure() {
  local preset=$1 log
  shift
  take_turn
  need "to build" "${to_build[@]}"
  case $preset in clang | asan | tsan | tidy) need "to build with clang" "${to_sanitize[@]}" ;; esac
  log=$(mktemp)
  cmake --preset "$preset" "$@" >"$log" 2>&1 || { cat "$log" >&2; die "cmake could not configure '$preset'"; }
  rm -f "$log"
}

# build_targets PRESET TARGET...: such as CMake knows, or all.
build_targets() {
  local preset=$1 first=
  shift
  local -a quiet=(-- --quiet)
  [ ! -t 2 ] || quiet=()
  [ -d "build/$preset" ] || first=', for the first time: some minutes'
  configure "$preset"
  say "building $preset$first"
  cmake --build --preset "$preset" --target "$@" "${quiet[@]}" >&2 || die "the $preset build failed"
}

build() {
  local preset=${1:-release}
  [ $# -le 1 ] || usage "build takes one preset"
  [[ " ${presets[*]} " == *" $preset "* ]] || usage "unknown preset '$preset'; there are: ${presets[*]}"
  build_targets "$preset" all
}
