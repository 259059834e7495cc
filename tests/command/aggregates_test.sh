#!/bin/bash
# Tests of `daybook aggregates` and of [[aggregate]]: the tables of examples/pay as they stand.
#
#   tests/command/aggregates_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
# shellcheck disable=SC2016,SC2317,SC2015
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"
pay=$here/../../examples/pay

# --- daybook.toml: what is wrong is said with line and column, before any book is looked at.
# wrong NAME LINE COLUMN MESSAGE <FILE
wrong() {
    cat >daybook.toml
    code "$1" 65 nowhere show pay
    has "$1" err "daybook.toml, line $2, column $3: $4"
    code "$1, the daemon" 65 daybook daemon
    has "$1, the daemon" err "line $2, column $3"
}
nowhere() { env -u DAYBOOK_DATABASE_URL "$daybook" aggregates "$@"; }
# base: a declaration of five lines; what follows on stdin is line 6 and more
base() {
    printf '[[aggregate]]\nname = "pay"\n'
    printf 'source = { table = "a", key = "id", state = "s", link = "l", group = ["g"] }\n'
    printf 'parent = { table = "b", key = "k", state = "s" }\n\n'
    cat
}
while IFS='|' read -r line column message; do
    wrong "$line" 6 "$column" "$message" < <(base <<<"$line")
done <<'END'
evry = "1d"|1|'evry' is not known in an [[aggregate]]; did you mean 'every'? There are name, every, cron, zone, source,
every = "7m"|9|every: 7m does not divide a minute, an hour or a day; write cron instead
every = "2d"|9|every: 2d is not from 1s to 1d
every = "500ms"|9|every: 500ms is not from
every = 60|9|every: a length of time is wanted
cron = "61 * * * *"|8|cron: cron expression '61 * * * *', character 1
zone = "UTC"|8|zone: it goes with every or cron
zone = "Mars/Base"|8|zone: time zone 'Mars/Base'
sums = "move_num"|8|sums: a table of texts is wanted
sums = { n = 1 }|14|sums: a text is wanted
sums = { n = "" }|8|sums: a column, and that of its sum is wanted
allow_null = "yes"|14|allow_null: true or false is wanted
allow_negative = 1|18|allow_negative: true or false is wanted
chunk = 0|9|chunk: 0 is not from 1 to 1000000
chunk = 1000001|9|chunk: 1000001 is not from
fresh = "no"|9|fresh: true or false is wanted
close = 0|9|close: true or false is wanted
key_prefix = 5|14|key_prefix: a text is wanted
[[aggregate]]|1|an [[aggregate]] needs a name
END
# Of the source and of the parent, each in its line.
while IFS='|' read -r source column message; do
    wrong "source $source" 3 "$column" "$message" <<END
[[aggregate]]
name = "pay"
source = $source
parent = { table = "b", key = "k", state = "s" }
END
done <<'END'
"a"|10|source: a table is wanted: { NAME = value }
{ key = "id" }|10|source needs a table
{ table = "a", key = "id", state = "s", link = "l" }|10|source needs a group
{ table = "a", key = "id", state = "s", link = "l", group = "g" }|70|group: an array of texts is wanted
{ table = "a", key = "id", state = "s", link = "l", group = [""] }|71|group: a name is wanted
{ tabel = "a" }|12|'tabel' is not known in source; did you mean 'table'? There are table, key, state, free, taken, settled,
{ table = "", key = "id", state = "s", link = "l", group = [] }|20|table: a name is wanted
{ table = "a", key = "id", state = "s", link = "l", group = [], free = true }|81|free: a whole number is wanted, or a text
{ table = "a", key = "id", state = "s", link = "l", group = [], unlinked = "", unlinked_null = true }|105|unlinked_null: there is unlinked already
END
while IFS='|' read -r parent column message; do
    wrong "parent $parent" 4 "$column" "$message" <<END
[[aggregate]]
name = "pay"
source = { table = "a", key = "id", state = "s", link = "l", group = ["g"] }
parent = $parent
END
done <<'END'
{ table = "b", state = "s" }|10|parent needs a key
{ table = "b", key = "k", state = "s", voided = 4 }|49|'voided' is not known in parent; did you mean 'void'? There are table, key, state, open, closed, settled, void,
{ table = "b", key = "k", state = "s", opening = { boss_id = 7 } }|71|opening: a text is wanted
{ table = "b", key = "k", state = "s", following = { money = "" } }|61|following: a column, and SQL for what stands in it is wanted
END
wrong "every and cron" 7 8 "cron: there is every already" < <(base <<'END'
every = "1d"
cron = "@daily"
END
)
wrong "a name twice" 7 8 "name: there is an aggregate 'pay' above" < <(base <<'END'
[[aggregate]]
name = "pay"
source = { table = "a", key = "id", state = "s", link = "l", group = ["g"] }
parent = { table = "b", key = "k", state = "s" }
END
)
wrong "an empty name" 2 8 "name: " <<'END'
[[aggregate]]
name = ""
source = { table = "a", key = "id", state = "s", link = "l", group = ["g"] }
parent = { table = "b", key = "k", state = "s" }
END
wrong "one bracket" 1 1 "an aggregate is a table in double brackets: [[aggregate]]" <<<'[aggregate]'
wrong "a schedule of its name" 8 8 "name: it is that of the aggregate 'pay'" < <(base <<'END'
every = "1d"
[[schedule]]
name = "pay/aggregate"
cron = "@daily"
command = ["true"]
END
)

# --- The example, as its first lines say
mkdir -p sources/examples
cp -r "$pay" sources/examples
(
    cd sources || exit
    sqlite3 pay.db <examples/pay/sqlite.sql
    unset DAYBOOK_DATABASE_URL
    daybook migrate up --db sqlite:pay.db &&
        daybook aggregates run pay --config examples/pay/daybook.toml &&
        daybook daemon --drain --config examples/pay/daybook.toml
) >out 2>err
is "the example" 0 $?
has "the example" err "pay: 5 rows, 2 parents made, 1 transaction, 2 closed"
is "what is paid" "101|2148|2,102|912|2" \
    "$(sqlite3 sources/pay.db 'select worker_id, money, status from t_move_pay order by 1' | paste -sd,)"

# --- The tables, on the engine of this test. Not of the book: no prefix, so they are dropped before.
case $url in
sqlite*) dialect=sqlite ;;
postgres*) dialect=postgres ;;
*) dialect=mysql ;;
esac
read -r host port user password base < <(python3 - "$url" <<'END'
import sys
from urllib.parse import urlsplit, unquote
at = urlsplit(sys.argv[1])
print(at.hostname or "-", at.port or 0, unquote(at.username or "-"), unquote(at.password or "-"),
      at.path.lstrip("/") or "-")
END
)
# sql [TEXT]: on a connection of its own; the text, or stdin
sql() {
    if (($#)); then sql <<<"$1"; return; fi
    case $dialect in
    sqlite) sqlite3 -bail -cmd '.timeout 10000' -separator ' ' "${url#sqlite:}" ;;
    postgres) psql -qAtX -F ' ' -v ON_ERROR_STOP=1 "$url" ;;
    mysql) MYSQL_PWD=$password mariadb --no-defaults -N -B -h "$host" -P "$port" -u "$user" "$base" |
        tr '\t' ' ' ;;
    esac
}
tables() {
    sql 'drop table if exists t_move_brick' 2>/dev/null
    sql 'drop table if exists t_move_pay' 2>/dev/null
    (($#)) || sql <"$pay/$dialect.sql" || fail "the tables of $dialect.sql"
}
with_book
tables
# The example as it stands, but for the day's end, which people decide here, and the database.
sed '/^database/d; /^every/d; /^zone/d; /^close/d' "$pay/daybook.toml" >daybook.toml
agg() { daybook aggregates "$@"; }
shows() { agg "$@" --json 2>err; }
rows_are() { sql "select id, status, case when pay_no = '' then '-' else 'P' end from t_move_brick order by id" | paste -sd,; }
paid() { sql 'select worker_id, boss_id, move_count, move_sum, money, status from t_move_pay order by id' | paste -sd,; }

# --- Declared, and looked at
code "list" 0 agg list
has "list" out "t_move_brick"
is "list --json" "True t_move_pay None" "$(shows list | field declared) $(shows list | field parent) $(shows list | field cron)"
code "show" 0 agg show pay
has "show" out "move_num into move_sum"
has "show" out "when it is run by hand"
is "show --json" "1 4 move_sum * 12 worker_id" \
    "$(for i in source.free parent.void parent.following.money source.group.0; do shows show pay | field $i; done | paste -sd' ')"
code "no such one" 66 agg show wages
has "no such one" err "no [[aggregate]] is named wages in daybook.toml; there are pay"
code "no file" 66 agg show pay --config nothing.toml
has "no file" err "there is none in it"
code "no name" 64 agg show

# --- A dry run writes nothing
code "dry run" 0 agg run pay --dry-run
has "dry run" out "a new one"
has "dry run" err "nothing was written; 5 rows in 2 groups would be taken"
is "its groups" "101 3 179,102 2 76" \
    "$(shows run pay --dry-run | while read -r one; do echo "$(field group <<<"$one") $(field rows <<<"$one") $(field sums.move_sum <<<"$one")"; done | paste -sd,)"
is "no more than asked for" 1 "$(shows run pay --dry-run --limit 1 | wc -l)"
is "nothing was written" "1 1 -,2 1 -,3 1 -,4 1 -,5 1 -" "$(rows_are)"
is "no parent" "" "$(paid)"

# --- Run
code "run" 0 agg run pay
has "run" err "pay: 5 rows, 2 parents made, 1 transaction"
is "the rows" "1 2 P,2 2 P,3 2 P,4 2 P,5 2 P" "$(rows_are)"
is "the payments" "101 7 3 179 2148 1,102 7 2 76 912 1" "$(paid)"
code "run again" 0 agg run pay
has "run again" err "pay: 0 rows, 0 parents made"
sql "insert into t_move_brick (move_no, worker_id, move_num, status) values ('M6', 102, 9, 1)"
ann=$(sql 'select pay_no from t_move_pay where worker_id = 101')
ben=$(sql 'select pay_no from t_move_pay where worker_id = 102')
is "a prefix" "P P" "${ann:0:1} ${ben:0:1}"
is "would be added to" "$ben" "$(shows run pay --dry-run | field parent)"
is "not with --fresh" None "$(shows run pay --dry-run --fresh | field parent)"
is "run --json" "1 0 0 []" "$(shows run pay >one; for i in rows parents closed refused; do field $i <one; done | paste -sd' ')"
is "added to" "101 7 3 179 2148 1,102 7 3 85 1020 1" "$(paid)"

# --- Parents, rows, the parent of a row
is "parents" 2 "$(shows parents pay --state open | wc -l)"
is "none closed" "" "$(shows parents pay --state closed)"
is "a page" 1 "$(shows parents pay --limit 1 | wc -l)"
is "the next" 1 "$(shows parents pay --after "$(shows parents pay --limit 1 | field parent)" | wc -l)"
is "a parent" "102 3 85 1" "$(shows parents pay | grep "$ben" >one; for i in group count sums.move_sum state; do field $i <one; done | paste -sd' ')"
code "parents" 0 agg parents pay
has "parents" out "$ann"
code "no such state" 64 agg parents pay --state lost
is "rows" "2 41,5 35,6 9" \
    "$(shows rows pay "$ben" | while read -r one; do echo "$(field row <<<"$one") $(field amounts.move_num <<<"$one")"; done | paste -sd,)"
is "a page of rows" "5" "$(shows rows pay "$ben" --after 2 --limit 1 | field row)"
code "rows" 0 agg rows pay "$ben"
has "rows" out "move_num"
code "rows of nothing" 66 agg rows pay nothing
code "parent" 0 agg parent pay 3
is "parent" "$ann" "$(cat out)"
is "parent --json" 179 "$(shows parent pay 3 | field sums.move_sum)"
code "parent of nothing" 66 agg parent pay 99

# --- Close, settle
code "settle asks" 64 agg settle pay "$ann"
has "settle asks" err "--yes"
code "settle what is open" 65 agg settle pay "$ann" --yes
has "settle what is open" err "close it first"
code "close" 0 agg close pay "$ann" --reason "the day is over"
has "close" err "closed"
code "close, again" 0 agg close pay "$ann"
has "close, again" err "closed before, nothing to do"
code "close nothing" 66 agg close pay nothing
code "neither" 64 agg close pay
code "both" 64 agg close pay "$ann" --all
code "close all" 0 agg close pay --all
has "close all" err "pay: 1 closed"
sql "insert into t_move_brick (move_no, worker_id, move_num, status) values ('M7', 101, 1, 1)"
code "a new one" 0 agg run pay --close
has "a new one" err "1 parent made, 1 transaction, 1 closed"
third=$(agg parent pay 7 2>err)
is "beside the closed one" "101 7 3 179 2148 2,102 7 3 85 1020 2,101 7 1 1 12 2" "$(paid)"
script -qec "daybook aggregates settle pay $ann" asked.out >/dev/null <<<n
has "asked on a terminal" asked.out "[y/N]"
is "not without a yes" 2 "$(sql "select status from t_move_pay where pay_no = '$ann'")"
code "settle" 0 agg settle pay "$ann" --yes --reason "paid"
is "settle --json, again" "before $ann" "$(shows settle pay "$ann" --yes >one; echo "$(field result <one) $(field key <one)")"
is "with its rows" "3,3,3" "$(sql "select status from t_move_brick where pay_no = '$ann' order by id" | paste -sd,)"

# --- Revert, and again
code "revert what is settled" 65 agg revert pay "$ann" --yes
has "revert what is settled" err "settled, which stays"
code "of several" 65 agg revert pay "$ann" "$ben" --yes --reason "a wrong count"
is "the other is reverted" "0 0 4" "$(sql "select move_count, move_sum, status from t_move_pay where pay_no = '$ben'")"
is "its rows are free" "2 1 -,5 1 -,6 1 -" \
    "$(rows_are | tr ',' '\n' | grep -E '^[256] ' | paste -sd,)"
code "revert, again" 0 agg revert pay "$ben" --yes
has "revert, again" err "nothing to do"
code "settle what is void" 65 agg settle pay "$ben" --yes
code "gathered again" 0 agg run pay
again=$(agg parent pay 2 2>err)
is "by another parent" yes "$([[ $again != "$ben" ]] && echo yes)"

# --- Remove a row
code "remove" 0 agg remove pay 5 --yes --reason "not his"
is "the rest" "2 50 600" "$(sql "select move_count, move_sum, money from t_move_pay where pay_no = '$again'")"
is "it is free" "5 1 -" "$(rows_are | tr ',' '\n' | grep '^5 ')"
code "remove what no parent has" 66 agg remove pay 99 --yes
code "remove from a closed one" 65 agg remove pay 7 --yes

# --- History
me="$(id -un)@$(uname -n)"
code "history" 0 agg history pay "$ben"
has "history" out "a wrong count"
is "history --json" "revert 3 $me a wrong count" \
    "$(shows history pay "$ben" | head -1 >one; for i in what rows actor reason; do field $i <one; done | paste -sd' ')"
is "newest first" yes "$(shows history pay >all; [[ $(head -1 all | field at) > $(tail -1 all | field at) ]] && echo yes)"
is "--limit" 2 "$(shows history pay --limit 2 | wc -l)"
is "the next page" "$(sed -n 3p all | field id)" \
    "$(shows history pay --limit 1 --before "$(sed -n 2p all | field id)" | field id)"
is "of all" "aggregate close remove revert settle" \
    "$(while read -r one; do field what <<<"$one"; done <all | sort -u | paste -sd' ')"

# --- Verify
code "verify" 0 agg verify pay
has "verify" err "0 differences"
sql "update t_move_pay set move_sum = 999 where pay_no = '$third'"
code "a parent edited by hand" 1 agg verify pay
has "a parent edited by hand" out "$third"
is "what, expected, found" "sum move_sum 1 999" \
    "$(shows verify pay >one; for i in what column expected found; do field $i <one; done | paste -sd' ')"
code "it is not settled" 1 agg settle pay "$third" --yes
has "it is not settled" err "its rows are not what it says"
sql "update t_move_pay set move_sum = 1 where pay_no = '$third'"
code "mended" 0 agg verify pay

# --- A bad group does not stop the others; it is named
sql "update t_move_brick set move_num = -5 where id = 5"
sql "insert into t_move_brick (move_no, worker_id, move_num, status) values ('M8', 103, 8, 1)"
code "a negative amount, dry" 1 agg run pay --dry-run
code "a negative amount" 1 agg run pay
has "a negative amount" err "pay: group 102, row 5: not taken: move_num is negative"
has "the others" err "pay: 1 row, 1 parent made"
is "named in JSON" "102 5" "$(shows run pay >one; echo "$(field refused.0.group <one) $(field refused.0.row <one)")"
sed '/^key_prefix/a allow_negative = true' daybook.toml >negative.toml
code "allowed" 0 agg run pay --config negative.toml
is "a sum less five" "3 45" "$(sql "select move_count, move_sum from t_move_pay where pay_no = '$again'")"

# --- What the tables are not: said with the place of the declaration
while IFS='|' read -r from to message; do
    sed "s/$from/$to/" daybook.toml >bad.toml
    code "$to" 65 agg run pay --config bad.toml
    has "$to" err "bad.toml, line "
    has "$to, what" err "$message"
    code "$to, the daemon" 65 daybook daemon --drain --config <(sed 's/^name = .*/&\nevery = "1d"/' bad.toml)
done <<'END'
move_num = "move_sum"|brick_num = "move_sum"|brick_num
move_num = "move_sum"|move_no = "move_sum"|move_no
table = "t_move_brick"|table = "t_no_brick"|t_no_brick
following = .*|following = { money = "no_such_column" }|no_such_column
END

# --- The daemon: a pass at each tick, told to the log and kept with the attempt
file() { # file NAME [KEY = VALUE ...]
    local name=$1
    shift
    { sed "/^key_prefix/q" daybook.toml; printf '%s\n' "$@"; sed '1,/^key_prefix/d' daybook.toml; } >"$name.toml"
}
# Another name, for the tables are made anew, and verify misses the payments of the old ones.
sed -i 's/^name = "pay"/name = "wage"/' daybook.toml
file never 'cron = "0 0 29 2 +MON"' 'close = true'
tables
code "nothing is due" 0 daybook daemon --drain --config never.toml
is "its schedule" wage/aggregate "$(daybook schedules list --json | field name)"
code "by hand" 0 daybook schedules trigger wage/aggregate
tick=$(cat out)
sql "update t_move_brick set move_num = -1 where id = 2"
code "drain" 0 daybook daemon --drain --config never.toml
has "what was done" err "aggregated schedule=wage/aggregate key=$tick rows=3 parents=1 chunks=1 closed=1 refused=1"
has "who was refused" err 'warning refused schedule=wage/aggregate group=102 row=2 text="move_num is negative'
has "the tick succeeds" err "done schedule=wage/aggregate key=$tick"
daybook runs show wage/aggregate --key "$tick" >out
has "kept with its attempt" out "3 rows, 1 parent made, 1 transaction, 1 closed"
has "and who was refused" out "group 102, row 2: not taken"
is "closed" "101 7 3 179 2148 2" "$(paid)"
is "who" "$me wage/aggregate, $tick" \
    "$(shows history wage | grep '"close"' | head -1 >one; echo "$(field actor <one) $(field reason <one)")"
sql "update t_move_brick set move_num = 41 where id = 2"
# A file with a mistake that only the database can see leaves the daemon with the old one.
background one daemon --config never.toml --poll 50ms
until_true $patience grep -qs " ready " one.err || fail "not ready"
sed -i 's/t_move_brick/t_no_brick/' never.toml
kill -HUP "$last"
until_true $patience grep -qs "not_reloaded" one.err || fail "not told"
has "not reloaded" one.err "the old one stays: never.toml, line "
daybook schedules trigger wage/aggregate >out
until_true $patience grep -qs "rows=2" one.err || fail "the old one does not stay"
kill -TERM "$last"
wait "$last"
is "stopped" 0 $?

# --- Two daemons, each second, while rows come: each row once, every sum exact
file second 'every = "1s"' 'chunk = 50'
background a daemon --config second.toml --poll 50ms --lease 5s
first=$last
background b daemon --config second.toml --poll 50ms --lease 5s
second=$last
until_true $patience grep -qs " ready " a.err && until_true $patience grep -qs " ready " b.err || fail "not ready"
for i in $(seq 20); do
    sql "insert into t_move_brick (move_no, worker_id, move_num, status) values $(for j in $(seq 30); do
        echo "('N$i/$j', $((100 + j % 3)), $j, 1)"; done | paste -sd,)"
done
kill -KILL "$first"
wait "$first" 2>/dev/null
none_free() { [[ $(sql 'select count(*) from t_move_brick where status = 1') == 0 ]]; }
if until_true $patience none_free; then pass; else fail "some are free"; fi
kill -TERM "$second"
wait "$second"
is "the other stops" 0 $?
is "each once" "605 $(sql 'select sum(move_num) from t_move_brick')" \
    "$(sql 'select sum(move_count), sum(move_sum) from t_move_pay where status in (1, 2)')"
code "verified" 0 agg verify wage
tables drop

finish
