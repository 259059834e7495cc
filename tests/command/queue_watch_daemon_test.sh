#!/bin/bash
# Tests of `daybook daemon` with queues that follow a table or are done in rounds: what it makes and
# does not make, what it tells, when it compares, and which keys wait.
#
#   tests/command/queue_watch_daemon_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
# shellcheck disable=SC2016,SC2317
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"
# shellcheck source=tests/command/client.sh
. "$here/client.sh"

with_book
product=product_$unique
row() { sql <<<"insert into $product (code) values ('$1');"; }
shows() { daybook queues show "$1" --json 2>err | field "$2"; }
all_of() { daybook tasks list "$1" --state "$2" --json 2>err | while read -r line; do field key <<<"$line"; done | sort | paste -sd' '; }
done_are() { [[ $(sort "$1.log" 2>/dev/null | paste -sd' ') == "$2" ]]; }
# done_is NAME QUEUE KEYS: so many come to have been done, each once
done_is() { if until_true $patience done_are "$2" "$3"; then pass; else fail "$1: $(paste -sd' ' "$2.log")"; fi; }
# tells NAME LOG TEXT: a line of it comes
tells() { if until_true $patience grep -qsF -- "$3" "$2"; then pass; else fail "$1: no '$3': $(cat "$2")"; fi; }
times() { grep -cF -- "$2" "$1"; }
# serve LOG: a daemon in the background, its pid in $last
serve() {
    background "$1" daemon --config both.toml --poll 50ms
    until_true $patience grep -qs " ready " "$1.err" || fail "$1: not ready: $(cat "$1.err")"
}
# reload LOG HOW-OFTEN: by now
reloads() { (($(grep -c " reloaded" "$1") >= $2)); }
reload() {
    kill -HUP "$last"
    until_true $patience reloads "$1.err" "$2" || fail "not reloaded: $(cat "$1.err")"
}
stops() {
    kill -TERM "$2"
    until_true $patience gone "$2" || kill -KILL "$2"
    wait "$2"
    is "$1" 0 $?
}
# both ON_NEW: a queue that follows the table, and one of rounds. Neither cron comes by itself.
both() {
    cat >both.toml <<END
[[queue]]
name = "stock"
watch = { table = "$product", key = "code" }
reconcile = "0 0 29 2 *"
command = ["./does.sh", "stock", "{key}"]

[[queue]]
name = "nightly"
rounds = "0 0 29 2 *"
on_new = "$1"
command = ["./does.sh", "nightly", "{key}"]
END
}
printf '%s\n' '#!/bin/sh' 'echo "$2" >>"$1.log"' >does.sh && chmod +x does.sh
sql <<<"create table $product (code varchar(300) not null primary key);"
row old
both next-round

# --- It makes queue and schedules, and no triggers; says so once
serve first
tells "no triggers" first.err "no_triggers queue=stock table=$product"
has "and what to do" first.err "daybook queues watch stock --install"
is "none are made" "$product code False" \
    "$(for f in table key installed; do shows stock follows.$f; done | paste -sd' ')"
is "its schedules" "nightly/rounds stock/reconcile" \
    "$(daybook schedules list --json | while read -r line; do field name <<<"$line"; done | sort | paste -sd' ')"
reload first 1
is "said once" 1 "$(times first.err no_triggers)"

# --- It compares once a day with the upkeep, and when its schedule says; and does what it finds
tells "upkeep" first.err "done schedule=upkeep key=stock/"
done_is "of before" stock "old"
row a
row b
is "not before it is time" "old" "$(all_of stock succeeded)"
code "compare" 0 daybook schedules trigger stock/reconcile
tells "compared" first.err "reconciled queue=stock added=2 removed=0"
done_is "all rows" stock "a b old"
sql <<<"delete from $product where code = 'a';"
row c
code "again" 0 daybook schedules trigger stock/reconcile
tells "both ways" first.err "reconciled queue=stock added=1 removed=1"
done_is "the new one" stock "a b c old"
is "the other is gone" "b c old" "$(all_of stock succeeded)"

# --- With triggers, which a person makes, it need not compare
code "install" 0 daybook queues watch stock --install
row d
done_is "at once" stock "a b c d old"
is "not compared for that" 2 "$(times first.err reconciled)"

# --- Rounds: what comes between them waits for the next, or does not
code "add" 0 daybook queues add nightly x y
row e  # by then it has looked again
done_is "meanwhile" stock "a b c d e old"
is "before the first round" "x y" "$(all_of nightly waiting)"
sleep 1.1  # a key is due from the next whole second on, and a round takes what is due before it
code "a round" 0 daybook schedules trigger nightly/rounds
done_is "the round" nightly "x y"
code "add one" 0 daybook queues add nightly z
row f
done_is "meanwhile again" stock "a b c d e f old"
is "it waits" z "$(all_of nightly waiting)"
both now
reload first 2
is "told" now "$(shows nightly on_new)"
code "add another" 0 daybook queues add nightly w
done_is "at once by now" nightly "w x y"
is "the other waits still" z "$(all_of nightly waiting)"
sleep 1.1
code "the next round" 0 daybook schedules trigger nightly/rounds
tells "all again" nightly.log z
stops "stopped" "$last"

# --- Where there are triggers nothing is said
serve second
row g
done_is "goes on" stock "a b c d e f g old"
is "nothing to say" 0 "$(times second.err no_triggers)"

# --- A table that is gone: told, and the queues go on
sql <<<"drop table $product;"
code "compare with nothing" 0 daybook schedules trigger stock/reconcile
tells "a table that is gone" second.err "$product"
code "the others go on" 0 daybook queues add nightly v
tells "they do" nightly.log v
stops "stopped again" "$last"

finish
