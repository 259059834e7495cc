#!/bin/bash
# One of the five stories as its users have it: the program that was built against the installed
# library, and the daybook.toml served by the installed command.
#
#   five_test.sh STORY PROGRAMS DAYBOOK [DATABASE-URL]
#
# shellcheck disable=SC2154,SC2016,SC2317
here=$(dirname "$(readlink -f "$0")")
story=$1 programs=$2
shift 2
# shellcheck source=tests/command/tools.sh
. "$here/../command/tools.sh"
cp -r "$here/../../examples/five" five && cd five || exit 2
ln -s ../out ../err .

# fresh NAME: a database of its own; what is made on a server is dropped in the end.
server=$url
databases=()
as_admin() { psql -qX -c "$1" "${DAYBOOK_TEST_POSTGRESQL_ADMIN:?}"; }
leave() {
    local one
    for one in "${databases[@]}"; do as_admin "drop database $one with (force)"; done
    cleanup
}
trap leave EXIT
fresh() {
    unset DAYBOOK_PREFIX
    url=sqlite:$PWD/$1.db
    if [[ $engine == server ]]; then
        local owner=${server#*://} one=five_${story}_$1_$unique
        as_admin "create database $one owner ${owner%%:*}" || exit 2
        databases+=("$one")
        url=${server%/*}/$one
    fi
    export DAYBOOK_DATABASE_URL=$url
}
# PostgreSQL does not let two make a table at once: the second server comes when the first has.
has_tables() { ./sql "select count(*) from $1" >/dev/null 2>&1; }
program() { "$programs/$story" "$url" "$@"; }
daemon() { timeout 100 daybook daemon --config "$story.toml" "$@"; }
drain() { daemon --drain; }
rows() { ./sql "$1" | tr '|' ' ' | paste -sd' '; }

test_nightly() {
    code "killed in the middle" 137 program 2026-11-21 points
    code "while it is held" 75 program 2026-11-21
    has "while it is held" out "somebody is at it"
    daybook runs release nightly --key 2026-11-21 --yes 2>/dev/null
    code "again" 0 program 2026-11-21
    is "points were given once" "customer 1: 15 points customer 2: 9 points" "$(paste -sd' ' out)"
    code "and again" 0 program 2026-11-21
    has "and again" out "done before"
    is "the total is there once" 1 "$(rows 'select count(*) from total')"
}
file_nightly() {
    drain 2>/dev/null
    ./sql 'alter table customer rename to away'
    tick=$(daybook schedules trigger nightly 2>/dev/null)
    code "the second step fails" 0 drain
    is "it is due again" due "$(daybook schedules ticks nightly --json | field state)"
    ./sql 'alter table away rename to customer'
    over() { drain >out 2>err; [[ $(daybook schedules ticks nightly --json | field state) == "done" ]]; }
    if until_true $patience over; then pass; else fail "it is done in the end"; fi
    is "points" "1 15 2 9" "$(rows 'select id, points from customer order by id')"
    is "the total" "2026-11-21 2400" "$(rows 'select day, cents from total')"
    is "nothing is left" 0 "$(rows 'select count(*) from sale')"
    has "the first step was skipped" err "step total: done before, skipped"
    daybook runs show nightly --key "$tick" --json >out
    is "its steps" "total points forget" "$(for i in 0 1 2; do field "steps.$i.name" <out; done | paste -sd' ')"
}

# tiles LINES-OF-"from to": each begins where the one before ended.
tiles() {
    awk 'NR > 1 && $1 != last { wrong = 1 } { last = $2 } END { exit wrong || NR < 2 }' <<<"$1"
}
test_export() {
    program 4 >first 2>&1 &
    until_true $patience has_tables export
    code "two servers" 0 program 4
    wait $!
    cat out first >both
    is "both are well" "" "$(grep -v '^[0-9]* [0-9]* [0-9]*$' both)"
    local windows
    windows=$(./sql 'select from_us, to_us from export order by from_us' | tr '|' ' ')
    if tiles "$windows"; then pass; else fail "windows tile: $windows"; fi
    local from to
    from=$(head -1 <<<"$windows" | cut -d' ' -f1) to=$(tail -1 <<<"$windows" | cut -d' ' -f2)
    is "every lead is in one export" \
        "$(rows "select count(*) from lead where at_us >= $from and at_us < $to")" \
        "$(rows 'select count(*) from export join lead on at_us >= from_us and at_us < to_us')"
}
file_export() {
    sed -i 's/^cron = .*/cron = "* * * * * *"/; s/^zone.*//' export.toml
    background one daemon --config export.toml
    local one=$last
    background two daemon --config export.toml
    enough() { [[ $(rows 'select count(*) from export') -ge 4 ]]; }
    if until_true $patience enough; then pass; else fail "exports come"; fi
    kill -TERM "$one" "$last"
    wait "$one" "$last"
    # Killed between its commit and its end, a command is done again: and there is no other tick.
    sed -i 's/^cron = .*/cron = "0 0 29 2 *"/' export.toml
    code "what was handed back" 0 drain
    local windows
    windows=$(./sql 'select from_at, to_at from export order by to_at' | tr '|' ' ')
    if tiles "$windows"; then pass; else fail "windows tile: $windows"; fi
    is "one for each tick" "$(daybook schedules ticks leads --state "done" --json | wc -l)" \
        "$(wc -l <<<"$windows")"
}

test_stock() {
    program >first 2>&1 &
    until_true $patience has_tables product
    code "two at once" 0 program
    wait $!
    is "the first is well" 0 $?
    code "again" 0 program
    is "each was asked for once, but for one that is not known" \
        "1 products asked for 0 times 199 products asked for 1 times" "$(paste -sd' ' out)"
}
file_stock() {
    drain 2>/dev/null
    daybook queues watch stock --install 2>/dev/null
    code "reconcile" 0 daybook queues reconcile stock
    code "all products" 0 drain
    is "all products" "bolt 4 1 nut 3 1 o'ring 6 1 screw 5 1" \
        "$(rows 'select code, pieces, asked from product order by code')"
    ./sql "delete from product where code = 'nut'; insert into product (code) values ('cog')"
    code "one has gone, one has come" 0 drain
    is "only that was asked for" "bolt 1 cog 1 o'ring 1 screw 1" \
        "$(rows 'select code, asked from product order by code')"
    is "members" 4 "$(daybook queues stats stock --json | field members)"
}

test_plan() {
    code "first" 0 program
    cp out first
    has "paid and light" out "ship: 1"
    has "events" out "answer: 1"
    if grep -q '^close: [78]$' out; then pass; else fail "a week"; fi
    if grep -q '^visit: [34]$' out; then pass; else fail "250 members in pages of 100"; fi
    has "too heavy" out "order 3: too heavy for a parcel"
    code "again" 0 program
    is "nothing is launched again" "$(grep -v 'close\|visit' first)" "$(grep -v 'close\|visit' out)"
}
file_plan() {
    daybook queues make events 2>/dev/null
    daybook queues add events complaint-1 --payload 'the parcel was wet' 2>/dev/null
    code "passes and tasks" 0 drain
    is "light and paid" "1 4" "$(rows 'select order_id from shipment order by order_id')"
    is "too heavy" 3 "$(daybook plans refused orders --json | field key)"
    is "answered" "the parcel was wet" "$(cat answered-complaint-1)"
    is "days" 5 "$(find . -name 'closed-*' | wc -l)"
    is "members" "member 1 member 2 member 3 member 4 member 5" \
        "$(rows 'select name from member order by id')"
    ./sql 'delete from shipment'
    daybook plans run orders --config plan.toml >out 2>err
    code "again" 0 drain
    is "nothing is shipped again" 0 "$(rows 'select count(*) from shipment')"
}

payments="101: 3 records, 179 bricks, 2148 cents 102: 2 records, 76 bricks, 912 cents"
test_bricks() {
    code "first" 0 program
    is "first" "$payments 0 differences" "$(paste -sd' ' out)"
    code "again" 0 program
    is "again" "$payments 0 differences" "$(paste -sd' ' out)"
    is "one was taken back" 1 "$(rows 'select count(*) from payment where state = 4')"
}
file_bricks() {
    drain 2>/dev/null
    local by_file="--config bricks.toml"
    # shellcheck disable=SC2086
    aggregates() { local verb=$1; shift; daybook aggregates "$verb" pay "$@" $by_file; }
    code "run" 0 aggregates run
    first=$(./sql "select id from payment where worker = 102")
    code "taken back" 0 aggregates revert "$first" --yes
    daybook schedules trigger pay/aggregate >out 2>err
    code "the daemon takes what is free, and closes it" 0 drain
    is "payments" "101 3 179 2148 2 102 0 0 0 4 102 2 76 912 2" "$(rows \
        'select worker, records, bricks, cents, state from payment order by worker, records')"
    # shellcheck disable=SC2046
    code "settled" 0 aggregates settle $(./sql 'select id from payment where state = 2') --yes
    code "verify" 0 aggregates verify
    is "bricks that are paid for" 5 "$(rows 'select count(*) from brick where state = 3')"
    ./sql 'update payment set bricks = bricks + 1 where worker = 101'
    code "verify sees it" 1 aggregates verify
}

fresh program
"test_$story"
fresh file
./sql <tables.sql
daybook migrate up 2>/dev/null
"file_$story"
finish
