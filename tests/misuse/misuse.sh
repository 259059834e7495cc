#!/bin/bash
# misuse.sh COMPILER INCLUDE_FOLDER CASES_FOLDER
# A case is a .cpp file whose first line is "// complains: REGEX" or "// compiles". The second may
# be "// errors: N": so many are all that the compiler has to say.
set -u
compiler=$1 include=$2 cases=$3
passed=0 failed=0
for file in "$cases"/*.cpp; do
  first=$(head -1 "$file")
  output=$("$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Werror=unused-result -I"$include" \
    "$file" 2>&1)
  status=$?
  case $first in
    "// compiles") [ $status -eq 0 ] ;;
    "// complains: "*) [ $status -ne 0 ] && grep -Eq "${first#// complains: }" <<<"$output" ;;
    *) false ;;
  esac
  right=$?
  errors=$(sed -n '2s|^// errors: \([0-9]*\)$|\1|p' "$file")
  if [ $right -eq 0 ] && [ "${errors:-any}" != any ]; then
    [ "$(grep -c 'error:' <<<"$output")" -eq "$errors" ]
    right=$?
  fi
  if [ $right -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED ${file##*/}: wanted '$first', the compiler ended with $status and said"
    head -5 <<<"$output"
  fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
