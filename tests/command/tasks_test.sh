#!/bin/bash
# Tests of `daybook tasks`: how tasks stand, and what people ask for.
#
#   DAYBOOK_TEST_WORKER=PATH tests/command/tasks_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
here=$(dirname "$(readlink -f "$0")")
worker=$(readlink -f "${DAYBOOK_TEST_WORKER:?path of the worker of these tests}")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"
with_book
me="$(id -un)@$(uname -n)"
shows() { daybook tasks show "$1" "$2" --json 2>err | field "$3"; }
state() { shows "$1" "$2" state; }
keys() { daybook tasks list "$@" --json 2>err | while read -r line; do field key <<<"$line"; done | paste -sd' '; }
works() { "$worker" "$@" </dev/null | sort | paste -sd' '; }

# --- List, in pages
daybook queues make once --attempts 1 2>err
daybook queues add once a b c d e --payload '{}' 2>err
code "list" 0 daybook tasks list once
is "list" "KEY a b c d e" "$(awk '{print $2}' out | paste -sd' ')"
is "a page" "a b" "$(keys once --limit 2)"
after=$(daybook tasks list once --limit 2 --json | tail -1 | field id)
is "the next page" "c d" "$(keys once --limit 2 --after "$after")"
code "there is more" 0 daybook tasks list once --limit 2
has "there is more" err "there may be more: --after $after"
is "none is running" "" "$(keys once --state running)"
code "no such state" 64 daybook tasks list once --state lost
has "no such state" err "suspect, discarded"
code "a limit" 64 daybook tasks list once --limit 0
code "no such queue" 66 daybook tasks list ones
has "no such queue" err "there is no queue 'ones'; there are once"

# --- Show
code "show" 0 daybook tasks show once a
has "show" out "state           waiting"
is "its fields" "a {} waiting 0 5 0 0" \
    "$(for f in key payload state state_code priority attempts crashes; do shows once a $f; done | paste -sd' ')"
code "no such key" 66 daybook tasks show once x
has "no such key" err "once: no such key: x"
mkfifo go
"$worker" once hold <go >held &
holder=$!
exec 7>go
if until_true $patience grep -q held held; then pass; else fail "in hand"; fi
is "in hand" "a running" "$(head -1 held) $(state once a)"
is "all of them" "$(grep -v held held | paste -sd' ')" "$(keys once --state running)"
is "whose" yes "$([[ -n $(shows once a holder) && $(shows once a holder) != None ]] && echo yes)"
exec 7>&-
wait "$holder"
is "handed back" waiting "$(state once a)"

# --- What is over for good, and another try
is "all fail" "a b c d e" "$(works once failure "the partner says no")"
is "dead" dead "$(state once a)"
is "why" "dead the partner says no" "$(shows once a outcomes.0.state) $(shows once a outcomes.0.remark)"
code "show" 0 daybook tasks show once a
has "show" out "the partner says no"
is "status counts them" 5 "$(daybook status --json | field tasks_dead)"
has "status tells who decides" <(daybook status) "tasks list QUEUE --state dead"
code "run-now of the dead" 66 daybook tasks run-now once a
has "run-now of the dead" err "it is dead and waits for a person; use tasks retry"
code "retry" 0 daybook tasks retry once a --reason "they have changed their mind"
has "retry" err "once: a: is tried again with the next claim"
is "who" "$me retry they have changed their mind" \
    "$(for f in actor action reason; do shows once a changes.0.$f; done | paste -sd' ')"
is "the next claim does it" a "$(works once success)"
is "it is done" succeeded "$(state once a)"
is "both outcomes, the newest first" "succeeded dead" "$(shows once a outcomes.0.state) $(shows once a outcomes.1.state)"
code "one of two" 66 daybook tasks retry once x b
has "one of two" err "x: no such key"
is "the other is" b "$(works once failure again)"

# --- All of a state
code "all of them ask" 64 daybook tasks retry once --state dead --all
has "all of them ask" err "--yes"
code "not without --all" 64 daybook tasks retry once --state dead --yes
code "not with keys" 64 daybook tasks retry once a --state dead --all --yes
code "neither" 64 daybook tasks retry once --yes
code "not of those" 64 daybook tasks run-now once --state waiting --all --yes
has "not of those" err "there are failed, discarded"
code "all of them" 0 daybook tasks retry once --state dead --all --yes --reason "all of them have"
has "all of them" err "once: 4 tasks that are dead: each is tried again with the next claim"
is "of the queue" "retry all of them have" \
    "$(for f in action reason; do daybook queues show once --json | field changes.-1.$f; done | paste -sd' ')"
is "all come" "b c d e" "$(works once failure "no again")"

# --- Discard
code "discard asks" 64 daybook tasks discard once b
script -qec "daybook tasks discard once b" asked.out >/dev/null <<<n
has "asked on a terminal" asked.out "[y/N]"
is "nothing comes" "" "$(works once success)"
is "not without a yes" dead "$(state once b)"
code "discard" 0 daybook tasks discard once b c --yes
is "with the next claim" "" "$(works once success)"
is "given up" "discarded discarded" "$(state once b) $(state once c)"
is "listed so" "b c" "$(keys once --state discarded)"

# --- In front
daybook queues make crowd 2>err
daybook queues add crowd a b c 2>err
daybook queues add crowd c --priority 2 2>err
has "priority of one that is there" err "0 added, 1 there already, with priority 2 from the next claim on"
code "run-now behind another" 0 daybook tasks run-now crowd b
is "nothing is claimed yet" 5 "$(shows crowd c priority)"
is "then" "a b c" "$(works crowd success)"
is "its priority" 2 "$(shows crowd c priority)"
code "priority" 0 daybook tasks priority crowd b --to 9 --reason "can wait"
code "of nobody" 66 daybook tasks priority crowd nobody --to 9
code "no priority" 64 daybook tasks priority crowd b --to 10

# --- A queue with a period: due now, at its turn
daybook queues make often --period 10d 2>err
daybook queues add often k l 2>err
is "done" "k l" "$(works often success)"
is "not again" "" "$(works often success)"
code "run-now" 0 daybook tasks run-now often k
is "only that" k "$(works often success fine)"
is "its remark" fine "$(shows often k remark)"

# --- Unknown
daybook queues make careful --mode at-most-once 2>err
daybook queues add careful p q r 2>err
is "nobody knows" "p q r" "$(works careful unknown "the line was cut")"
is "unknown" "unknown" "$(state careful p)"
code "which way" 64 daybook tasks resolve careful p --yes
code "both ways" 64 daybook tasks resolve careful p --done --not-done --yes
code "resolve asks" 64 daybook tasks resolve careful p --done
code "done" 0 daybook tasks resolve careful p --done --yes
code "not done" 0 daybook tasks resolve careful q --not-done --yes
is "that comes again" q "$(works careful success)"
is "the others do not" "succeeded succeeded unknown" "$(state careful p) $(state careful q) $(state careful r)"
code "it is known by now" 66 daybook tasks resolve careful p --done --yes
has "it is known by now" err "its outcome is not unknown, it is succeeded"
code "the rest" 0 daybook tasks resolve careful --state unknown --all --done --yes
is "nothing comes" "" "$(works careful success)"
is "all are known" succeeded "$(state careful r)"

for verb in list "show x" "run-now x" "retry x" "discard x --yes" "resolve x --done --yes"; do
    # shellcheck disable=SC2086
    code "$verb of nothing" 66 daybook tasks ${verb%% *} nothing $([[ $verb == *" "* ]] && echo "${verb#* }")
done

finish
