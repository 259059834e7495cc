#!/bin/bash
# Compiles each public header alone, two at a time, and sees that <daybook/daybook.hpp> includes no
# header of another library, and none of the standard library's that is slow to compile.
#
#   headers.sh COMPILER INCLUDE-FOLDER
set -euo pipefail
export compiler=$1 include=$2

compile_alone() {
  "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Werror -I"$include" -x c++ - \
    <<<"#include <$1>" || { echo "$1 does not compile alone"; return 1; }
}
export -f compile_alone

wrong=0
(cd "$include" && find daybook -name '*.hpp') | xargs -P 2 -I{} bash -c 'compile_alone {}' || wrong=1

# Each of these costs a program that uses Daybook a tenth of a second or more.
slow='algorithm|condition_variable|deque|filesystem|format|fstream|future|iomanip|iostream|list|map'
slow+='|mutex|queue|random|ranges|regex|set|shared_mutex|syncstream|thread|valarray'
slow+='|asio\.hpp|sqlite3\.h|libpq-fe\.h|mysql\.h|core\.h|json\.hpp|CLI\.hpp'
read_too=$("$compiler" -std=c++20 -M -I"$include" -x c++ - <<<'#include <daybook/daybook.hpp>' |
  tr -s ' \\' '\n' | grep -Ev "^$include/" | grep -E "/($slow)\$" || true)
if [[ $read_too ]]; then
  echo "daybook/daybook.hpp includes, itself or through another header:" "$read_too"
  wrong=1
fi
exit "$wrong"
