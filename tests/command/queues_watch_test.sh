#!/bin/bash
# Tests of `daybook queues watch`, `unwatch`, `reconcile` and `import --query`: keys that are a
# column of a table.
#
#   tests/command/queues_watch_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"
with_book
me="$(id -un)@$(uname -n)"
product=product_$unique
shows() { daybook queues show "$1" --json 2>err | field "$2"; }
count() { daybook queues stats "$1" --json 2>err | field "$2"; }
keys() { daybook tasks list "$1" --json 2>err | while read -r line; do field key <<<"$line"; done | sort | paste -sd' '; }
worth() { daybook doctor --json 2>err | grep -F "\"queue $1\"" | field "$2"; }

# shellcheck source=tests/command/client.sh
. "$here/client.sh"
row() { sql <<<"insert into $product (code, note) values ('$1', 'of $1');"; }
sql <<<"create table $product (code varchar(300) not null primary key, note varchar(20));"

# --- Follow
daybook queues make stock 2>err
is "follows none" None "$(shows stock follows)"
code "which table" 66 daybook queues watch stock
has "which table" err "daybook queues watch stock --table TABLE --key COLUMN"
code "reconcile with none" 66 daybook queues reconcile stock
code "no such queue" 66 daybook queues reconcile stok
has "no such queue" err "there is no queue 'stok'; did you mean 'stock'? There are stock"
code "a table without a column" 64 daybook queues watch stock --table $product
code "a column without a table" 64 daybook queues watch stock --key code
code "no such table" 65 daybook queues watch stock --table nothing_$unique --key code
code "no such column" 65 daybook queues watch stock --table $product --key kode
code "one that may be null" 65 daybook queues watch stock --table $product --key note
has "one that may be null" err "not null"
is "none of it is remembered" None "$(shows stock follows)"
row a
code "watch" 0 daybook queues watch stock --table $product --key code
has "watch" err "stock: follows column code of $product; triggers not installed; compared never"
cp out printed.sql
row b
is "nothing was made in the table" 0 "$(count stock members)"
is "it is remembered" "$product code False None" \
    "$(for f in table key installed reconciled; do shows stock follows.$f; done | paste -sd' ')"
code "watch again" 0 daybook queues watch stock
is "the same SQL" "$(cat printed.sql)" "$(cat out)"

# --- Reconcile
code "a dry run" 0 daybook queues reconcile stock --dry-run --json
is "a dry run" '{"missing":2,"extra":0,"refused":0,"exact":true}' "$(cat out)"
is "it changes nothing" "0 None" "$(count stock members) $(shows stock follows.reconciled)"
is "doctor tells" "warning daybook queues reconcile stock" "$(worth stock worth) $(worth stock remedy)"
daybook queues add stock extra 2>err
code "reconcile" 0 daybook queues reconcile stock
has "reconcile" err "stock: 2 added, 1 removed; "
is "as the table has them" "a b" "$(keys stock)"
is "doctor is content" ok "$(worth stock worth)"
code "show" 0 daybook queues show stock
has "show" out "follows         column code of $product; triggers not installed; compared 20"
sql <<<"insert into $product (code) values ('$(printf '%0300d' 7)'); delete from $product where code = 'a';"
code "a row that can be no key" 0 daybook queues reconcile stock --json
is "the others are done" '{"added":0,"removed":1,"refused":1}' \
    "$(sed 's/,"example".*/}/' out)"
has "it is told" err "stock: 1 rows have a value that can be no key, as '0000"
code "a dry run" 0 daybook queues reconcile stock --dry-run
has "a dry run tells it, too" err "0 to add, 0 to remove"
has "a dry run tells it, too" err "1 rows have"
sql <<<"delete from $product where note is null;"

# --- Triggers
if sql <printed.sql >out 2>err; then pass; else fail "what is printed"; fi
is "is what is installed" True "$(shows stock follows.installed)"
row c
is "a row is a key" "b c" "$(keys stock)"
daybook queues watch stock --json 2>err >out
python3 -c 'import json,sys; print(json.load(sys.stdin)["drop_sql"])' <out >drop.sql
if sql <drop.sql >out 2>err; then pass; else fail "what drops them"; fi
is "they are gone" False "$(shows stock follows.installed)"
row d
is "a row is none" "b c" "$(keys stock)"
code "install" 0 daybook queues watch stock --install --reason "a new product sells at once"
has "install" err "triggers installed"
is "it prints nothing" "" "$(cat out)"
is "who, what and why" "$me install a new product sells at once" \
    "$(for f in actor action reason; do shows stock changes.-1.$f; done | paste -sd' ')"
row e
sql <<<"delete from $product where code = 'b';"
is "rows are keys" "c e" "$(keys stock)"
code "reconcile finds the rest" 0 daybook queues reconcile stock --json
is "reconcile finds the rest" "1 0" "$(field added <out) $(field removed <out)"
code "unwatch" 65 daybook queues unwatch stock
has "unwatch" err "uninstall"
case $url in
    postgresql*) sql <<<"alter table $product disable trigger all;" ;;
    *) sql <<<"drop trigger $(daybook queues watch stock |
        grep -o "${DAYBOOK_PREFIX}watch_1_[0-9a-z]*_delete" | head -1);" ;;
esac
is "doctor misses one" "warning install them again: daybook queues watch stock --install" \
    "$(worth stock worth) $(worth stock remedy)"
code "install again" 0 daybook queues watch stock --install --json
is "install again" "True $product" "$(field installed <out) $(field table <out)"
is "doctor is content" ok "$(worth stock worth)"
code "uninstall with a table" 64 daybook queues watch stock --uninstall --table $product --key code
code "install and uninstall" 64 daybook queues watch stock --uninstall --install
code "uninstall" 0 daybook queues watch stock --uninstall
has "uninstall" err "triggers not installed"
is "who" uninstall "$(shows stock changes.-1.action)"
code "uninstall again" 0 daybook queues watch stock --uninstall
row f
is "a row is none any more" "c d e" "$(keys stock)"

# --- Follow no more
code "unwatch" 0 daybook queues unwatch stock --reason "sold"
has "unwatch" err "stock: follows no table any more"
is "who and why" "make watch install install uninstall uninstall unwatch" \
    "$(for n in 0 1 2 3 4 5 6; do shows stock changes.$n.action; done | paste -sd' ')"
is "why" "sold" "$(shows stock changes.6.reason)"
is "the keys stay" "c d e" "$(keys stock)"
is "doctor does not look" "" "$(daybook doctor --json 2>err | grep -F '"queue stock"')"
code "unwatch again" 0 daybook queues unwatch stock
has "unwatch again" err "nothing to do"

# --- Import by a query
daybook queues make some 2>err
code "import" 0 daybook queues import some --query "select code, note from $product" --json
is "import" '{"added":4,"present":0}' "$(cat out)"
has "what it took" err "/s"
is "the second column" "of e" "$(daybook tasks show some e --json | field payload)"
code "import again" 0 daybook queues import some --query "select code from $product" --priority 2
has "import again" err "some: 0 added, 4 there already"
code "no query" 65 daybook queues import some --query "delete from $product"
has "no query" err "queue 'some': the query to import from"
is "it was not executed" 4 "$(sql <<<"select count(*) from $product;")"
code "an empty one" 65 daybook queues import some --query ""
code "three columns" 65 daybook queues import some --query "select 1, 2, 3"
has "three columns" err "3 columns"
code "a null" 65 daybook queues import some --query "select null from $product"
has "a null" err "the query to import from: row 1: its key is null"
code "from nowhere" 64 daybook queues import some
has "from nowhere" err "FILE, - or --query SQL"
code "from two places" 64 daybook queues import some keys --query "select 1"
code "lines of a query" 64 daybook queues import some --json-lines --query "select 1"
is "nothing of it" 4 "$(count some members)"

# --- A table that is gone
daybook queues watch stock --table $product --key code >out 2>err
daybook queues watch stock --install 2>err
sql <<<"drop table $product;"
code "reconcile" 65 daybook queues reconcile stock
has "reconcile" err "there is no table '$product'"
code "show" 0 daybook queues show stock
is "doctor tells" warning "$(worth stock worth)"
is "and how to end it" yes "$(worth stock remedy | grep -q 'none: daybook queues unwatch stock' && echo yes)"
code "uninstall" 0 daybook queues watch stock --uninstall
code "unwatch" 0 daybook queues unwatch stock

finish
