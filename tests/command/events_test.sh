#!/bin/bash
# Tests of what the command tells of failures: last ones as errors with the command that mends them,
# counts and the code of a drain, the step that failed, the end of what a task printed, floods.
#
#   tests/command/events_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
# shellcheck disable=SC2016,SC2015
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"
# shellcheck source=tests/command/client.sh
. "$here/client.sh"

with_book
me_too="it's a \"key\""
# event FIELD NAME [FILE]: of the events of that name in a log in JSON, a field of the last
event() {
    python3 - "$1" "$2" "${3:-err}" <<'END'
import json, sys
all = [json.loads(line) for line in open(sys.argv[3])]
found = [one for one in all if one["event"] == sys.argv[2]]
print(found[-1].get(sys.argv[1]) if found else "no such event")
END
}
# is_no_event NAME [FILE]
is_no_event() { is "no $1" "no such event" "$(event level "$1" "${2:-err}")"; }
drain() { daybook daemon --drain --log json --config "$1.toml" "${@:2}"; }
# drains NAME CONFIG EVENT: until there is one such event, for a back-off lies in between
drains() {
    drains_to() { daybook daemon --drain --log json --config "$1.toml" >out 2>err </dev/null
        last_code=$?; grep -q "\"event\":\"$2\"" err; }
    if until_true $patience drains_to "$2" "$3"; then pass; else fail "$1: no $3"; fi
}
never="0 0 1 1 *"

# --- A tick: each attempt has failed, and the tick once
for name in leads patient; do
    cat >$name.toml <<END
[[schedule]]
name = "$name"
cron = "$never"
attempts = 2
backoff = "10ms"
command = ["sh", "-c", "echo on stdout; exit 3"]
END
done
sed -i 's/10ms/1h/' patient.toml
drain patient 2>err
daybook schedules trigger patient >out
code "an attempt that is tried again" 0 drain patient
is "an attempt that is tried again" warning "$(event level failed)"
is_no_event tick_failed
drain leads 2>err
tick=$(daybook schedules trigger leads)
drains "the last attempt" leads tick_failed
is "its code" 1 "$last_code"
is "it is an error" error "$(event level tick_failed)"
is "which schedule" leads "$(event schedule tick_failed)"
is "which tick" "$tick" "$(event key tick_failed)"
is "why" "exit status 3" "$(event text tick_failed)"
is "it is counted" 1 "$(event ticks_failed drained)"
remedy=$(event remedy tick_failed)
is "the remedy" "daybook schedules retry leads $tick" "$remedy"
code "the remedy mends" 0 sh -c "$remedy"
is "it is due again" due "$(daybook schedules ticks leads --json | field state)"
drains_text() { daybook daemon --drain --config leads.toml >out 2>err; grep -q ' error tick_failed schedule=leads' err; }
if until_true $patience drains_text; then pass; else fail "as text"; fi
has "as text: the remedy" err "remedy=\"daybook schedules retry leads $tick\""
code "nothing has failed since" 0 drain leads

# --- A task: tried again, then dead; what its command printed last is kept from both streams
cat >stock.toml <<'END'
[[queue]]
name = "stock"
attempts = 2
backoff = "1h"
workers = 1
command = ["sh", "-c", "echo 17 rows read; echo no such shelf >&2; exit 4"]
END
daybook daemon --drain --config stock.toml 2>err
daybook queues add stock "$me_too" 2>err
code "a task that is tried again" 0 drain stock
is "a task that is tried again" warning "$(event level failed)"
is_no_event task_dead
code "those that are tried again" 0 daybook tasks list stock --state retrying --json
is "those that are tried again" "$me_too waiting 1" "$(field key <out) $(field state <out) $(field attempts <out)"
code "for people" 0 daybook tasks list stock --state retrying
has "for people" out " retrying "
has "for people: why" out "exit status 4: no such shelf; stdout: 17 rows read"
code "it is due now" 0 daybook tasks run-now stock "$me_too"
code "the last attempt" 1 drain stock
is "it is an error" error "$(event level task_dead)"
is "which task" "stock $me_too 2 0" "$(for f in queue key attempts crashes; do event $f task_dead; done | paste -sd' ')"
is "both streams" "exit status 4: no such shelf; stdout: 17 rows read" "$(event text task_dead)"
is "it is counted" 1 "$(event tasks_dead drained)"
remedy=$(event remedy task_dead)
code "in the list" 0 daybook tasks list stock --state dead
has "in the list: why" out "exit status 4: no such shelf; stdout: 17 rows read"
code "in the list for programs" 0 daybook tasks list stock --state dead --json
is "in the list for programs" "exit status 4: no such shelf; stdout: 17 rows read" "$(field remark <out)"
code "shown" 0 daybook tasks show stock "$me_too"
has "shown" out "last remark  "
code "none is tried again" 0 daybook tasks list stock --state retrying --json
is "none is tried again" "" "$(cat out)"
code "the remedy mends" 0 sh -c "$remedy"
drain stock 2>err
has "it was done again" err '"event":"failed"'
code "a state that is none" 64 daybook tasks list stock --state again
has "a state that is none" err "suspect, discarded, retrying"
# ... a long error is shown in full, and shortened in the list
cat >long.sh <<'END'
printf 'x%.0s' {1..5000}
for i in {1..999}; do echo "row $i" >&2; done
echo the cause >&2
exit 4
END
cat >long.toml <<'END'
[[queue]]
name = "long"
attempts = 1
command = ["bash", "long.sh"]
END
daybook daemon --drain --config long.toml 2>err
daybook queues add long k 2>err
code "a long error" 1 drain long
code "a long error" 0 daybook tasks show long k --json
is "a long error: all that is kept" yes "$(python3 - <<'END'
import json, re
text = json.load(open("out"))["remark"]
wanted = r"exit status 4: (row \d+ \| ){60,}the cause; stdout: x{500,600}"
print("yes" if re.fullmatch(wanted, text) else text)
END
)"
code "a long error in the list" 0 daybook tasks list long --state dead
[[ $(wc -L <out) -lt 300 ]] && pass || fail "a long error in the list: too long"

# --- With a period, and a task whose outcome is unknown
cat >again.toml <<'END'
[[queue]]
name = "again"
period = "1d"
attempts = 1
command = ["sh", "-c", "exit 5"]

[[queue]]
name = "pay"
mode = "at-most-once"
command = ["sh", "-c", "exit 6"]
END
daybook daemon --drain --config again.toml 2>err
daybook queues add again k 2>err
daybook queues add pay p 2>err
code "with a period" 1 drain again
is "with a period" "error exit status 5" "$(event level task_failed) $(event text task_failed)"
is "with a period: counted" 1 "$(event tasks_failed drained)"
is "unknown" "error pay p exit status 6" "$(for f in level queue key text; do event $f unknown; done | paste -sd' ')"
is "unknown: counted" 1 "$(event unknown drained)"
remedy=$(event remedy unknown)
is "unknown: the remedy" "daybook tasks resolve --done|--not-done pay p" "$remedy"
code "unknown: the remedy mends" 0 sh -c "${remedy/|--not-done/} --yes"

# --- A tick whose outcome is unknown
cat >risky.toml <<END
[[schedule]]
name = "risky"
cron = "$never"
backoff = "10ms"
command = ["daybook", "step", "pay", "--mode", "at-most-once", "--", "sh", "-c", "exit 7"]
END
daybook daemon --drain --config risky.toml 2>err
tick=$(daybook schedules trigger risky)
drains "an unknown tick" risky unknown
is "an unknown tick: its code" 1 "$last_code"
is "an unknown tick" "error risky $tick" "$(for f in level schedule key; do event $f unknown; done | paste -sd' ')"
is_no_event tick_failed
remedy=$(event remedy unknown)
remedy=${remedy/|--not-done/ --yes}
code "an unknown tick: the remedy mends" 0 sh -c "$remedy"
is "an unknown tick: it is due again" due "$(daybook schedules ticks risky --json | field state)"

# --- A pass of a plan
sql <<<"create table events_$unique (id int)"
cat >plan.toml <<END
[[queue]]
name = "fulfil"
command = ["true"]

[[plan]]
name = "orders"
kind = "query"
queue = "fulfil"
query = "select id from events_$unique"
every = "100ms"
END
drain plan 2>err
sql <<<"insert into events_$unique values (null)"
drains "a pass" plan run_failed
is "a pass: its code" 1 "$last_code"
is "a pass" "error plan orders daybook plans show orders" \
    "$(for f in level schedule remedy; do event $f run_failed; done | paste -sd' ')"
code "a pass: the remedy shows it" 0 sh -c "$(event remedy run_failed)"

# --- The step that failed, that is in hand, and that was when the time was over
code "a step that fails" 3 daybook run nightly -- sh -ec 'daybook step load -- true; daybook step upload -- sh -c "exit 3"'
has "it is named" err "daybook: nightly: exit status 3; step upload failed"
is "it is named with the run" "exit status 3; step upload failed" "$(shown nightly error)"
is "it is named with the attempt" upload "$(shown nightly attempts.-1.step)"
code "it is named in the list" 0 daybook runs list
has "it is named in the list" out "exit status 3; step upload failed"
code "a failure of no step" 4 daybook run plain -- sh -c 'daybook step load -- true; exit 4'
is "a failure of no step" "exit status 4" "$(shown plain error)"
has_not "a failure of no step is silent" err "step"
code "a success names none" 0 daybook run fine -- sh -c 'daybook step load -- sh -c "exit 1"; daybook step rest -- true'
is "a success names none" "" "$(shown fine attempts.-1.step)"
code "the time is over" 124 daybook run late --timeout 2s -- daybook step wait -- sleep 60
has "the time is over" err "step wait "
background held run held --lease 1s -- daybook step wait -- sh -c 'until test -e go; do sleep 0.02; done'
in_hand() { [[ $("$daybook" runs show held --json 2>/dev/null | field holder.step 2>/dev/null) == wait ]]; }
if until_true $patience in_hand; then pass; else fail "the step in hand"; fi
code "the step in hand, in the list" 0 daybook runs list --process held
has "the step in hand, in the list" out "  wait  "
touch go
wait "$last"
is "it ends" 0 $?
cat >steps.toml <<END
[[schedule]]
name = "steps"
cron = "$never"
attempts = 1
command = ["daybook", "step", "upload", "--", "sh", "-c", "exit 3"]
END
daybook daemon --drain --config steps.toml 2>err
daybook schedules trigger steps >out
code "a step of a tick" 1 drain steps
is "a step of a tick" "exit status 3; step upload failed" "$(event text tick_failed)"

# --- A flood: so much of it in a minute, and how much was left out
cat >flood.toml <<END
[[schedule]]
name = "flood"
cron = "$never"
command = ["sh", "-c", "yes 'a line of the flood' | head -n 20000; echo the last line"]
END
daybook daemon --drain --config flood.toml 2>err
daybook schedules trigger flood >out
code "a flood" 0 drain flood
[[ $(wc -c <err) -lt 200000 ]] && pass || fail "a flood: the log has $(wc -c <err) bytes"
is "a flood: how much was left out" "warning flood" "$(event level output_left_out) $(event schedule output_left_out)"
[[ $(event bytes output_left_out) -gt 300000 ]] && pass || fail "a flood: left out $(event bytes output_left_out)"
daybook schedules trigger flood >out
code "a flood, all of it" 0 drain flood --log-limit 4000
is_no_event output_left_out
has "a flood, all of it" err "the last line"
daybook schedules trigger flood >out
code "a flood, none of it" 0 drain flood --log-limit 0
is_no_event output
code "no limit" 64 drain flood --log-limit some
finish
