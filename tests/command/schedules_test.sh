#!/bin/bash
# Tests of `daybook schedules`: what comes, what became of it, and what people do.
#
#   tests/command/schedules_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
# shellcheck disable=SC2016
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"

# --- Next, without any book
next() { daybook schedules next "$@" 2>err; }
nowhere() { env -u DAYBOOK_DATABASE_URL "$daybook" schedules next "$@"; }
ticks_of() { next "$@" --json | python3 -c 'import json,sys; print(*[json.loads(l)["tick"][5:16] for l in sys.stdin])'; }
berlin=(--cron '30 2 * * *' --zone Europe/Berlin)
code "next" 0 nowhere "${berlin[@]}" --from 2027-03-27T02:00:00Z --count 2
is "next, in UTC and local" "2027-03-28T01:00:00Z 2027-03-28T03:00:00 +02:00 CEST" \
    "$(sed -n 2p out | tr -s ' ')"
is "the header and two" 3 "$(wc -l <out)"
is "no database was made" no "$([[ -e daybook.db ]] && echo yes || echo no)"
code "next --json" 0 nowhere "${berlin[@]}" --from 2027-03-27T02:00:00Z --count 1 --json
is "next --json" '{"tick":"2027-03-28T01:00:00.000000Z","local":"2027-03-28T03:00:00+02:00","zone":"Europe/Berlin","abbreviation":"CEST","offset_s":7200,"daylight":true}' \
    "$(cat out)"
is "--gap skip" "03-29T00:30" "$(ticks_of "${berlin[@]}" --gap skip --from 2027-03-27T02:00:00Z --count 1)"
is "--fold both" "10-31T00:30 10-31T01:30" \
    "$(ticks_of "${berlin[@]}" --fold both --from 2027-10-30T12:00:00Z --count 2)"
is "--fold second" "10-31T01:30" "$(ticks_of "${berlin[@]}" --fold second --from 2027-10-30T12:00:00Z --count 1)"
is "after, not at" "01-02T00:00" "$(ticks_of --cron @daily --from 2027-01-01T00:00:00Z --count 1)"
is "an offset" "01-01T00:00" "$(ticks_of --cron @daily --from 2027-01-01T01:59:59+02:00 --count 1)"
is "places" "01-02T00:00" "$(ticks_of --cron @daily --from 2027-01-01T00:00:00.000001Z --count 1)"
code "a past local time" 0 nowhere --cron '0 12 * * *' --zone Africa/Monrovia --from 1950-01-01T00:00:00Z --count 1
has "a past local time" out "12:00:00  -00:44:30"
for from in 2027-01-01 2027-02-30T00:00:00Z 2027-01-01T24:00:00Z 2027-01-01T00:00:00 \
    2027-01-01T00:00:00.Z 2027-01-01T00:00:00.1234567Z 2027-01-01T00:00:00+2:00 x 2027-01-01T00:0-:00Z; do
    code "--from $from" 65 nowhere --cron @daily --from $from
    has "--from $from" err "is no instant"
done
code "a bad expression" 65 nowhere --cron '0 0 30 2 *'
code "a bad zone" 65 nowhere --cron @daily --zone Mars/Base
code "neither" 64 nowhere
code "both" 64 nowhere one --cron @daily
code "a zone for a name" 64 nowhere one --zone UTC
code "a gap for a name" 64 nowhere one --gap skip
code "a word that is none" 64 nowhere --cron @daily --gap sometimes
code "no such name" 78 daybook schedules next one --db sqlite:nothing.db

# --- A book with schedules: a daemon makes them, and ends, for nothing is due.
cat >daybook.toml <<'END'
[[schedule]]
name = "tock"
cron = "0 0 29 2 +MON"
zone = "Europe/Berlin"
overlap = "queue"
command = ["sh", "-c", "echo {window_start} {window_end} {tick} {key} >>tock.log"]

[[schedule]]
name = "once"
cron = "H H 29 2 +MON"
attempts = 1
env = { WHY = "nothing" }
command = ["sh", "-c", "echo {window_start} {window_end} >>once.log; test -e fixed || {{ echo $WHY fixed; exit 3; }"]
END
code "a name in the file" 0 daybook schedules next once --count 1
has "a name in the file" err "as it is in daybook.toml"
before=$(cat out)
code "no book" 78 daybook schedules next nothing --db sqlite:nothing.db
with_book
code "a name in the file, beside a book" 0 daybook schedules next once --count 1
code "no such schedule" 66 daybook schedules next nothing
code "none yet" 0 daybook schedules list --json
is "none yet" "" "$(cat out)"
drain() { daybook daemon --drain >out 2>err </dev/null; }
code "a drain" 0 daybook daemon --drain
has "a drain" err "drained attempts=0"
code "list" 0 daybook schedules list
is "list" "once tock" "$(awk 'NR > 1 {print $1}' out | paste -sd' ')"
code "list --json" 0 daybook schedules list --json
is "list --json" "2 lines, tock" "$(wc -l <out) lines, $(tail -1 out | field name)"
is "zone" Europe/Berlin "$(tail -1 out | field zone)"
is "overlap" queue "$(tail -1 out | field overlap)"
is "next" 2044-02-28T23:00:00.000000Z "$(tail -1 out | field next)"
code "by name" 0 daybook schedules next once --count 1
is "the same as of the file" "$before" "$(cat out)"
has_not "by name, from the book" err "daybook.toml"

shows() { daybook schedules show "$1" --json 2>err | field "$2"; }
ticks() { daybook schedules ticks "$@" --json 2>err; }
me="$(id -un)@$(uname -n)"

# --- Trigger
code "trigger" 0 daybook schedules trigger tock --reason "the partner lost the file"
tick=$(cat out)
is "it is due" "due True 1" "$(ticks tock | field state) $(ticks tock | field by_hand) $(ticks tock | wc -l)"
drain
has "launched" err "started schedule=tock key=$tick"
is "its words" "$(ticks tock | field window_start | sed 's/\.000000Z/Z/') $tick $tick $tick" "$(cat tock.log)"
is "done" "done" "$(ticks tock | field state)"
is "who, of the tick's run" "$me" "$(daybook runs show tock --key "$tick" --json | field changes.0.actor)"
is "why, of the tick's run" "the partner lost the file" \
    "$(daybook runs show tock --key "$tick" --json | field changes.0.reason)"
daybook schedules trigger tock >out
drain
is "windows tile" "$(sed -n 1p tock.log | cut -d' ' -f2)" "$(sed -n 2p tock.log | cut -d' ' -f1)"
code "no such schedule to trigger" 66 daybook schedules trigger nothing
code "no name" 65 daybook schedules trigger ""

# --- A failure, and another try
tick=$(daybook schedules trigger once)
drain
has "it failed" err 'failed schedule=once'
is "failed" "failed 1" "$(ticks once | field state) $(ticks once | field failures)"
is "why" "exit status 3" "$(ticks once | field reason)"
is "its code and output are kept" "3 nothing fixed" \
    "$(daybook runs show once --key "$tick" --json | field attempts.0.exit_code) $(daybook runs show once --key "$tick" --json | field attempts.0.output | sed '/^$/d')"
code "ticks" 0 daybook schedules ticks once --state failed
has "ticks" out "$tick"
has "ticks" out "exit status 3"
code "no such state" 64 daybook schedules ticks once --state lost
has "no such state" err "lost: no state; there are due, running, done, failed, skipped"
code "a tick that has not failed" 66 daybook schedules retry once 2027-01-01T00:00:00Z
code "no instant" 65 daybook schedules retry once yesterday
touch fixed
code "retry" 0 daybook schedules retry once "$tick" --reason "fixed"
drain
is "done" "done" "$(ticks once | field state)"
is "in the same window" "$(sed -n 1p once.log)" "$(sed -n 2p once.log)"
code "done is not failed" 66 daybook schedules retry once "$tick"
is "--limit" 1 "$(ticks tock --limit 1 | wc -l)"
newest=$(ticks tock --limit 1 | field tick)
is "--before, the next page" 1 "$(ticks tock --before "$newest" | wc -l)"
code "a limit" 64 daybook schedules ticks tock --limit 0

# --- Pause, resume, remove
code "pause" 0 daybook schedules pause tock --reason "the partner is away"
is "paused" paused "$(shows tock state)"
is "nothing comes" None "$(shows tock next)"
is "who" "$me" "$(shows tock changes.0.actor)"
is "what and why" "pause the partner is away" "$(shows tock changes.0.action) $(shows tock changes.0.reason)"
code "paused before" 0 daybook schedules pause tock
has "paused before" err "nothing to do"
daybook schedules trigger tock >out
drain
is "by hand, although paused" 3 "$(wc -l <tock.log)"
is "a start does not resume it" paused "$(shows tock state)"
code "resume" 0 daybook schedules resume tock
is "active" active "$(shows tock state)"
code "active before" 0 daybook schedules resume tock
has "active before" err "nothing to do"
code "show" 0 daybook schedules show tock
has "show" out "changed by people: 2"
code "remove asks" 64 daybook schedules remove tock
has "remove asks" err "--yes"
is "it is still there" active "$(shows tock state)"
script -qec "daybook schedules remove tock" asked.out >/dev/null <<<n
has "asked on a terminal" asked.out "[y/N]"
is "not without a yes" active "$(shows tock state)"
code "remove" 0 daybook schedules remove tock --yes
is "removed" removed "$(shows tock state)"
is "not listed" once "$(daybook schedules list --json | field name)"
is "its ticks are kept" 3 "$(ticks tock | grep -c '"done"')"
code "removed before" 0 daybook schedules remove tock --yes
has "removed before" err "nothing to do"
drain
is "the file makes it again" active "$(shows tock state)"
for verb in show ticks pause resume "remove --yes"; do
    # shellcheck disable=SC2086
    code "$verb of nothing" 66 daybook schedules ${verb%% *} nothing ${verb#"${verb%% *}"}
done

# --- Nothing is scheduled by half
sed 's/tock/tick/; s/"H H 29/"H H 30/' daybook.toml >bad.toml
code "a wrong file" 65 daybook daemon --drain --config bad.toml
has "a wrong file" err "bad.toml, line 10, column 8: cron"
is "not even the first of it" "once tock" \
    "$(daybook schedules list | awk 'NR > 1 {print $1}' | paste -sd' ')"

finish
