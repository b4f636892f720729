# shellcheck shell=bash
# ./dev test: everything, what a change can have touched, or what a filter names.

# The thread sanitizer cannot start under the random addresses that newer kernels choose.
fixed_addresses() { if setarch -R true 2>/dev/null; then setarch -R "$@"; else "$@"; fi; }

# What the sanitizers look at, as labels of ctest and as targets. --full replaces it.
declare -A sanitized=([asan]='^unit' [tsan]='^unit-threaded$')
declare -A sanitized_targets=([asan]=unit_tests [tsan]=threaded_tests)

# What the short form leaves out: tests that measure need a machine which does nothing else. One expression, because
# ctest leaves out only what matches all of several.
left_out='^measured$'

# Properties: the same cases every time in the short form, so that red means changed; new and more ones in the full
# form. A failure prints the RC_PARAMS that reproduce it, which one may set.
choose_form() {
  form=$1
  if [ "$form" = full ]; then
    left_out='^$'
    export RC_PARAMS=${RC_PARAMS:-max_success=2000} RECOURSE_TEST_FULL=1
    sanitized=([asan]='^(unit|contract|program|server)' [tsan]='^(unit|contract|program|server)')
    sanitized_targets=([asan]=all_tests [tsan]=all_tests)
  else
    export RC_PARAMS=${RC_PARAMS:-seed=1 max_success=200}
    keep_servers_in_memory
  fi
}

# run_tests PART PRESET [CTEST ARGUMENT...]: lists what failed and the sum; the times are kept under the part's name.
# Of a program with hundreds of cases only those that failed are printed: a log that is cut short still shows them.
run_tests() {
  local part=$1 preset=$2 at_once=$((6 * $(nproc)))
  shift 2
  # The servers have connections for so many.
  [ "$at_once" -le 16 ] || at_once=16
  local -a runner=(ctest)
  [ "$preset" != tsan ] || runner=(fixed_addresses ctest)
  # Tests of servers wait most of their time, for a lease, a retry or a broker; those under a sanitizer work.
  [ "$preset" = release ] || at_once=$(nproc)
  say "testing $part"
  mkdir -p "$times"
  ctest --preset "$preset" --show-only=json-v1 "$@" >"$times/$part.json"
  GTEST_BRIEF=1 "${runner[@]}" --preset "$preset" -j "$at_once" --output-junit "$PWD/$times/$part.xml" "$@" |
    { grep -vE '^ +Start |  Passed  |^Test project|^Label Time|sec\*proc|^$' || true; }
}

# has_tests CTEST ARGUMENT...
has_tests() { ! ctest --preset release -N "$@" | grep '^Total Tests: 0$' >/dev/null; }

# start_servers_for CTEST ARGUMENT...: those that the release tests so chosen need.
start_servers_for() {
  need "to test" "${to_test[@]}"
  if has_tests "$@" -LE "$left_out|^broker$" -L '^(contract|server|measured)$'; then timed "servers" start_databases; fi
  if has_tests "$@" -LE "$left_out" -L '^broker$'; then timed "brokers" start_brokers; fi
  if has_tests "$@" -LE "$left_out" -L '^of-notify_webhook_test$'; then install_standardwebhooks; fi
  use_servers
}

# test_some CTEST ARGUMENT...: those of the release tests.
test_some() {
  start_servers_for "$@"
  timed "test release" run_tests release release -LE "$left_out" "$@"
}

# cases_of PROGRAM FILTER: those cases of a GoogleTest program, as its --gtest_filter takes them.
cases_of() {
  "$1" --gtest_list_tests | awk '/^[^ ]/ { suite = $1 } /^  / { print suite $1 }' | { grep -E -- "$2" || true; } | paste -sd:
}

# test_cases PROGRAM CASES: in the full form they measure, because they run alone.
test_cases() {
  start_databases
  if [[ $1 == *message_broker* ]]; then start_brokers; fi
  use_servers
  say "testing cases of $(basename "$1")"
  RECOURSE_TEST_MEASURE=${RECOURSE_TEST_FULL:-} "$1" --gtest_brief=0 --gtest_filter="$2"
}

# test_named FILTER: the tests of those names, and the cases of those names in programs of which ctest knows only
# parts, because they are spread over several tests.
test_named() {
  local program cases found=no
  local -a red=()
  if has_tests -LE "$left_out" -R "$1"; then
    found=yes
    test_some -R "$1" || red+=("$1")
  fi
  for program in build/release/tests/*_server_test build/release/tests/store_contract_test; do
    cases=$(cases_of "$program" "$1")
    [ -n "$cases" ] || continue
    found=yes
    timed "test cases of $(basename "$program")" test_cases "$program" "$cases" || red+=("$(basename "$program")")
  done
  if [ "$found" = no ] && has_tests -R "$1"; then die "'$1' measures: run it with --full"; fi
  [ "$found" = yes ] || die "neither a test nor a case of one matches '$1' (capitals matter); $how_tests_are_listed"
  show_times
  [ ${#red[@]} -eq 0 ] || die "red: ${red[*]}; what failed is told above"
}
how_tests_are_listed='ctest --preset release -N lists the tests, build/release/tests/NAME --gtest_list_tests their cases'

# --- everything ---

# Beside the release build, which only computes: what the tests need is installed and started.
prepare() {
  need "to test and to build with clang" "${to_test[@]}" "${to_sanitize[@]}"
  start_databases
  start_brokers
  install_standardwebhooks
}

# Beside the release tests, which mostly wait: it has what they leave of the processor, and no more.
build_sanitized() {
  local preset
  chrt --idle --pid 0 "$BASHPID"
  for preset in asan tsan; do
    if timed "build $preset (beside the tests)" build_targets "$preset" "${sanitized_targets[$preset]}"; then
      touch "$times/built.$preset"
    else
      return 1
    fi
  done
}

# wait_for_build PRESET JOB: false where it failed.
wait_for_build() {
  until [ -e "$times/built.$1" ]; do
    kill -0 "$2" 2>/dev/null || { [ -e "$times/built.$1" ]; return; }
    sleep 0.2
  done
}

test_everything() {
  local preset prepared built everything=all_tests
  local -a red=()
  timed "packages to build with" need "to build" "${to_build[@]}"
  make_servers_folder
  timed "packages to test with, and servers (beside the build)" prepare & prepared=$!
  # Benchmarks are nobody's test; the full form compiles them all the same.
  if [ "$form" = full ]; then everything=all; fi
  timed "build release" build_targets release "$everything"
  timed "waiting for packages and servers" wait "$prepared" || die "the tests have no servers; why is told above"
  use_servers
  build_sanitized & built=$!
  timed "test release" run_tests release release -LE '^measured$' || red+=(release)
  for preset in asan tsan; do
    timed "waiting for the $preset build" wait_for_build "$preset" "$built" || { red+=("$preset (not built)"); continue; }
    timed "test $preset" run_tests "$preset" "$preset" -L "${sanitized[$preset]}" || red+=("$preset")
  done
  if [ "$form" = full ]; then
    timed "measure" run_tests measured release -L '^measured$' || red+=(measured)
  fi
  show_times
  [ ${#red[@]} -eq 0 ] || die "red: ${red[*]}; what failed is told above"
}

# --- what a change can have touched ---

# Where the branch left the main one or its upstream; HEAD where there is neither.
base_of_change() { git merge-base HEAD origin/HEAD 2>/dev/null || git merge-base HEAD '@{upstream}' 2>/dev/null || echo HEAD; }
changed_files() { { git diff --name-only "$(base_of_change)"; git ls-files --others --exclude-standard; } | sort -u; }

test_changed() {
  local -a choice targets
  local files answer status=0
  files=$(changed_files)
  [ -n "$files" ] || { say "nothing differs from $(git log -1 --format='%h (%s)' "$(base_of_change)")"; return; }
  say "changed: $(wc -l <<<"$files") files"
  timed "configure" configure release
  answer=$(python3 tools/changed.py build/release/tests.map <<<"$files") || die "the tests cannot be chosen; why is told above"
  mapfile -t choice <<<"$answer"
  if [[ ${choice[0]} == "all "* ]]; then
    say "running everything because of ${choice[0]#all }"
    test_everything
    return
  fi
  [ -n "${choice[1]:-}" ] || { say "no test has to do with it"; return; }
  read -ra targets <<<"${choice[0]}"
  if [ ${#targets[@]} -gt 0 ]; then timed "build release" build_targets release "${targets[@]}"; fi
  test_some -L "${choice[1]}" || status=$?
  show_times
  return "$status"
}

# --- again and again ---

# What is repeated: the commit, and what differs from it.
state_of_tree() {
  { git rev-parse HEAD; git diff HEAD; git ls-files --others --exclude-standard -z | xargs -0r sha256sum
    printf '%s\n' "$*"; } | sha256sum | cut -c1-16
}

# test_repeatedly TIMES [FILTER]: built once; each part of each run is a line of the log, which is the proof. A
# repetition that was broken off goes on behind the last line, one that was finished begins anew.
test_repeatedly() {
  local runs=$1 filter=${2:-} folder=build/repeat log=build/repeat/log state preset run
  local -a parts=(release asan tsan) selection
  [ -z "$filter" ] || parts=(release)
  state=$(state_of_tree "$runs" "$filter" "${RECOURSE_TEST_FULL:-}")
  make_servers_folder
  build_targets release all_tests
  if [ -z "$filter" ]; then
    for preset in asan tsan; do build_targets "$preset" "${sanitized_targets[$preset]}"; done
  elif ! has_tests -LE "$left_out" -R "$filter"; then
    die "no test matches '$filter': --repeat takes names that ctest knows; $how_tests_are_listed"
  fi
  start_servers_for -R "${filter:-.}"
  if [ "$(head -n 1 "$log" 2>/dev/null)" != "state $state" ] || grep -q '^finished' "$log"; then
    rm -rf "$folder"
    mkdir -p "$folder"
    printf 'state %s\n' "$state" >"$log"
  fi
  for ((run = 1; run <= runs; ++run)); do
    for preset in "${parts[@]}"; do
      if grep -q "^run $run $preset: " "$log"; then continue; fi
      selection=(-L "${sanitized[$preset]:-.}")
      [ -z "$filter" ] || selection=(-R "$filter")
      selection+=(-LE "$left_out")
      say "run $run of $runs"
      repeat_part "$run" "$preset" "$folder/$run-$preset.txt" "${selection[@]}" >>"$log"
      tail -n 1 "$log" >&2
    done
  done
  printf 'finished\n' >>"$log"
  say "$log:"
  cat "$log" >&2
  ! grep -q FAILED "$log" || die "not every run was green; what failed printed is in $folder"
}

# repeat_part RUN PRESET OUTPUT CTEST ARGUMENT...: one line for the log.
repeat_part() {
  local run=$1 preset=$2 output=$3 began_at=$EPOCHSECONDS result=passed
  shift 3
  run_tests "$preset" "$preset" "$@" >"$output" || result="FAILED $(sed -n '/(Skipped)/d; s/^[\t ]*[0-9]* - \([^ ]*\) (.*/\1/p' "$output" | sort -u | xargs)"
  printf 'run %s %s: %s, %s, %s s, load %s\n' "$run" "$preset" "$result" \
    "$(sed -n 's/.*tests passed, \(.*\) out of \(.*\)/\1 of \2 tests/p' "$output")" \
    "$((EPOCHSECONDS - began_at))" "$(cut -d' ' -f1 /proc/loadavg)"
}

run_test() {
  local form=short filter='' changed=no runs=
  while [ $# -gt 0 ]; do
    case $1 in
      --full) form=full ;;
      --changed) changed=yes ;;
      --repeat) [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage "--repeat needs how often, such as --repeat 10"; runs=$2; shift ;;
      -*) usage "test knows --full, --changed, --repeat N and a filter, not '$1'" ;;
      '') usage "the filter is empty; leave it out to run everything" ;;
      *) [ -z "$filter" ] || usage "test takes one filter; '$filter|$1' would match both"
         filter=$1 ;;
    esac
    shift
  done
  [ "$changed" = no ] || [ -z "$filter$runs" ] || usage "--changed chooses the tests itself: it takes no filter and no --repeat"
  take_turn
  choose_form "$form"
  begin_times
  if [ "$changed" = yes ]; then test_changed; return; fi
  if [ -n "$runs" ]; then test_repeatedly "$runs" "$filter"; return; fi
  if [ -z "$filter" ]; then test_everything; return; fi
  timed "build release" build_targets release all_tests
  test_named "$filter"
}
