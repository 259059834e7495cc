#!/bin/bash
# Tests of `daybook plans` with periods of the calendar, pages of a table, and events.
#
#   tests/command/plans_kinds_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
# shellcheck disable=SC2016,SC2317,SC2015
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"
# shellcheck source=tests/command/client.sh
. "$here/client.sh"
with_book
product=swept_$unique
sql <<END
create table $product (id int not null primary key, seen int not null);
insert into $product values (1, 0), (2, 0), (5, 0), (9, 0), (12, 0);
END
# lines FIELD: of each line of JSON, in one word
lines() { python3 -c '
import json, sys
print(" ".join(str(json.loads(line)[sys.argv[1]]) for line in sys.stdin))' "$1"; }

# Whose events nobody does but the plan.
daybook queues make events 2>err
# The days are those of one day: there is time enough before the next begins.
left=$((86400 - $(date +%s) % 86400))
((left > 180)) || sleep $left
today=$(date -u +%F)
day() { date -u -d "$today - $1 days" +%F; }
since=$(day 4)T00:00:00Z
cat >daybook.toml <<END
[[queue]]
name = "totals"
attempts = 1
command = ["sh", "-c", "echo {key} >>totals.log; ! [ -e bad.{key} ]"]

[[plan]]
name = "days"
kind = "window"
queue = "totals"
period = "day"
since = "$since"
again_after = "0s"
every = "100ms"

[[queue]]
name = "pages"
database_url = true
command = ["sh", "-c", "case {key} in */done) echo over;; *) daybook plans page all {key};; esac >>pages.log"]

[[plan]]
name = "all"
kind = "sweep"
queue = "pages"
table = "$product"
page = 2
every = "100ms"

[[queue]]
name = "work"
command = ["sh", "-c", "echo {key} >>work.log"]

[[plan]]
name = "in"
kind = "inbox"
queue = "work"
from = "events"
every = "100ms"
END

# --- Periods
code "days" 0 daybook plans run days --json
is "days: those that are over" 4 "$(field launched <out)"
code "the grid" 0 daybook plans grid days --json
is "the grid" "$(day 4) $(day 3) $(day 2) $(day 1)" "$(lines key <out)"
is "the grid: states" "waiting waiting waiting waiting" "$(lines state <out)"
code "the newest" 0 daybook plans grid days --newest-first --limit 1 --json
is "the newest" "$(day 1)" "$(lines key <out)"
has "a payload" <(daybook tasks show totals "$(day 4)" --json) "\\\"from\\\": \\\"$(day 4)T00:00:00Z\\\""
code "not launched yet" 66 daybook plans reopen days 2020-01-01
has "not launched yet" err "days: no period 2020-01-01 that was launched"

# --- All of it, by a daemon; a day fails until it does not
touch "bad.$(day 2)"
background daemon daemon
states() { daybook plans grid days --json 2>err | lines state; }
are() { [[ $(states) == "$1" ]]; }
if until_true $patience are "done done failed done"; then pass; else fail "a failed day: $(states)"; fi
# The next pass moves it.
up_to() { daybook plans grid days >out 2>err && grep -q "days: done up to $1T00:00:00Z" err; }
if until_true $patience up_to "$(day 2)"; then pass; else fail "up to which all is done: $(<err)"; fi
rm "bad.$(day 2)"
if until_true $patience are "done done done done"; then pass; else fail "it is launched again: $(states)"; fi
times() { [[ $(grep -cx "$2" totals.log) == "$1" ]]; }
code "late data" 0 daybook plans reopen days "$(day 3)" --reason "late data"
if until_true $patience times 2 "$(day 3)"; then pass; else fail "it is launched once more"; fi
until_true $patience are "done done done done"
is "and no other" 1 "$(grep -cx "$(day 4)" totals.log)"

# --- Pages
over() { grep -qx over pages.log 2>/dev/null; }
if until_true $patience over; then pass; else fail "the sweep ends"; fi
# Pages are done side by side; what is last is last.
rows() { grep -v over pages.log | sort -n | cat - <(tail -n 1 pages.log) | paste -sd' '; }
is "every row once" "1 2 5 9 12 over" "$(rows)"
code "sweeps" 0 daybook plans sweeps all --json
is "sweeps" "1 over 5 0" "$(for f in sweep state rows late; do field "$f" <out; done | paste -sd' ')"
sql <<<"delete from $product where id = 5;"
key=$(daybook tasks list pages --state succeeded --json 2>err | lines key | tr ' ' '\n' | grep -v done | sed -n 2p)
code "a page" 0 daybook plans page all "$key"
is "a page: what is there" "9" "$(paste -sd' ' <out)"
code "a page as it was" 0 daybook plans page all "$key" --seen --json
is "a page as it was" '["5"] ["9"]' "$(paste -sd' ' <out)"
code "no page" 66 daybook plans page all "all/1/77"
: >pages.log
code "another sweep" 0 daybook plans sweep all --reason "new prices"
if until_true $patience over; then pass; else fail "the second sweep ends"; fi
is "what is there now" "1 2 9 12 over" "$(rows)"
code "a plan of another kind" 65 daybook plans sweeps days
code "a plan of another kind" 65 daybook plans grid all

# --- Events
kill -TERM "$last"
wait "$last" 2>/dev/null
daybook queues add events e1 e2 e3 2>err
code "a drain" 0 daybook daemon --drain
is "each event once" "e1 e2 e3" "$(sort work.log | paste -sd' ')"
sql <<<"drop table $product;"
finish
