# shellcheck shell=bash
# ./dev check and ./dev format: what no compiler and no test looks at.

# Only what is still there: git also lists what was deleted and not committed yet.
existing() { local file; while IFS= read -r file; do if [ -f "$file" ]; then printf '%s\n' "$file"; fi; done; }
cpp_files() { git ls-files --cached --others --exclude-standard -- '*.cc' '*.h' | existing; }

# Since the branch left its upstream; where it has none, or is it, since three hours before the
# last commit: what is older was looked at by the run that let it in.
changed_cpp_files() {
  local base
  base=$(git merge-base HEAD '@{upstream}' 2>/dev/null) || base=
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then
    base=$(git rev-list -1 --before="$(git log -1 --format=%ct | xargs -I{} expr {} - 10800)" HEAD)
  fi
  if [ -z "$base" ] || ! git diff --quiet "$base" -- .clang-tidy; then cpp_files; return; fi
  { git diff --name-only --diff-filter=d "$base" -- '*.cc' '*.h'
    git ls-files --others --exclude-standard -- '*.cc' '*.h'; } | sort -u | existing
}

# reader_of FILE: a source through which it is looked at: itself, its own source, or one that includes it, be it
# through another header. Nothing where nobody reads it.
reader_of() {
  local file=$1 name includers
  case $file in *.cc) printf '%s\n' "$file"; return ;; esac
  if [ -f "${file%.h}.cc" ]; then printf '%s\n' "${file%.h}.cc"; return; fi
  name=${file#src/}
  # Sources before headers, of which none includes itself in a circle.
  includers=$(git grep -lF "#include \"${name#include/}\"" -- '*.cc' '*.h' | sort -t. -k2) || return 0
  reader_of "${includers%%$'\n'*}"
}

tidied_sources() {
  local file
  while IFS= read -r file; do reader_of "$file"; done | sort -u
}

# lots_of LIST BUILD: what to read for the sources of a list: the lots they stand in, and those that stand in none.
lots_of() {
  local source
  local -a lots
  while IFS= read -r source; do
    mapfile -t lots < <(grep -rlF --include='*_lot_*.cc' "\"$source\"" "$2")
    if [ ${#lots[@]} -gt 0 ]; then printf '%s\n' "${lots[@]}"; else printf '%s\n' "$source"; fi
  done <"$1" | sort -u
}

# clang_tidy_on LIST BUILD: what was found clean is remembered by its content, and not read again.
clang_tidy_on() {
  lots_of "$1" "build/$2" | xargs -r -P "$(nproc)" -n 1 python3 tools/tidy_cached.py "build/$2" ||
    die "clang-tidy found something; it is above"
}

check() {
  local list=changed_cpp_files build=tidy
  case $* in
    '') ;;
    --all) list=cpp_files build=clang ;;
    *) usage "check knows --all, not '$*'" ;;
  esac
  take_turn
  begin_times
  trap show_times EXIT
  timed "packages" need "to check" "${to_check[@]}" "${to_build[@]}"
  say "format"
  cpp_files | xargs clang-format-16 --dry-run -Werror || die "not in shape: ./dev format mends it"
  say "shellcheck"
  shellcheck -x -a dev
  shellcheck .ci/run tools/servers sim/find_planted_bugs deploy/debian/postinst deploy/debian/prerm
  # clang-tidy reports clang's own warnings, lock analysis included, of all it looks at.
  if [ "$build" = clang ]; then timed "build clang" build clang; else timed "configure" configure tidy; fi
  say "clang-tidy"
  "$list" | tidied_sources >build/tidy.list
  timed "clang-tidy" clang_tidy_on build/tidy.list "$build"
  timed "tidy" python3 tools/tidy.py
}

format() {
  [ $# = 0 ] || usage "format takes no argument"
  need "to format" clang-format-16
  cpp_files | xargs -r clang-format-16 -i
}
