#!/bin/sh
# Builds a small house with one of each fault, and checks that tidy names every one.
set -eu
tidy=$1
house=$(mktemp -d)
trap 'rm -rf "$house"' EXIT
mkdir -p "$house/include" "$house/src/db" "$house/src/core" "$house/command" "$house/examples" \
  "$house/tests" "$house/benchmarks" "$house/src/core/tx" "$house/src/calendar" \
  "$house/brokers"
echo 'using namespace std;' >"$house/include/a.hpp"
echo '#include "core/run.hpp"' >"$house/src/db/upwards.cpp"
echo '#include "core/run/run.hpp"' >"$house/src/core/tx/above.cpp"
printf 'namespace queues {\nclass store;\n}\n' >"$house/src/core/tx/declared.cpp"
for n in $(seq 26); do echo >"$house/src/calendar/n$n.cpp"; done
echo '#include <sqlite3.h>' >"$house/src/core/driver.cpp"
echo '#include "core/run.hpp"' >"$house/command/inside.cpp"
{
  echo 'void long_one() {'
  yes '  ;' | head -80
  echo '}'
} >"$house/src/core/long.cpp"
cat >"$house/src/core/names.hpp" <<'EOT'
void add(key const& of, int count);
void walk(timestamp from, timestamp to);
// a task of, or with, a queue
EOT
printf '%0.s-' $(seq 120) >"$house/src/core/wide.cpp"
yes '//' | head -600 >"$house/src/core/many.cpp"
printed=$("$tidy" "$house" || true)
for wanted in "'using namespace' in a header" "no '#pragma once'" "floors point downwards" \
  "core/tx may not include core/run/run.hpp" \
  "core/tx may not declare names of queue" "src/calendar:26: a folder with more than 25" \
  "only src/drivers, tests and examples may see sqlite3.h" "command sees the public headers only" \
  "a function of more than 70 lines" "over 100 columns" "longer than 500 lines" \
  "src/core/names.hpp:1: a parameter called 'of'"; do
  case $printed in
    *"$wanted"*) ;;
    *) echo "tidy did not say: $wanted"; exit 1 ;;
  esac
done
case $printed in
  *names.hpp:[23]:*) echo "tidy refuses the ends of a range, or a comment"; exit 1 ;;
esac
echo "tidy named every fault"
