#!/bin/bash
# Tests of `daybook queues`: how queues are made and shown, and how keys come and go.
#
#   tests/command/queues_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"
with_book
me="$(id -un)@$(uname -n)"
shows() { daybook queues show "$1" --json 2>err | field "$2"; }
count() { daybook queues stats "$1" --json 2>err | field "$2"; }

# --- None yet
code "no queue" 66 daybook queues show stock
has "no queue" err "there is no queue 'stock', nor any other; make it with: daybook queues make"
code "an empty list" 0 daybook queues list --json
is "an empty list" "" "$(cat out)"

# --- Make, and change
code "make" 0 daybook queues make stock --period 10d --attempts 4 --rate 50/s --limit 20
has "make" err "stock: made"
is "its options" "864000000 54000000 4 50/s 20 at-least-once from-turn False" \
    "$(for f in period_ms grain_ms attempts rate limit mode cadence rounds; do shows stock $f; done | paste -sd' ')"
code "a burst" 0 daybook queues make burst --rate 50/s --burst 20
is "a burst" "50/s 20" "$(shows burst rate) $(shows burst burst)"
code "a burst stays" 0 daybook queues make burst --limit 3
is "a burst stays" "20 1" "$(shows burst burst) $(shows stock burst)"
code "a burst, for people" 0 daybook queues show burst
has "a burst, for people" out "20 at once after a pause"
code "make again" 0 daybook queues make stock --attempts 7 --reason "they are slow"
has "make again" err "stock: there"
is "who and why" "make  make they are slow" \
    "$(for f in 0.action 0.reason 1.action 1.reason; do shows stock changes.$f; done | paste -sd' ')"
code "make what is there" 0 daybook queues make stock
is "making it again is none" 2 "$(shows stock changes | grep -o "'action'" | wc -l)"
is "what is not given stays" "7 50/s 864000000" "$(shows stock attempts) $(shows stock rate) $(shows stock period_ms)"
code "another period" 0 daybook queues make stock --period 1h --rate none --mode at-most-once
is "and the grain goes with it" "3600000 225000 at-most-once" \
    "$(shows stock period_ms) $(shows stock grain_ms) $(shows stock mode)"
is "no rate" "" "$(shows stock rate)"
code "rounds" 0 daybook queues make nightly --rounds --every-outcome --retention 90d --rate 7/h
is "rounds" "True True 7776000000 7/h None" \
    "$(for f in rounds every_outcome retention_ms rate round; do shows nightly $f; done | paste -sd' ')"
is "new keys" next-round "$(shows nightly on_new)"
code "new keys now" 0 daybook queues make nightly --on-new now
is "new keys now" "now True" "$(shows nightly on_new) $(shows nightly rounds)"
code "new keys" 64 daybook queues make nightly --on-new later
code "no rounds" 0 daybook queues make nightly --no-rounds
is "no rounds" False "$(shows nightly rounds)"
code "in order" 0 daybook queues make series --in-order --forget-done 2h
is "in order" "True 7200000" "$(shows series in_order) $(shows series forget_done_ms)"
code "in order, for people" 0 daybook queues show series
has "in order, for people" out "keys that agree up to their last /: one after the other"
has "forgotten, for people" out "what is done, after 2h"
code "neither is given" 0 daybook queues make series --attempts 2
is "neither is given" "True 7200000" "$(shows series in_order) $(shows series forget_done_ms)"
code "never forgotten" 0 daybook queues make series --forget-done 0s
is "never forgotten" 0 "$(shows series forget_done_ms)"
code "in order or not is chosen once" 65 daybook queues make series --no-in-order
for bad in "--rate 50" "--rate -1/s" "--rate 1/w" "--mode sometimes" "--period 10" "--cadence x"; do
    # shellcheck disable=SC2086
    code "make $bad" 64 daybook queues make bad $bad
done
for bad in "--attempts 0" "--forget-done 1s" "--period 10ms" "--segment 5000" "--rate 0/s" "--burst 0"; do
    # shellcheck disable=SC2086
    code "make $bad" 65 daybook queues make bad $bad
    has "make $bad" err "queue 'bad'"
done
for bad in "--retention 119m" "--retention 1ms" "--forget-done 500ms" "--forget-done 90500ms" \
    "--forget-done 30s"; do
    for queue in bad series; do
        # shellcheck disable=SC2086
        code "make $queue $bad" 65 daybook queues make $queue $bad
        has "make $queue $bad" err "queue '$queue'"
    done
done
has_not "nothing is made" <(daybook queues list) bad
is "nor changed" "2592000000 0" "$(shows series retention_ms) $(shows series forget_done_ms)"
code "list" 0 daybook queues list
is "list" "NAME burst nightly series stock" "$(awk '{print $1}' out | paste -sd' ')"
code "list --json" 0 daybook queues list --json
is "list --json" "burst nightly series stock" "$(while read -r line; do field name <<<"$line"; done <out | paste -sd' ')"
code "a wrong name" 66 daybook queues stats stok
has "a wrong name" err "there is no queue 'stok'; did you mean 'stock'? There are burst, nightly, series, stock"
code "no name" 65 daybook queues show ""

# --- Add, remove
code "add" 0 daybook queues add stock a b c --payload '{"full": true}' --priority 2 --at 2099-01-01T00:00:00Z
has "add" err "stock: 3 added, 0 there already"
code "add again" 0 daybook queues add stock c d --json
is "add again" '{"added":1,"present":1}' "$(cat out)"
printf 'two\nlines\n' >payload
daybook queues add stock e --payload - <payload 2>err
is "a payload from stdin" $'two\nlines' "$(daybook tasks show stock e --json | field payload)"
code "a key that is none" 65 daybook queues add stock good ""
is "nothing of it" 5 "$(count stock members)"
code "a priority" 64 daybook queues add stock x --priority 10
code "an instant" 65 daybook queues add stock x --at tomorrow
code "remove asks" 64 daybook queues remove stock a
has "remove asks" err "--yes"
code "remove" 0 daybook queues remove stock a --yes --reason "sold out"
code "removed before" 66 daybook queues remove stock a b --yes
has "removed before" err "a: no such key"
has "the others are" err "b: removed"
is "three are left" 3 "$(count stock members)"
code "what is gone" 66 daybook tasks show stock a
has "what is gone" err "no such key: a; $me removed it at"
script -qec "daybook queues remove stock c" asked.out >/dev/null <<<n
has "asked on a terminal" asked.out "[y/N]"
is "not without a yes" 3 "$(count stock members)"

# --- Pause, resume, stats
code "pause" 0 daybook queues pause stock --reason "the partner is away"
is "paused" True "$(shows stock paused)"
is "who, what and why" "$me pause the partner is away" \
    "$(for f in actor action reason; do shows stock changes.-1.$f; done | paste -sd' ')"
code "paused before" 0 daybook queues pause stock
has "paused before" err "nothing to do"
is "that is no change" 4 "$(daybook queues show stock --json | python3 -c 'import json,sys; print(len(json.load(sys.stdin)["changes"]))')"
code "resume" 0 daybook queues resume stock
is "active" False "$(shows stock paused)"
code "active before" 0 daybook queues resume stock
has "active before" err "nothing to do"
daybook queues add stock late --at 2001-09-09T01:46:40Z 2>err
is "since when" "3 2001-09-09T01:46:40.000000Z 2099" \
    "$(count stock due) $(count stock oldest_due) $(count stock next_due | cut -c1-4)"
code "show" 0 daybook queues show stock
has "show" out "the oldest since 2001-09-09T01:46:40Z"
has "show" out "changed by people: 5"
code "stats of all" 0 daybook queues stats
is "stats of all" "NAME burst nightly series stock" "$(awk '{print $1}' out | paste -sd' ')"

# --- Import
daybook queues make many 2>err
seq 1 25000 >keys
code "import" 0 daybook queues import many keys --json
is "import" '{"added":25000,"present":0}' "$(cat out)"
has "what it took" err "/s"
is "one line on stderr" 1 "$(wc -l <err)"
code "import again" 0 daybook queues import many keys
has "import again" err "many: 0 added, 25000 there already"
printf 'x1\r\n\nx2' | daybook queues import many - 2>err
has "from stdin: CR, nothing, no end" err "many: 2 added"
is "CR is no part of it" waiting "$(daybook tasks show many x1 --json | field state)"
printf '%s\n' '{"key":"j1","payload":"text"}' '{"payload":{"a":[1,2]},"key":7001000}' '{"key":"j3","payload":null}' >lines
code "JSON lines" 0 daybook queues import many lines --json-lines
is "a text" text "$(daybook tasks show many j1 --json | field payload)"
is "all else as it was" '{"a":[1,2]}' "$(daybook tasks show many 7001000 --json | field payload)"
is "null is none" None "$(daybook tasks show many j3 --json | field payload)"
members=$(count many members)
bad() { # bad NAME WHY LINE
    printf '%s\n' '{"key":"before '"$1"'"}' "$3" '{"key":"after"}' >lines
    code "$1" 65 daybook queues import many lines --json-lines
    has "$1" err "lines, line 2: $2"
    has "$1: what stands before it" err "many: 1 added"
}
bad "no JSON" "no JSON object" '{"key": '
bad "an array" "no JSON object" '["a"]'
bad "no key" "it has no key" '{"payload":"a"}'
bad "a number" "its key is no text" '{"key":1.5}'
bad "another name" "'pay' is not known" '{"key":"a","pay":"b"}'
bad "an empty key" "" '{"key":""}'
bad "a zero byte" "its payload has a zero byte" '{"key":"a","payload":"a\u0000b"}'
bad "too much" "its payload has more than 1 MiB" "{\"key\":\"a\",\"payload\":\"$(printf '%01048577d' 0)\"}"
bad "too much, no text" "its payload has more than 1 MiB" "{\"key\":\"a\",\"payload\":[\"$(printf '%01048577d' 0)\"]}"
is "what stands before stays, what comes after does not" "$((members + 9))" "$(count many members)"
printf '{"key":"largest","payload":"%01048576d"}\n' 0 >lines
code "1 MiB" 0 daybook queues import many lines --json-lines
printf '\357\273\277marked\n\357\273\277not\n' >lines
code "a byte order mark" 0 daybook queues import many lines
code "is no part of the key" 0 daybook tasks show many marked
code "but where it begins no file" 0 daybook tasks show many $'\xef\xbb\xbfnot'
printf '\357\273\277{"key":"marked too"}' >lines
code "a byte order mark before JSON" 0 daybook queues import many lines --json-lines
has "a byte order mark before JSON" err "many: 1 added"
query="select 'q1' union all select 'q2' union all select null union all select 'q4'"
code "a query with a bad row" 65 daybook queues import many --query "$query"
has "a query with a bad row" err "row 3: its key is null; what stands before it is imported"
has "what stands before it" err "many: 2 added"
code "it is there" 0 daybook tasks show many q2
code "what stands behind it is not" 66 daybook tasks show many q4
code "no query" 65 daybook queues import many --query "drop table x"
has_not "nothing stands before that" err "what stands before"
printf 'good\n%300s\n' bad >lines
code "too long" 65 daybook queues import many lines
has "too long" err "lines, line 2:"
head -c 9000000 /dev/zero | tr '\0' x >long
code "a line without an end" 65 daybook queues import many long
has "a line without an end" err "long, line 1: longer than"
code "no file" 66 daybook queues import many nothing
has "no file" err "nothing: No such file"
code "a folder" 65 daybook queues import many .
code "no such queue to import to" 66 daybook queues import nothing keys

# --- Its bar, on a terminal only
cat >import.sh <<'END'
seq "$1" "$(($1 + 199))" | while read -r n; do echo "$n"; sleep 0.005; done | daybook queues import many -
END
began=$(date +%s%3N)
TERM=xterm python3 "$here/terminal.py" show 60 bash import.sh 91001 >bar.out
most=$((($(date +%s%3N) - began) / 100 + 2))
is "it is drawn" yes "$(grep -qP '\rmany  \d+  [\d.]+/s\x1b\[K' bar.out && echo yes)"
drawn=$(tr -cd '\033' <bar.out | wc -c)
is "more than once, and at most ten times a second" yes \
    "$( ((drawn > 2 && drawn <= most)) && echo yes || echo "$drawn, not $most")"
is "it is wiped, and the last line stays" yes \
    "$(tail -c 200 bar.out | grep -qP '\r\x1b\[Kdaybook: many: 200 added' && echo yes)"
TERM=xterm python3 "$here/terminal.py" show 12 bash import.sh 94001 >bar.out
is "as wide as the terminal at most" yes \
    "$(python3 -c 'import re,sys; print("yes" if all(len(x) < 12 for x in re.findall(r"\r([^\r\x1b]*)\x1b", open("bar.out").read())) else "no")')"
script -qec "TERM=dumb bash import.sh 92001" bar.out >/dev/null </dev/null
has "the last line, where the terminal cannot go back" bar.out "many: 200 added"
has_not "but no bar" bar.out $'\e[K'
bash import.sh 93001 2>bar.out
is "elsewhere nothing but the last line" 1 "$(wc -l <bar.out)"

finish
