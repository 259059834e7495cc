#!/bin/bash
# Builds the smallest program against an installed Daybook: by CMake, by pkg-config, and by
# pkg-config after the tree was moved.
#
#   use_test.sh TREE COMPILER
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
tree=$1 compiler=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CMAKE_CXX_COMPILER_LAUNCHER=''

# runs PROGRAM
runs() {
  local version said
  version=$("$tree/bin/daybook" version)
  said=$("$1")
  [[ $said == "$version: works" ]] || { echo "$1 says '$said', wanted '$version: works'"; exit 1; }
}

cp -r "$here/../../examples/consumer" "$work/sources"
cmake -G Ninja -S "$work/sources" -B "$work/build" -DCMAKE_PREFIX_PATH="$tree" \
  -DCMAKE_CXX_COMPILER="$compiler" >"$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/build"
runs "$work/build/consumer"

cp -r "$tree" "$work/moved"
PKG_CONFIG_PATH=$(dirname "$(find "$work/moved" -name daybook.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # words
"$compiler" -std=c++20 $(pkg-config --cflags daybook) "$work/sources/main.cpp" -o "$work/moved/main" \
  $(pkg-config --libs daybook)
LD_LIBRARY_PATH=$(dirname "$(dirname "$PKG_CONFIG_PATH")")/$(basename "$(dirname "$PKG_CONFIG_PATH")") \
  runs "$work/moved/main"
version=$(pkg-config --modversion daybook)
[[ $("$tree/bin/daybook" version) == "daybook $version" ]] || { echo "daybook.pc says $version"; exit 1; }
