# Shared by ./check: tests that failed though nothing is wrong, as a wait does that is too short when
# the machine stands still, are told from those that show a fault. Source it after tools/stages.sh.
# shellcheck shell=bash

# In a log of ctest each test's output stands by itself, from "Testing: NAME" to "Test time".

# failed_cases LOG TEST: what failed in it, a program of GoogleTest.
failed_cases() {
  sed -n "/ Testing: ${2//./\\.}\$/,/^Test time/p" "$1" |
    sed -n 's/^\[  FAILED  \] \([^ ,]*\.[^ ,]*\).*/\1/p' | sort -u
}

# shows_a_fault LOG: whether one of the failed tests shows a promise that is broken, or a sanitizer
# had something to say: the machine's speed is no excuse for these.
shows_a_fault() {
  awk '/ Testing: / { promise = $NF ~ /^(cron_|model|queue_|story|torture)/; sanitizer = 0 }
    /violations 0 \// { promise = 0 }
    /Sanitizer|runtime error:/ { sanitizer = 1 }
    /^Test Failed\./ && (promise || sanitizer) { found = 1 }
    END { exit !found }' "$1"
}

# may_be_chance OUTPUT LOG: no more than three tests failed, none by a crash, none that shows a fault,
# none of those that end everything in a bounded time by having no end.
may_be_chance() {
  local failed
  failed=$(sed -n '/^The following tests FAILED:/,$s/^\t *[0-9]* - //p' "$1")
  [ -n "$failed" ] && [ "$(wc -l <<<"$failed")" -le 3 ] || return 1
  if grep -vE ' \((Failed|Timeout)\)' <<<"$failed"; then return 1; fi
  if grep -E '^(conformance|faults)\..*Timeout' <<<"$failed"; then return 1; fi
  ! shows_a_fault "$2"
}

# case_by_case FOLDER TEST: of PROGRAM.ENGINE the cases that failed, three at most, ten times each and
# by themselves: what fails for a reason of its own does so again.
case_by_case() {
  local program=${2%.*} engine=${2##*.} cases
  mapfile -t cases < <(failed_cases "$1/before.log" "$2")
  [ ${#cases[@]} -gt 0 ] && [ ${#cases[@]} -le 3 ] || return 1
  printf 'ten times %s\n' "${cases[@]}"
  DAYBOOK_TEST_ENGINES=$engine timeout 900 "$1/tests/$program/$program" --gtest_brief=1 \
    --gtest_repeat=10 --gtest_filter="$(IFS=: && echo "${cases[*]}")" >"$1/again.log" 2>&1 && return
  tail -60 "$1/again.log"
  return 1
}

# once_more FOLDER TEST...: whether all of them pass now. What ctest printed of them before is in
# FOLDER/before.log.
once_more() {
  local folder=$1 test others=()
  shift
  for test in "$@"; do
    case $test in
      conformance.* | faults.*) case_by_case "$folder" "$test" || return 1 ;;
      *) others+=("${test//./\\.}") ;;
    esac
  done
  [ ${#others[@]} -eq 0 ] || ctest --test-dir "$folder" --output-on-failure --no-tests=error \
    -R "^($(IFS='|' && echo "${others[*]}"))\$"
}
