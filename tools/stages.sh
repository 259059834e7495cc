# Shared by ./check and ./prove: named stages with their times, and servers that are always
# stopped at the end. Source it; it changes to the project's folder.
# shellcheck shell=bash
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

servers_folder=''
failed_stages=()
left_out=()     # parts for which there was no time
stage_times=()
started_at=$SECONDS

# stage NAME COMMAND...: runs it, says how long it took, remembers a failure and goes on.
stage() {
  local name=$1 start=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  if "$@"; then
    printf '== %s: ok, %d s\n' "$name" $((SECONDS - start))
  else
    printf '== %s: FAILED, %d s\n' "$name" $((SECONDS - start))
    failed_stages+=("$name")
  fi
  stage_times+=("$(printf '%5d s  %s' $((SECONDS - start)) "$name")")
}

# must NAME COMMAND...: a stage without which the others make no sense.
must() {
  stage "$@"
  if [ ${#failed_stages[@]} -gt 0 ]; then finish; fi
}

stop_servers() {
  local folder
  [ -n "$servers_folder" ] || return 0
  for folder in "$servers_folder"/[0-9]*; do
    tests/servers/servers stop "$folder" >/dev/null 2>&1
  done
  rm -rf "$servers_folder"
  servers_folder=''
}
trap stop_servers EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Where a sync costs nothing, if there is room.
memory_or_disk() {
  local free
  free=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)
  if [ -w /dev/shm ] && [ "${free:-0}" -gt 6000000 ]; then echo /dev/shm; else echo /tmp; fi
}

# start_servers [--only SERVER]...: and their URLs in the environment.
start_servers() { start_server_sets 1 "$@"; }

# start_server_sets COUNT [--only SERVER]...: the environment has the URLs of the first one, and
# `resources` tells ctest of all of them (cmake/test_servers.cmake). Temporary files go beside them.
servers_in=/tmp
resources=()
start_server_sets() {
  local count=$1 number kind job jobs=() kinds=() ids
  shift
  servers_folder=$(mktemp -d "$servers_in/daybook-servers.XXXXXX") && chmod 755 "$servers_folder" &&
    mkdir -m 1777 "$servers_folder/tmp" || return 1
  for ((number = 1; number <= count; ++number)); do
    tests/servers/servers start "$servers_folder/$number" "$@" >/dev/null &
    jobs+=($!)
  done
  for job in "${jobs[@]}"; do wait "$job" || return 1; done
  for ((number = 1; number <= count; ++number)); do
    export "DAYBOOK_TEST_SET_$number=$servers_folder/$number/env"
  done
  ids=$(seq -s , -f '{"id":"%g","slots":1}' "$count")
  for kind in sqlite postgresql mariadb snapshot mysql; do kinds+=("\"$kind\":[$ids]"); done
  printf '{"version":{"major":1,"minor":0},"local":[{%s}]}\n' "$(IFS=, && echo "${kinds[*]}")" \
    >"$servers_folder/resources.json"
  resources=(--resource-spec-file "$servers_folder/resources.json")
  . "$servers_folder/1/env"
}

# build PRESET [TARGET...]
cmake_options=()
build() {
  local preset=$1 output=build/$1.log
  shift
  mkdir -p build
  local targets=()
  if [ $# -gt 0 ]; then targets=(--target "$@"); fi
  if ! { cmake --preset "$preset" "${cmake_options[@]}" && cmake --build --preset "$preset" "${targets[@]}"; } \
    >"$output" 2>&1; then
    grep -E 'error|FAILED|Error' -A 5 "$output" | head -40
    echo "the whole of it: $output"
    return 1
  fi
}

lint_sources() {
  find src command examples -name '*.cpp' ! -name '*_test.cpp' -print0 |
    xargs -0 -P 2 -n 4 clang-tidy -p build/dev --quiet \
      --extra-arg=-Wno-unknown-warning-option 2>/dev/null
}

# What reads text that a person or a file gives us; tests/fuzz.
fuzzers=(url statement token cron tzif)

# run_fuzzer NAME SECONDS: zone files start from the system's, of which the short ones fit.
run_fuzzer() {
  local name=$1 longest=300 seeds=()
  if [ "$name" = tzif ]; then
    longest=1000 seeds=(/usr/share/zoneinfo/Etc /usr/share/zoneinfo/Asia)
  fi
  mkdir -p "build/corpus/$name"
  "build/fuzz/tests/fuzz/fuzz_$name" -max_total_time="$2" -max_len="$longest" \
    -artifact_prefix=build/ "build/corpus/$name" "${seeds[@]}" >"build/fuzz_$name.log" 2>&1 || {
    tail -30 "build/fuzz_$name.log"
    return 1
  }
  echo "$name: $(grep -o 'Done [0-9]* runs' "build/fuzz_$name.log")"
}

finish() {
  stop_servers
  printf '\n'
  printf '%s\n' "${stage_times[@]}"
  if [ ${#left_out[@]} -gt 0 ]; then printf 'left out for time: %s\n' "${left_out[@]}"; fi
  printf '%d minutes %d seconds\n' $(((SECONDS - started_at) / 60)) $(((SECONDS - started_at) % 60))
  if [ ${#failed_stages[@]} -gt 0 ]; then
    printf 'failed: %s\n' "${failed_stages[@]}"
    exit 1
  fi
  echo 'all is well'
  exit 0
}
