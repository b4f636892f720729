# shellcheck shell=bash
# What all verbs of ./dev use: messages, packages, the turn, and how long parts take.

say() { printf 'dev: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
usage() { printf 'dev: %s\n' "$*" >&2; exit 2; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; return; fi
  command -v sudo >/dev/null || die "this needs root, and there is no sudo: run ./dev as root once"
  sudo "$@"
}

# Those of the packages that are not installed.
missing_of() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
  done
}

# need WHY PACKAGE...: installs those that are missing.
need() {
  local why=$1 log
  local -a missing
  shift
  mapfile -t missing < <(missing_of "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || die "$why needs these Debian 12 packages or their like: ${missing[*]}"
  say "installing ${missing[*]} ($why)"
  log=$(mktemp)
  if ! { as_root apt-get -o DPkg::Lock::Timeout=300 update -qq &&
         as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq \
           --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    die "apt-get could not install them; its last words are above"
  fi
  rm -f "$log"
}

# Debian starts a service with its package, on ports that somebody else may want: not where we install it. One that
# was there before is left alone.
need_brokers() {
  local -a missing
  mapfile -t missing < <(missing_of "${to_test_brokers[@]}")
  [ ${#missing[@]} -gt 0 ] || return 0
  need "to test brokers" "${missing[@]}"
  if [ -d /run/systemd/system ]; then as_root systemctl disable --now "${missing[@]}" >/dev/null 2>&1 || true; fi
}

# Two builds of one tree would write the same files. So a ./dev that builds locks build/ until it ends; what it builds
# in the background, it builds one preset after the other.
has_turn=no
take_turn() {
  [ "$has_turn" = no ] || return 0
  has_turn=yes
  mkdir -p build
  exec 9>build/.lock
  flock -n 9 || { say "another ./dev works here; waiting for it"; flock 9; }
}

# --- how long what took ---

times=build/times
begin_times() { rm -rf "$times" && mkdir -p "$times" && : >"$times/parts" && began=$EPOCHREALTIME; }

# note_time NAME BEGAN: a part that began at a moment of EPOCHREALTIME, and ends now.
note_time() {
  [ -e "$times/parts" ] || return 0
  awk -v began="$2" -v now="$EPOCHREALTIME" -v name="$1" 'BEGIN { printf "%.1f\t%s\n", now - began, name }' >>"$times/parts"
}

# timed NAME COMMAND...: what the command runs must end by `die` where it fails; `set -e` does not reach into it.
timed() {
  local name=$1 part_began=$EPOCHREALTIME status=0
  shift
  "$@" || status=$?
  note_time "$name" "$part_began"
  return "$status"
}

show_times() {
  note_time "all of it" "$began"
  say "where the time went"
  python3 tools/times.py "$times" >&2
}
