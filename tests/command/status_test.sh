#!/bin/bash
# Tests of `daybook status` and `daybook holders`, and of what lists say of work that nobody does.
#
#   tests/command/status_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"

code "no book" 78 daybook status --check
with_book
code "a new book" 0 daybook status --check
is "a new book" "well: no problems; processes alive: 0" "$(cat out)"
code "a new book, JSON" 0 daybook status --check --json
is "a new book, JSON" '{"well":true,"problems":[]}' "$(cat out)"
code "nobody" 0 daybook holders --json
is "nobody" "" "$(cat out)"

# --- A daemon that has nothing to do is seen
cat >daybook.toml <<'END'
[[schedule]]
name = "tock"
cron = "0 0 29 2 +MON"
command = ["sh", "-c", "echo $$ >tick.pid; test -e fixed || exec sleep 600"]

[[queue]]
name = "mail"
command = ["true"]
END
background daemon daemon --lease 2s
dead=$last
alive() { daybook holders | grep "$dead" | grep -q alive; }
if until_true $patience alive; then pass; else fail "an idle daemon is not listed"; fi
code "holders" 0 daybook holders --json
is "holders" "$dead alive [] $(uname -n)" \
    "$(field pid <out) $(field state <out) $(field work <out) $(field node <out)"
code "a daemon" 0 daybook status --check
is "a daemon" "well: no problems; processes alive: 1" "$(cat out)"

# --- It dies with a tick in hand
tick=$(daybook schedules trigger tock)
until_true $patience there tick.pid
code "in hand" 0 daybook schedules list
has "in hand" out "$tick, process $dead on $(uname -n)"
code "in hand, ticks" 0 daybook schedules ticks tock
has "in hand, ticks" out "running, process $dead on"
code "in hand, status" 0 daybook status
has "in hand, status" out "process $dead on $(uname -n), alive: tock $tick"
code "in hand, runs" 0 daybook runs list
has "in hand, runs" out "  $dead"
is "in hand, holders" "tock $tick" "$(daybook holders --json | field work.0.run) $(daybook holders --json | field work.0.key)"
kill -KILL "$dead"
wait "$dead" 2>/dev/null
found() { daybook status --check >out 2>err; [[ $? == 1 ]]; }
if until_true $patience found; then pass; else fail "a dead daemon is no problem"; fi
has "dead" out "act now: process $dead on $(uname -n): is dead, and has in hand: run tock $tick, since "
has "dead" out "; daybook daemon"
code "dead, JSON" 1 daybook status --check --json
is "dead, JSON" "False holder_dead act now" \
    "$(field well <out) $(field problems.0.kind <out) $(field problems.0.urgency <out)"
code "dead, status" 0 daybook status
has "dead, status" out "act now: process $dead on"
is "dead, status --json" holder_dead "$(daybook status --json | field problems.0.kind)"
code "dead, holders" 0 daybook holders
has "dead, holders" out "dead"
code "dead, schedules" 0 daybook schedules list
has "dead, schedules" out "active, overdue since "
has "dead, schedules" out "$tick, interrupted since "
code "dead, ticks" 0 daybook schedules ticks tock
has "dead, ticks" out "interrupted since "
has_not "dead, ticks" out "running"
is "dead, ticks --json" interrupted "$(daybook schedules ticks tock --json | field state)"
code "dead, runs" 0 daybook runs list
has "dead, runs" out "abandoned since "
has_not "dead, runs" out "running"
is "dead, runs --json" False \
    "$([[ $(daybook runs list --json | field abandoned_since) == None ]] && echo True || echo False)"

# --- Another goes on with it
touch fixed
background next daemon --lease 2s
well() { daybook status --check >out 2>err; }
if until_true $patience well; then pass; else fail "all is well, and a problem is told"; fi
code "taken over" 0 daybook holders
has_not "taken over" out "$dead"
code "taken over, all" 0 daybook holders --all
has "taken over, all" out "$dead"
kill -TERM "$last"
wait "$last"

# --- Tasks that nobody takes
code "due for long" 0 daybook queues add mail one --at 2020-01-01T00:00:00Z
code "not worked" 1 daybook status --check
is "not worked" "act now: queue mail: tasks are due: no process is alive in this book, since 2020-01-01T00:00:00Z; daybook daemon, with the file that declares it, or the program that works it" "$(cat out)"
code "not worked, stats" 0 daybook queues stats
has "not worked, stats" out "overdue since 2020-01-01T00:00:00Z"
is "not worked, stats --json" "2020-01-01T00:00:00.000000Z False" \
    "$(daybook queues stats mail --json | field overdue_since) $(daybook queues stats mail --json | field paused)"
code "pause" 0 daybook queues pause mail --reason "the partner is away"
code "paused" 1 daybook status --check
has "paused" out "look today: queue mail: is paused, and tasks are due, since "
has "paused" out "; daybook queues resume mail"
code "paused, stats" 0 daybook queues stats
has "paused, stats" out "paused"
code "resume" 0 daybook queues resume mail
code "work" 0 daybook daemon --drain
code "worked" 0 daybook status --check

finish
