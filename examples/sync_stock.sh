#!/bin/sh
# What a queue runs for one product (see daybook.toml beside it):
#
#   sync_stock.sh -- product-42
#
# The -- says that a key which begins with a - is no option.
#
# Its last line of output is kept with the task. 75 asks to be called again later, and is no failure:
# the other side is away, say.
set -eu
[ "$1" != -- ] || shift
[ ! -e stock/away ] || exit 75
mkdir -p stock
echo "$1 $DAYBOOK_IDEMPOTENCY_KEY" >"stock/$1"
echo "asked for $1"
