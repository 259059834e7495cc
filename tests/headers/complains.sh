#!/bin/bash
# Makes public headers with one fault each, and checks that headers.sh names it.
#
#   complains.sh COMPILER
set -euo pipefail
compiler=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/daybook"

# must_say WANTED
must_say() {
  local said
  if said=$("$(dirname "$0")/headers.sh" "$compiler" "$folder" 2>&1); then
    echo "headers.sh found nothing wrong; wanted: $1"
    exit 1
  fi
  grep -qE "$1" <<<"$said" || { echo "headers.sh did not say: $1"; exit 1; }
}

printf '%s\n' '#pragma once' '#include <cstdint>' >"$folder/daybook/daybook.hpp"
"$(dirname "$0")/headers.sh" "$compiler" "$folder"
printf '%s\n' '#pragma once' 'std::uint8_t not_known();' >"$folder/daybook/alone.hpp"
must_say '^daybook/alone.hpp does not compile alone'
rm "$folder/daybook/alone.hpp"
printf '%s\n' '#pragma once' '#include <regex>' >"$folder/daybook/daybook.hpp"
must_say 'daybook.hpp includes.*/regex'
