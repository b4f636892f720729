# shellcheck shell=bash
# ./dev test: everything, what a change can have touched, or what a filter names.

# The thread sanitizer cannot start under the random addresses that newer kernels choose.
fixed_addresses() { if setarch -R true 2>/dev/null; then setarch -R "$@"; else "$@"; fi; }

# What the sanitizers look at, as labels of ctest and as targets. --full replaces it.
declare -A sanitized=([asan]='^unit' [tsan]='^unit-threaded$')
declare -A sanitized_targets=([asan]=unit_tests [tsan]=threaded_tests)

# What the short form leaves out: tests that measure need a machine which does nothing else.
left_out=(-LE '^measured$')

# Properties: the same cases every time in the short form, so that red means changed; new and more ones in the full
# form. A failure prints how to reproduce it.
choose_form() {
  form=$1
  if [ "$form" = full ]; then
    left_out=()
    export RC_PARAMS=max_success=2000 RECOURSE_TEST_FULL=1
    sanitized=([asan]='^(unit|contract|server)' [tsan]='^(unit|contract|server)')
    sanitized_targets=([asan]=all_tests [tsan]=all_tests)
  else
    export RC_PARAMS='seed=1 max_success=200'
    keep_servers_in_memory
  fi
}

# run_tests PRESET [CTEST ARGUMENT...]: lists what failed and the sum. Of a program with hundreds of cases only
# those that failed are printed: a log that is cut short still shows them.
run_tests() {
  local preset=$1 at_once=$((6 * $(nproc)))
  shift
  # The servers have connections for so many.
  [ "$at_once" -le 16 ] || at_once=16
  local -a runner=(ctest)
  [ "$preset" != tsan ] || runner=(fixed_addresses ctest)
  # Tests of servers wait most of their time, for a lease, a retry or a broker; those under a sanitizer work.
  [ "$preset" = release ] || at_once=$(nproc)
  say "testing $preset"
  mkdir -p "$times"
  GTEST_BRIEF=1 "${runner[@]}" --preset "$preset" -j "$at_once" --output-junit "$PWD/$times/$preset.xml" "$@" |
    { grep -vE '^ +Start |  Passed  |^Test project|^Label Time|sec\*proc|^$' || true; }
}

# note_labels PRESET [CTEST ARGUMENT...]: for tools/times.py, which wants to know the groups.
note_labels() {
  local preset=$1
  shift
  ctest --preset "$preset" --show-only=json-v1 "$@" >"$times/$preset.json"
}

# has_tests CTEST ARGUMENT...
has_tests() { ! ctest --preset release -N "${left_out[@]}" "$@" | grep '^Total Tests: 0$' >/dev/null; }

# test_some CTEST ARGUMENT...: those of the release tests, with the servers that they need.
test_some() {
  local status=0
  if has_tests "$@" -L '^(contract|server|measured)$' -LE '^broker$'; then timed "servers" start_databases; fi
  if has_tests "$@" -L '^broker$'; then timed "brokers" start_brokers; fi
  if has_tests "$@" -L '^of-notify_webhook_test$'; then install_standardwebhooks; fi
  use_servers
  note_labels release
  timed "test release" run_tests release "${left_out[@]}" "$@" || status=$?
  show_times
  return "$status"
}

# test_cases NAME: of the programs that need servers, those cases whose names have it in them.
test_cases() {
  local program
  local -a programs=()
  for program in build/release/tests/*_test; do
    if "$program" --gtest_list_tests --gtest_filter="*$1*" | grep '^  ' >/dev/null; then programs+=("$program"); fi
  done
  [ ${#programs[@]} -gt 0 ] ||
    die "neither a test nor a case of one matches '$1' (capitals matter); ctest --preset release -N lists the tests"
  start_databases
  if [[ " ${programs[*]} " == *message_broker* ]]; then start_brokers; fi
  use_servers
  for program in "${programs[@]}"; do
    say "testing the cases *$1* of $(basename "$program")"
    "$program" --gtest_filter="*$1*" || die "red: $(basename "$program")"
  done
}

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
  note_labels release
  timed "test release" run_tests release -LE '^measured$' || red+=(release)
  for preset in asan tsan; do
    timed "waiting for the $preset build" wait_for_build "$preset" "$built" || { red+=("$preset (not built)"); continue; }
    note_labels "$preset" -L "${sanitized[$preset]}"
    timed "test $preset" run_tests "$preset" -L "${sanitized[$preset]}" || red+=("$preset")
  done
  if [ "$form" = full ]; then
    note_labels release -L '^measured$'
    timed "measure" run_tests release -L '^measured$' || red+=(measured)
  fi
  show_times
  [ ${#red[@]} -eq 0 ] || die "red: ${red[*]}; what failed is told above"
}

# --- what a change can have touched ---

# Since the branch left its upstream, or where it has none since the last commit, with what is not committed yet.
changed_files() {
  local base
  base=$(git merge-base HEAD '@{upstream}' 2>/dev/null) || base=HEAD
  { git diff --name-only "$base"; git ls-files --others --exclude-standard; } | sort -u
}

test_changed() {
  local -a choice targets
  local files answer
  files=$(changed_files)
  [ -n "$files" ] || { say "nothing has changed"; return; }
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
  test_some -L "${choice[1]}"
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
  [ -z "$filter" ] || has_tests -R "$filter" ||
    die "no test matches '$filter' (capitals matter); ctest --preset release -N lists them all"
  if [ -z "$filter" ]; then
    for preset in asan tsan; do build_targets "$preset" "${sanitized_targets[$preset]}"; done
  fi
  prepare
  use_servers
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
      selection+=("${left_out[@]}")
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
  run_tests "$preset" "$@" >"$output" || result="FAILED $(sed -n '/(Skipped)/d; s/^[\t ]*[0-9]* - \([^ ]*\) (.*/\1/p' "$output" | sort -u | xargs)"
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
  [ "$changed" = no ] || [ -z "$filter$runs" ] || usage "--changed chooses the tests itself; leave out the rest"
  choose_form "$form"
  begin_times
  if [ "$changed" = yes ]; then test_changed; return; fi
  if [ -n "$runs" ]; then test_repeatedly "$runs" "$filter"; return; fi
  if [ -z "$filter" ]; then test_everything; return; fi
  timed "build release" build_targets release all_tests
  if has_tests -R "$filter"; then test_some -R "$filter"; else timed "test cases" test_cases "$filter"; show_times; fi
}
