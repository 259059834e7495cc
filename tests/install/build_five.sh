#!/bin/bash
# Builds the five examples against an installed Daybook, from a copy outside the sources.
#
#   build_five.sh TREE FOLDER [CMAKE-OPTION...]
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
tree=$1 folder=$2
shift 2
rm -rf "$folder"
mkdir -p "$folder"
cp -r "$here/../../examples/five" "$folder/sources"
cmake -G Ninja -S "$folder/sources" -B "$folder" -DCMAKE_PREFIX_PATH="$tree" "$@"
# Found there, and nowhere else.
grep -q "^daybook_DIR:PATH=$(readlink -f "$tree")/" "$folder/CMakeCache.txt"
cmake --build "$folder" -j 2
