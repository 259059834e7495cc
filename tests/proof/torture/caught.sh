#!/bin/sh
# Runs a test with every rule in force, and then with one left out ($DAYBOOK_MUTANT): it must pass,
# and then fail and say so.
#   caught.sh PROGRAM FILTER WORDS
set -eu
program=$1 filter=$2 words=$3

if ! env -u DAYBOOK_MUTANT "$program" --gtest_filter="$filter" --gtest_brief=1; then
  echo "it fails with every rule in force" >&2
  exit 1
fi
said=$(mktemp)
trap 'rm -f "$said"' EXIT
if "$program" --gtest_filter="$filter" >"$said" 2>&1; then
  echo "not caught: it passes without the rule '$DAYBOOK_MUTANT'" >&2
  exit 1
fi
grep -q "$words" "$said" && exit
cat "$said"
echo "it fails, but not with '$words'" >&2
exit 1
