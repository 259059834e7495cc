#!/bin/sh
# Lets queues live over a library that leaves out a rule ($DAYBOOK_MUTANT): with every rule in force
# that must go well, and then not, and say so.
#   caught.sh PROGRAM WORDS
set -eu
program=$1 words=$2

if ! env -u DAYBOOK_MUTANT "$program" --operations 200; then
  echo "it fails with every rule in force" >&2
  exit 1
fi
said=$(mktemp)
trap 'rm -f "$said"' EXIT
if "$program" --operations 5000 --shrink no >"$said" 2>&1; then
  echo "not caught: it passes without the rule '$DAYBOOK_MUTANT'" >&2
  exit 1
fi
grep -q "$words" "$said" && exit
cat "$said"
echo "it fails, but not with '$words'" >&2
exit 1
