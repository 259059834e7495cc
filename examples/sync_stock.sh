#!/bin/sh
# The command of a queue, for one product (see daybook.toml beside it):
#
#   sync_stock.sh -- product-42
#
# After the --, a key that begins with a - is no option.
#
# Its last line of output is kept with the task. Exit code 75 means try later, and is no failure:
# use it when the other side is away.
set -eu
[ "$1" != -- ] || shift
[ ! -e stock/away ] || exit 75
mkdir -p stock
echo "$1 $DAYBOOK_IDEMPOTENCY_KEY" >"stock/$1"
echo "asked for $1"
