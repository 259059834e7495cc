#!/bin/bash
# What the shared library shows to the linker: its public names, and no room of its inside.
#
#   symbols_test.sh LIBRARY SOVERSION
set -euo pipefail
library=$1
wrong=0
complain() { echo "FAILED: $*"; wrong=1; }

soname=$(objdump -p "$library" | awk '$1 == "SONAME" { print $2 }')
[[ $soname == "libdaybook.so.$2" ]] || complain "SONAME is $soname"

names=$(nm -DC --defined-only "$library" | cut -d' ' -f3-)
for name in 'book::migrate()' 'run::~run()' 'queue::counts(daybook::v1::counting) const' 'node::drain()'; do
  grep -qF "daybook::v1::$name" <<<"$names" || complain "not there: $name"
done
# Templates of the standard library are shared by all that use them; all else is ours, in v1.
others=$(grep -v 'daybook::v1::' <<<"$names" | grep -Ev 'std::|__gnu_cxx::' || true)
[[ -z $others ]] || complain "of others: $others"
# work::completion is what a pending waits for, in code of its users.
inside=$(grep -oE '^(vtable for |typeinfo (name )?for )?daybook::v1::(base|db|drivers|core|calendar|schedules|queues|aggregations|planners|intakes|tables|service|work)::[a-z_]+' \
  <<<"$names" | grep -Ev 'work::(completion|complain_of_spent_pending)$' | sort -u || true)
[[ -z $inside ]] || complain "rooms of the inside: $inside"
exit "$wrong"
