#!/bin/bash
# What find_package(daybook) says: of components, of versions, and where the command is missing.
#
#   components_test.sh TREE VERSION
# shellcheck disable=SC2016 # CMake expands
set -euo pipefail
tree=$1 version=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0

# One build folder for all: what CMake finds out about the compiler is asked once.
# finds ARGUMENTS-OF-FIND-PACKAGE TREE [MORE-CMAKE]
finds() {
  mkdir -p "$work/sources"
  printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(finds LANGUAGES CXX)' \
    "find_package(daybook $1)" "${3:-}" >"$work/sources/CMakeLists.txt"
  cmake -G Ninja -S "$work/sources" -B "$work/build" -Ddaybook_ROOT="$2" -Udaybook_DIR \
    >"$work/log" 2>&1
}
# yes NAME ARGUMENTS TREE [MORE-CMAKE]
yes() { finds "${@:2}" || { echo "FAILED: $1"; cat "$work/log"; wrong=1; }; }
# no NAME WHAT-IT-SAYS ARGUMENTS TREE
no() {
  if finds "${@:3}"; then echo "FAILED: $1: it was found"; wrong=1; return; fi
  # CMake breaks its lines.
  if ! tr -s ' \n' ' ' <"$work/log" | grep -F -- "$2" >/dev/null; then
    echo "FAILED: $1: no '$2' in"; cat "$work/log"; wrong=1
  fi
}

minor=${version%.*}
yes "plain" "$minor REQUIRED" "$tree"
yes "engines and command" "$version REQUIRED COMPONENTS sqlite postgresql mariadb command" "$tree" \
  'get_target_property(file daybook::command LOCATION)
   execute_process(COMMAND ${file} version COMMAND_ERROR_IS_FATAL ANY)'
no "unknown component" "daybook has no component 'oracle'; there are sqlite, postgresql, mariadb, command" \
  "REQUIRED COMPONENTS sqlite oracle" "$tree"
yes "unknown, and optional" "REQUIRED OPTIONAL_COMPONENTS oracle" "$tree" \
  'if(daybook_oracle_FOUND OR NOT daybook_FOUND)
     message(FATAL_ERROR "oracle")
   endif()'
no "another version" "99.0" "99.0 REQUIRED" "$tree"
# As after `apt install libdaybook-dev` alone.
cp -r "$tree" "$work/without"
rm "$work/without/bin/daybook"
no "no command" "the command is not installed beside the library" "REQUIRED COMPONENTS command" \
  "$work/without"
yes "no command wanted" "REQUIRED COMPONENTS mariadb" "$work/without"
exit "$wrong"
