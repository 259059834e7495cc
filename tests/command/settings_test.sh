#!/bin/bash
# Tests of daybook.toml: what is right is taken, what is wrong is said with line and column.
#
#   tests/command/settings_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"

# base: a schedule of four lines; what follows on stdin is line 5 and more
base() { printf '[[schedule]]\nname = "one"\ncron = "0 0 * * *"\ncommand = ["true"]\n'; cat; }
# right NAME <FILE
right() {
    cat >daybook.toml
    code "$1" 0 daybook schedules next one --count 1
}
# wrong NAME LINE COLUMN MESSAGE <FILE
wrong() {
    cat >daybook.toml
    code "$1" 65 daybook schedules next one
    has "$1" err "daybook.toml, line $2, column $3: $4"
    code "$1, the daemon" 65 daybook daemon
    has "$1, the daemon" err "line $2, column $3"
}

right "the least" < <(base </dev/null)
right "everything" < <(base <<'END'
zone = "Asia/Shanghai"
gap = "skip"
fold = "both"
catch_up = "all"
most = 100000
grace = "1s"
overlap = "queue"
attempts = 1000
backoff = "0s"
longest_backoff = "365d"
crash_limit = 100
keep = 10
timeout = "1ms"
env = { LANG = "C", EMPTY = "" }
END
)
is "in its zone" +08:00 "$(daybook schedules next one --count 1 --json 2>err | field local | tail -c 7)"
right "a longer first back-off" < <(base <<<'backoff = "2h"')
right "braces" <<'END'
[[schedule]]
name = "one"
cron = "H H * * *"
command = ["{schedule}", "{{{tick}}", "{window_start}{window_end}", "}", "{key}", ""]
END

# One mistake each: its line and column, and the words for it. The line is the file's fifth.
while IFS='|' read -r line column message; do
    wrong "$line" 5 "$column" "$message" < <(base <<<"$line")
done <<'END'
nmae = "two"|1|'nmae' is not known in a [[schedule]]; did you mean 'name'? There are name, cron, zone,
zone = "Mars/Base"|8|zone: time zone 'Mars/Base' is not in
zone = "../../etc/passwd"|8|zone: 
zone = 8|8|zone: a text is wanted, in quotes
gap = "before"|7|gap: 'before' is not known; there are after, skip
fold = "third"|8|fold: 'third' is not known; there are first, second, both
catch_up = "some"|12|catch_up: 'some' is not known; there are last, all, skip
overlap = true|11|overlap: a text is wanted
most = 0|8|most: 0 is not from 1 to 100000
most = 100001|8|most: 100001 is not from
most = "5"|8|most: a whole number is wanted, without quotes
most = 5.0|8|most: a whole number is wanted
grace = "366d"|9|grace: 366d is not from 1s to 365d
grace = "0s"|9|grace: 0s is not from 1s to 365d
grace = "1500ms"|9|grace: whole seconds are wanted
attempts = 0|12|attempts: 0 is not from 1 to 1000
attempts = 9223372036854775808|31|Error while parsing
backoff = 60|11|backoff: a length of time is wanted
backoff = "1 m"|11|backoff: a length of time is wanted
backoff = "-1m"|11|backoff: a length of time is wanted
longest_backoff = "1s"|19|longest_backoff: shorter than the first one, 1m
crash_limit = 101|15|crash_limit: 101 is not from
keep = 9|8|keep: 9 is not from 10 to
timeout = "0s"|11|timeout: 0s is not from 1ms
env = { DAYBOOK_RUN = "x" }|7|env: DAYBOOK_... is set by us
env = { LANG = 1 }|16|env: a text is wanted
database_url = "no"|16|database_url: true or false is wanted
env = [ "LANG" ]|7|env: a table of texts is wanted
command = ["false"]|11|Error while parsing
[queues]|2|'queues' is not known; did you mean 'queue'? There are database, [[schedule]], [[queue]], [[plan]], [[aggregate]], [[hook]], on_problem and [alerts]
[queue]|1|a queue is a table in double brackets: [[queue]]
[[schedule]]|1|a [[schedule]] needs a name
zone = "UTC|12|Error while parsing
END

# The third line is the cron text: the place inside it is said as well.
while IFS='|' read -r text message; do
    wrong "cron $text" 3 8 "cron: $message" <<END
[[schedule]]
name = "one"
cron = "$text"
command = ["true"]
END
done <<'END'
61 * * * *|cron expression '61 * * * *', character 1: minute '61'
0 25 * * *|cron expression '0 25 * * *', character 3: hour '25'
* * * *|cron expression '* * * *': five fields are needed
0 0 30 2 *|cron expression '0 0 30 2 *': there is no such day
END

# The fourth is the command.
while IFS='|' read -r words column message; do
    wrong "command $words" 4 "$column" "command: $message" <<END
[[schedule]]
name = "one"
cron = "@daily"
command = $words
END
done <<'END'
"true"|11|an array of texts is wanted
[]|11|its first word names the program
[""]|12|its first word names the program
["a", 1]|17|a text is wanted
["a", "--from={windowstart}"]|17|character 8: no placeholder is named 'windowstart'; there are {tick}, {window_start}, {window_end}, {key}, {schedule}, and {{ is a brace
["{tick"]|12|character 1: a placeholder has no end
["{}"]|12|character 1: no placeholder is named ''
["a\u0000b"]|12|a word cannot hold a zero byte
END

wrong "a name twice" 7 8 "name: there is a schedule 'one' above" < <(base <<'END'

[[schedule]]
name = "one"
cron = "@daily"
command = ["true"]
END
)
# (the empty line is the fifth)
wrong "no cron" 1 1 "a [[schedule]] needs a cron" <<'END'
[[schedule]]
name = "one"
command = ["true"]
END
wrong "no command" 1 1 "a [[schedule]] needs a command" <<'END'
[[schedule]]
name = "one"
cron = "@daily"
END
wrong "an empty name" 2 8 "name: " <<'END'
[[schedule]]
name = ""
cron = "@daily"
command = ["true"]
END
wrong "one bracket" 1 1 "a schedule is a table in double brackets" <<'END'
[schedule]
name = "one"
END
code "a verb that needs no schedule" 65 env -u DAYBOOK_DATABASE_URL "$daybook" status
has "a verb that needs no schedule" err "double brackets"

# --- [[queue]], four lines as well
queue() { printf '[[queue]]\nname = "stock"\nperiod = "10d"\ncommand = ["sync", "{key}"]\n'; cat; }
# queue_right NAME <FILE: beside a schedule to look at
queue_right() { right "$1" < <(cat; base </dev/null); }
queue_right "the least queue" < <(queue </dev/null)
queue_right "everything of a queue" < <(queue <<'END'
grain = "10d"
cadence = "finish"
mode = "at-most-once"
attempts = 1000
backoff = "0s"
longest_backoff = "365d"
crash_limit = 100
limit = 1000000
rate = "1000000/s"
burst = 1000000
rounds = "H 2 * * *"
zone = "Asia/Shanghai"
on_new = "now"
watch = { table = "product", key = "code" }
reconcile = "H * * * *"
retention = "1h"
segment = 1
workers = 1000
timeout = "1ms"
env = { LANG = "C" }
END
)
queue_right "a queue of batches" <<'END'
[[queue]]
name = "mail"
batch = 10000
rate = "1/d"
command = ["send", "{queue}"]
END
while IFS='|' read -r line column message; do
    wrong "$line" 5 "$column" "$message" < <(queue <<<"$line")
done <<'END'
nmae = "two"|1|'nmae' is not known in a [[queue]]; did you mean 'name'? There are name, period, grain,
grain = "11d"|9|grain: longer than the period
grain = "1ms"|9|grain: 1ms is not from 1s
cadence = "start"|11|cadence: 'start' is not known; there are turn, finish
mode = "tx"|8|mode: 'tx' is for handlers in a program: a command cannot share a transaction with us
mode = "twice"|8|mode: 'twice' is not known; there are at-least-once, at-most-once
attempts = 1001|12|attempts: 1001 is not from 1 to 1000
backoff = 30|11|backoff: a length of time is wanted
longest_backoff = "1s"|19|longest_backoff: shorter than the first one, 30s
crash_limit = 0|15|crash_limit: 0 is not from 1 to 100
limit = 0|9|limit: 0 is not from 1 to 1000000
rate = "50"|8|rate: a number from 1 to 1000000 and a time are wanted
rate = "0/s"|8|rate: a number from 1
rate = "-1/s"|8|rate: a number from 1
rate = "1000001/s"|8|rate: a number from 1
rate = "50/w"|8|rate: a number from 1
rate = "5.5/s"|8|rate: a number from 1
rate = 50|8|rate: a text is wanted
burst = 0|9|burst: 0 is not from 1 to 1000000
rounds = "61 * * * *"|10|rounds: cron expression '61 * * * *', character 1
on_new = "now"|10|on_new: there are no rounds to wait for
zone = "Mars/Base"|8|zone: time zone 'Mars/Base' is not in
watch = { table = "product" }|9|watch: a table and its key are wanted
watch = { table = "product", column = "code" }|9|watch: 'column' is not known; there are table, key
watch = "product"|9|watch: a table of texts is wanted
reconcile = "@daily"|13|reconcile: there is nothing to compare with
retention = "90m"|13|retention: whole hours are wanted
retention = "3599999ms"|13|retention: 3599999ms is not from 1h
forget_done = "1d"|15|forget_done: a task of a queue with a period is done again
in_order = true|12|in_order: a task of a queue with a period is done again
in_order = 1|12|in_order: true or false is wanted
segment = 1001|11|segment: 1001 is not from 1 to 1000
workers = 0|11|workers: 0 is not from 1 to 1000
batch = 0|9|batch: 0 is not from 1 to 10000
timeout = "0s"|11|timeout: 0s is not from 1ms
env = { DAYBOOK_KEY = "x" }|7|env: DAYBOOK_... is set by us
payload = "x"|1|'payload' is not known
END
wrong "a period" 3 10 "period: 500ms is not from 1s" <<'END'
[[queue]]
name = "stock"
period = "500ms"
command = ["sync"]
END
wrong "what is done is forgotten, and its row is watched" 5 15 "forget_done: it does not go with a table that is watched" <<'END'
[[queue]]
name = "stock"
command = ["sync"]
watch = { table = "product", key = "code" }
forget_done = "1d"
END
wrong "what is done is forgotten after no whole seconds" 4 15 "forget_done: whole seconds are wanted" <<'END'
[[queue]]
name = "stock"
command = ["sync"]
forget_done = "90500ms"
END
wrong "a place that a batch has not" 4 20 "command: character 1: no placeholder is named 'key'; there are {queue}, and" <<'END'
[[queue]]
name = "stock"
batch = 10
command = ["sync", "{key}"]
END
wrong "a place that a task has not" 3 20 "command: character 1: no placeholder is named 'tick'; there are {queue}, {key}, {payload}, {attempt}, {turn}, and" <<'END'
[[queue]]
name = "stock"
command = ["sync", "{tick}"]
END
wrong "no command of a queue" 1 1 "a [[queue]] needs a command" < <(printf '[[queue]]\nname = "stock"\n')
wrong "a queue twice" 6 8 "name: there is a queue 'stock' above" < <(queue <<<$'[[queue]]\nname = "stock"\ncommand = ["true"]')
wrong "the name of its rounds" 7 8 "name: it is that of a schedule of the queue 'stock'" < <(queue <<'END'
rounds = "@daily"
[[schedule]]
name = "stock/rounds"
cron = "@daily"
command = ["true"]
END
)

# --- A file that can be opened, and not read
rm daybook.toml
mkdir daybook.toml
code "a folder" 74 daybook schedules next one
has "a folder" err "daybook.toml: Is a directory"
code "a folder, the daemon" 74 daybook daemon
has "a folder, the daemon" err "daybook.toml: Is a directory"

finish
