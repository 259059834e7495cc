#!/bin/bash
# Tests of `daybook daemon` with queues: a child for each task, or for a batch of them; what children
# do wrong; daemons that are told to stop, reloaded and killed.
#
#   tests/command/queue_daemon_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
# shellcheck disable=SC2016
here=$(dirname "$(readlink -f "$0")")
tool=$(readlink -f "${DAYBOOK_TEST_QUEUE_TOOL:-$(dirname "$1")/../tests/command/queue_tool}")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"

with_book
# file NAME [KEY = VALUE ...]: NAME.toml with one queue; the command is the script on stdin, given
# the key unless it is one for a batch
file() {
    local name=$1 words=', "{key}"' line
    shift
    for line; do [[ $line == batch* ]] && words=; done
    cat >"$name.sh" && chmod +x "$name.sh"
    printf '%s\n' '[[queue]]' "name = \"$name\"" "$@" "command = [\"./$name.sh\"$words]" >"$name.toml"
}
# put QUEUE KEY...: a key may have a payload behind a tab
put() { local name=$1; shift; printf '%s\n' "$@" | "$tool" import "$name"; }
show() { "$tool" show "$1" "$2" 2>&1; }
counts() { "$tool" counts "$1" 2>&1; }
drain() { daybook daemon --drain --config "$1.toml" "${@:2}"; }
# serve LOG NAME [FLAG...]: a daemon in the background, its pid in $last. Its $lease is short only
# where its end must be noticed: what is renewed too late, another takes.
serve() {
    local log=$1 name=$2
    shift 2
    background "$log" daemon --config "$name.toml" --poll 50ms --lease "${lease:-30s}" "$@"
    until_true $patience grep -qs " ready " "$log.err" || fail "$log: not ready: $(cat "$log.err")"
}
# stops NAME PID WANTED: TERM, and its exit code
stops() {
    kill -TERM "$2"
    until_true $patience gone "$2" || kill -KILL "$2"
    wait "$2"
    is "$1" "${3:-0}" $?
}
# becomes NAME QUEUE KEY START: how the task stands
is_now() { [[ $(show "$1" "$2") == $3* ]]; }
becomes() { if until_true $patience is_now "$2" "$3" "$4"; then pass; else fail "$1: $(show "$2" "$3")"; fi; }
# count_is NAME QUEUE TEXT: it comes to be among its counts
counts_have() { [[ $(counts "$1") == *"$2"* ]]; }
count_is() { if until_true $patience counts_have "$2" "$3"; then pass; else fail "$1: $(counts "$2")"; fi; }
lines() { [[ -e $2 ]] && (($(wc -l <"$2") >= $1)); }
# begins NAME WANTED GOT
begins() { if [[ $3 == "$2"* ]]; then pass; else fail "$1: wanted '$2...', got '$3'"; fi; }

# --- A task is a child: its words, its environment, its input; how it ends
file each 'attempts = 1' 'env = { MORE = "mine" }' <<'END'
#!/bin/bash
input=$(cat)
echo "$1|$DAYBOOK_QUEUE|$DAYBOOK_KEY|$DAYBOOK_PAYLOAD|$input|$DAYBOOK_ATTEMPT|$MORE|${#DAYBOOK_IDEMPOTENCY_KEY}" >>each.log
[[ $DAYBOOK_TURN == ????-??-??T??:??:??*Z && -z $DAYBOOK_RUN && -z $DAYBOOK_DATABASE_URL ]] || exit 9
case $1 in
  fine) echo first; echo "the last line"; echo ;;
  wrong) echo "it is broken" >&2; exit 3 ;;
  later) echo "come back" >&2; exit 75 ;;
  signal) kill -SEGV $$ ;;
esac
END
put each $'fine\tsome text' wrong later signal
code "each" 1 drain each
has "each" err "drained attempts=4"
has "its words and variables" each.log "fine|each|fine|some text|some text|1|mine|52"
has "without a payload" each.log "wrong|each|wrong|||1|mine|52"
is "success keeps its last line" "succeeded 0 0 the last line" "$(show each fine)"
is "failure" "dead 1 0 exit status 3: it is broken" "$(show each wrong)"
is "75 is no attempt" "waiting 0 0 exit status 75: come back" "$(show each later)"
is "a signal" "dead 1 0 killed by signal 11 (SIGSEGV)" "$(show each signal)"
has "failures are told" err 'failed queue=each key=wrong attempt=1 text="exit status 3: it is broken"'
has "its output too" err 'output queue=each key=fine stream=stdout text="the last line"'

# --- Where the book is, is told to those that want it
for wanted in true false; do
    file "url_$wanted" "database_url = $wanted" <<'END'
#!/bin/bash
echo "${DAYBOOK_DATABASE_URL-none}"
[[ -n $DAYBOOK_PREFIX ]]
END
    put "url_$wanted" k
    code "database_url = $wanted" 0 drain "url_$wanted"
done
is "it is told" "succeeded 0 0 $url" "$(show url_true k)"
is "it is not told" "succeeded 0 0 none" "$(show url_false k)"
file asks 'attempts = 1' <<<$'#!/bin/sh\ncd / && daybook status'
put asks k
code "a command that needs it" 1 drain asks
begins "a command that needs it is told how" "dead 1 0 exit status 78: daybook: there is no book: no file" "$(show asks k)"
[[ $(show asks k) == *"database_url = true" ]] || fail "the remedy: $(show asks k)"

# --- A payload that is longer than a variable may be is on stdin
file long 'attempts = 1' <<<$'#!/bin/sh\necho "${#DAYBOOK_PAYLOAD} $(wc -c)"'
put long "$(printf 'big\t%0300000d' 7)" "$(printf 'small\t%060000d' 7)"
code "long" 0 drain long
is "long" "succeeded 0 0 0 300000" "$(show long big)"
is "short" "succeeded 0 0 60000 60000" "$(show long small)"

# --- At most once: only 0 and 75 say what happened
file once 'mode = "at-most-once"' <<<$'#!/bin/sh\n[ "$1" = 9 ] && kill -9 $$\nexit "$1"'
put once 0 1 75 9
code "once" 1 drain once
is "0" succeeded "$(show once 0 | cut -d' ' -f1)"
is "1" "unknown 1 0 exit status 1" "$(show once 1 | sed 's/unknown 0/unknown 1/')"
is "75" waiting "$(show once 75 | cut -d' ' -f1)"
begins "by a signal" "unknown" "$(show once 9)"
sed -i 's/"\.\/once.sh"/"no-such-command"/' once.toml
put once other
code "not started" 0 drain once
begins "nothing was done" "waiting 1 0 no-such-command: command not found" "$(show once other)"

# --- What children do wrong harms no other
file wild 'attempts = 1' 'timeout = "1h"' 'workers = 6' <<'END'
#!/bin/bash
case $1 in
  hang) exec sleep 60 ;;
  spin) trap '' TERM; while :; do :; done ;;
  fork) for i in 1 2 3 4 5 6 7 8; do sleep 60 & echo $! >>wild.pids; done; exit 1 ;;
  print) head -c 1000000000 /dev/zero | tr '\0' 'x' ;;
  lines) yes "a line of text" | head -n 3000000 >&2 ;;
  close) exec <&- >&- 2>&-; sleep 0.1; exit 0 ;;
  binary) printf 'a\0b\377\n' ;;
esac
END
put wild print lines close binary fork fine
code "wild" 1 drain wild --grace 200ms
begins "prints a gigabyte" "succeeded 0 0 xxx" "$(show wild print)"
is "prints lines" "succeeded 0 0 " "$(show wild lines)"
is "closes its pipes" "succeeded 0 0 " "$(show wild close)"
is "prints bytes" "succeeded 0 0 a?b?" "$(show wild binary)"
is "forks" "dead 1 0 exit status 1" "$(show wild fork)"
is "its mates" "succeeded 0 0 " "$(show wild fine)"
while read -r pid; do dies "what it forked" "$pid"; done <wild.pids
has "output is bounded" err "output_left_out queue=wild key=print bytes="
is "the log is short" yes "$((($(wc -c <err) < 1000000)) && echo yes)"
sed -i 's/timeout = "1h"/timeout = "5s"/' wild.toml
put wild hang spin
code "too long" 1 drain wild --grace 200ms
is "hangs" "dead 1 0 timed out after 5s: killed by signal 15 (SIGTERM)" "$(show wild hang)"
is "does not heed TERM" "dead 1 0 timed out after 5s: killed by signal 9 (SIGKILL)" "$(show wild spin)"

# --- As many at once as there are workers: each waits for all others
file beside 'workers = 4' 'timeout = "2m"' 'attempts = 1' <<'END'
#!/bin/bash
touch "beside.$1"
until [[ -e beside.1 && -e beside.2 && -e beside.3 && -e beside.4 ]]; do sleep 0.02; done
END
put beside 1 2 3 4
code "four at once" 0 drain beside
count_is "four at once" beside "4 done"

# --- A batch: lines in, answers out, in any order
file batch 'batch = 10' 'attempts = 1' 'workers = 1' <<'END'
#!/usr/bin/python3
import json, os, sys
tasks = [json.loads(line) for line in sys.stdin]
assert os.environ["DAYBOOK_QUEUE"] == "batch"
with open("batch.log", "a") as log: print(json.dumps(tasks), file=log)
def answer(key, result, **more): print(json.dumps({"key": key, "result": result, **more}), flush=True)
print("hello, this is no JSON")
print('["nor", "an", "object"]')
print("x" * 200000)
answer("stranger", "success")
for task in reversed(tasks):
    key = task["key"]
    if key == "silent": continue
    if key == "word": answer(key, "fine")
    elif key == "number": print(json.dumps({"key": key, "result": 1}), flush=True)
    elif key == "snooze": answer(key, "snooze", **{"for": "2h"}, remark="not now")
    elif key == "endless": answer(key, "snooze")
    else:
        answer(key, key, remark="was " + key)
        answer(key, "failure")
END
put batch $'success\tits payload' failure cancel unknown snooze silent word number endless
code "batch" 1 drain batch
is "one child for all" 1 "$(wc -l <batch.log)"
is "what it is given" "its payload 1 52" "$(python3 -c '
import json
task = [t for t in json.load(open("batch.log")) if t["key"] == "success"][0]
assert list(task) == ["key", "payload", "attempt", "turn", "idempotency_key"], task
assert [t["payload"] for t in json.load(open("batch.log")) if t["key"] == "cancel"] == [None]
print(task["payload"], task["attempt"], len(task["idempotency_key"]))')"
is "success" "succeeded 0 0 was success" "$(show batch success)"
is "failure" "dead 1 0 was failure" "$(show batch failure)"
is "cancel" "discarded 0 0 was cancel" "$(show batch cancel)"
begins "unknown" "unknown" "$(show batch unknown)"
is "snooze" "waiting 0 0 not now" "$(show batch snooze)"
for key in silent word number endless; do
    is "no answer: $key" "dead 1 0 no answer: exit status 0" "$(show batch $key)"
done
has "what is no answer is told" err 'no_answer queue=batch text="hello, this is no JSON" why="it is no JSON object"'
has "a stranger" err 'it was not asked for this key, or has answered'
has "a word" err "'fine' is no result"

# --- A batch whose child dies has what it answered; the one that it died on, and the rest, have
# commands of their own
file half 'batch = 100' 'attempts = 1' <<'END'
#!/usr/bin/python3
import json, os, sys
for line in sys.stdin:
    key = json.loads(line)["key"]
    if key == "5": print("no more", file=sys.stderr, flush=True); os.kill(os.getpid(), 9)
    print(json.dumps({"key": key, "result": "success"}), flush=True)
END
put half 1 2 3 4 5 6
code "half" 1 drain half
is "half" "5 done, 1 dead, 0 unknown, 0 in hand, 0 due, 0 suspects" "$(counts half)"
is "why" "dead 1 0 no answer: killed by signal 9 (SIGKILL): no more" "$(show half 5)"
is "its mate" "succeeded 0 0 " "$(show half 6)"
# ... one that begins all at once: no mate is begun more than once more, and none has failed
file eager 'batch = 100' 'workers = 1' 'attempts = 2' 'backoff = "0s"' <<'END'
#!/usr/bin/python3
import json, os, sys
tasks = [json.loads(line) for line in sys.stdin]
with open("eager.log", "a") as log:
    for task in tasks: print(task["key"], task["attempt"], file=log)
for task in tasks:
    if task["key"] == "3": os.kill(os.getpid(), 9)
    print(json.dumps({"key": task["key"], "result": "success"}), flush=True)
END
put eager 1 2 3 4 5 6
serve eager eager
becomes "eager: why" eager 3 "dead 2 0 no answer: killed by signal 9"
stops "eager" "$last"
is "eager" "5 done, 1 dead, 0 unknown, 0 in hand, 0 due, 0 suspects" "$(counts eager)"
is "eager: begun, and at which attempt" "1*1 2*1 3*1,1,2 4*1,1 5*1,1 6*1,1" "$(python3 -c '
begun = {}
for line in open("eager.log"):
    key, attempt = line.split()
    begun.setdefault(key, []).append(attempt)
print(*(key + "*" + ",".join(begun[key]) for key in sorted(begun)))')"
# ... one that never answers is not begun for each of its tasks
file vain 'batch = 100' 'attempts = 1' <<<$'#!/bin/sh\nwc -l >>vain.log\nexit 3'
put vain 1 2 3 4 5 6 7 8 9
code "vain" 1 drain vain
is "vain" "0 done, 9 dead, 0 unknown, 0 in hand, 0 due, 0 suspects" "$(counts vain)"
is "vain: its commands" "9 1 8 1 7 1 6" "$(paste -sd' ' vain.log)"
# ... and what one prints leaves the others their own room in the log
file noisy 'batch = 100' 'workers = 1' 'attempts = 1' <<'END'
#!/usr/bin/python3
import json, os, sys
for line in sys.stdin:
    key = json.loads(line)["key"]
    if key == "1":
        print("y" * 100000, file=sys.stderr, flush=True)
        os.kill(os.getpid(), 9)
    print('heard of "' + key + '" \\ it', file=sys.stderr, flush=True)
    print(json.dumps({"key": key, "result": "success"}), flush=True)
END
put noisy 1 2
code "noisy" 1 drain noisy
has "noisy: too much of one" err "output_left_out queue=noisy bytes="
has "noisy: its mate is heard" err 'text="heard of \"2\" \\ it"'
# ... at most once: nothing is begun again, and only 75 says that the rest is undone
file never 'batch = 100' 'mode = "at-most-once"' <<'END'
#!/usr/bin/python3
import json, os, sys
tasks = [json.loads(line) for line in sys.stdin]
print(len(tasks), file=open("never.log", "a"))
print(json.dumps({"key": tasks[0]["key"], "result": "success"}), flush=True)
sys.exit(int(os.environ["HOW"]))
END
put never 1 2 3
code "never" 1 env HOW=3 daybook daemon --drain --config never.toml
is "never" "1 done, 0 dead, 2 unknown, 0 in hand, 0 due, 0 suspects" "$(counts never)"
begins "never: why" "unknown 0 0 no answer: exit status 3" "$(show never 3)"
put never 4 5 6
code "never, 75" 0 env HOW=75 daybook daemon --drain --config never.toml
is "never, 75: not done" "waiting 0 0 no answer: exit status 75" "$(show never 5)"
is "never, 75: nor the other" "waiting 0 0 no answer: exit status 75" "$(show never 6)"
is "never: its commands" "3 3" "$(paste -sd' ' never.log)"
# ... one that does not read, floods both pipes, and leaves the rest
file flood 'batch = 100' 'attempts = 1' <<'END'
#!/bin/bash
yes "a line that is no answer" | head -n 200000
yes "a line that is no answer" | head -n 200000 >&2
echo '{"key": "b", "result": "success"}'
exit 4
END
put flood "$(printf 'a\t%0900000d' 1)" b c
code "flood" 1 drain flood
is "flood: what it answered" "succeeded 0 0 " "$(show flood b)"
begins "flood: the others" "dead 1 0 no answer: exit status 4: a line" "$(show flood a)"
has "flood: bounded" err 'output_left_out queue=flood bytes='
# ... one whose time is over
file over 'batch = 100' 'attempts = 1' 'timeout = "5s"' <<'END'
#!/bin/sh
echo '{"key": "a", "result": "success"}'
exec sleep 60
END
put over a b
code "over" 1 drain over
is "over: what it answered" "succeeded 0 0 " "$(show over a)"
begins "over: the other" "dead 1 0 no answer: timed out after 5s: killed by signal 15 (SIGTERM)" "$(show over b)"
# ... and one that goes on all the same
file on 'batch = 100' 'attempts = 1' 'timeout = "5s"' <<'END'
#!/bin/bash
trap "" TERM
echo '{"key": "a", "result": "success"}'
while :; do sleep 60 & wait; done
END
put on a b
code "on" 1 drain on --grace 200ms
is "on: what it answered" "succeeded 0 0 " "$(show on a)"
begins "on: the other" "dead 1 0 no answer: timed out after 5s: killed by signal 9 (SIGKILL)" "$(show on b)"

# --- Told to stop: TERM at once; what is answered is done, the rest is handed back
file stop 'batch = 10' 'workers = 1' <<'END'
#!/usr/bin/python3
import json, sys, time
print(json.dumps({"key": json.loads(sys.stdin.readline())["key"], "result": "success"}), flush=True)
open("stop.there", "w").write("yes")
time.sleep(60)
END
put stop 1 2 3
serve stop stop
until_true $patience there stop.there
stops "a batch" "$last"
count_is "a batch" stop "1 done, 0 dead, 0 unknown, 0 in hand, 2 due, 0 suspects"
has "counted" stop.err "worked queue=stop succeeded=1 failed=0 others=0 handed_back=2"
file stop1 'workers = 2' <<<$'#!/bin/bash\necho $$ >>stop1.pids\nexec sleep 60'
put stop1 a b c
serve stop1 stop1
until_true $patience lines 2 stop1.pids
stops "tasks" "$last"
while read -r pid; do dies "its children" "$pid"; done <stop1.pids
count_is "tasks" stop1 "0 done, 0 dead, 0 unknown, 0 in hand, 3 due, 0 suspects"
background drained daemon --drain --config stop1.toml
until_true $patience lines 4 stop1.pids
stops "a drain" "$last" 143
count_is "a drain" stop1 "0 in hand, 3 due"

# ... also what is in a process group or session of its own, and when the daemon is killed
file apart 'workers = 2' <<'END'
#!/bin/bash
if [[ $1 == a ]]; then
    timeout 1h sh -c 'echo $$ >>apart.pids; exec sleep 60'
else
    setsid -w sh -c 'echo $$ >>apart.pids; exec sleep 60'
fi
END
put apart a b
serve apart apart
until_true $patience lines 2 apart.pids
stops "apart" "$last"
while read -r pid; do dies "apart" "$pid"; done <apart.pids
count_is "apart" apart "0 done, 0 dead, 0 unknown, 0 in hand, 2 due, 0 suspects"
rm apart.pids
serve apart2 apart
until_true $patience lines 2 apart.pids
kill -KILL "$last"
wait "$last" 2>/dev/null
while read -r pid; do dies "apart, killed" "$pid"; done <apart.pids

# ... a batch's command that goes on after TERM: until KILL its answers count
deaf() {
    file "$1" 'batch = 10' 'workers = 1' "${@:2}" <<'END'
#!/usr/bin/python3
import json, os, signal, sys, time
tasks = [json.loads(line) for line in sys.stdin]
def done(task): print(json.dumps({"key": task["key"], "result": "success"}), flush=True)
signal.signal(signal.SIGTERM, lambda *_: done(tasks[1]))
open(os.environ["DAYBOOK_QUEUE"] + ".pid", "w").write(str(os.getpid()))
done(tasks[0])
while True: time.sleep(60)
END
    put "$1" 1 2 3 4
}
# deafly QUEUE COUNTS [KEY = VALUE ...]: asked to end, it answers once more; asked again, it is killed
deafly() {
    deaf "$1" "${@:3}"
    serve "$1" "$1" --grace 1h
    becomes "$1: before it is asked to end" "$1" 1 succeeded
    kill -TERM "$last"
    becomes "$1: what it answers then" "$1" 2 succeeded
    lives "$1" "$(cat "$1.pid")"
    stops "$1" "$last"
    dies "$1: it is killed" "$(cat "$1.pid")"
    is "$1" "$2" "$(counts "$1")"
}
deafly deaf "2 done, 0 dead, 0 unknown, 0 in hand, 2 due, 0 suspects"
deafly deaf1 "2 done, 0 dead, 2 unknown, 0 in hand, 0 due, 0 suspects" 'mode = "at-most-once"'
# ... and one that says, at most once, that what it has not answered is not done
file polite 'batch = 10' 'workers = 1' 'mode = "at-most-once"' <<'END'
#!/bin/bash
trap 'exit 75' TERM
echo '{"key": "a", "result": "success"}'
echo yes >polite.there
sleep 60 &
wait
END
put polite a b c
serve polite polite
until_true $patience there polite.there
stops "polite" "$last"
is "polite" "1 done, 0 dead, 0 unknown, 0 in hand, 2 due, 0 suspects" "$(counts polite)"

# --- Killed in the middle of a batch: what was answered stays done, the others are suspects, and
# done by the next
file killed 'batch = 10' 'workers = 1' 'crash_limit = 3' <<'END'
#!/usr/bin/python3
import json, os, sys, time
open("killed.pid", "w").write(str(os.getpid()))
for line in sys.stdin:
    key = json.loads(line)["key"]
    open("killed.log", "a").write(key + "\n")
    if key == "3" and not os.path.exists("killed.again"):
        time.sleep(60)
    print(json.dumps({"key": key, "result": "success"}), flush=True)
END
put killed 1 2 3 4
lease=5s serve killed killed
until_true $patience grep -qsx 3 killed.log
becomes "answered ones are written while it runs" killed 2 succeeded
kill -KILL "$last"
wait "$last" 2>/dev/null
dies "its child" "$(cat killed.pid)"
touch killed.again
lease=5s serve killed2 killed
count_is "another does the rest" killed "4 done"
is "what was answered, once" "1 1 2 1" "$(for k in 1 2; do echo "$k $(grep -cx $k killed.log)"; done | paste -sd' ')"
is "suspects, by themselves" "3 2|4 1" "$(for k in 3 4; do echo "$k $(grep -cx $k killed.log)"; done | paste -sd'|')"
stops "killed" "$last"

# --- HUP: a queue more, one less, another command
file again 'workers = 2' <<<$'#!/bin/sh\necho one >>again.log'
serve again again
put again a
becomes "the first command" again a succeeded
{ printf '[[queue]]\nname = "again"\nworkers = 1\ncommand = ["sh", "-c", "echo two >>again.log"]\n'
  printf '[[queue]]\nname = "more"\ncommand = ["touch", "more.{key}"]\n'; } >again.toml
kill -HUP "$last"
until_true $patience grep -q "reloaded file=again.toml schedules=0 queues=2" again.err
put again b
put more c
becomes "the second command" again b succeeded
becomes "one more queue" more c succeeded
is "both commands" "one|two" "$(paste -sd'|' again.log)"
printf '[[queue]]\nname = "more"\ncommand = ["touch", "more.{key}"]\n' >again.toml
kill -HUP "$last"
until_true $patience grep -q "reloaded file=again.toml schedules=0 queues=1" again.err
put again d
put more e
becomes "still worked" more e succeeded
begins "worked no more, not removed" "waiting" "$(show again d)"
stops "again" "$last"

# --- Rounds: a schedule opens them
file rounds 'rounds = "0 0 29 2 +MON"' 'zone = "Asia/Shanghai"' <<<$'#!/bin/sh\ntrue'
put rounds a b
serve rounds rounds
is "its schedule" Asia/Shanghai "$(daybook schedules show rounds/rounds --json | field zone)"
code "a round" 0 daybook schedules trigger rounds/rounds
count_is "a round" rounds "2 done"
put rounds c
stops "rounds" "$last"
begins "no round, no work" waiting "$(show rounds c)"

# --- A limit and a rate over two daemons
file limit 'workers = 4' 'limit = 2' <<'END'
#!/bin/bash
touch "limit.in.$1"
ls limit.in.* | wc -l >>limit.log
sleep 0.05
rm "limit.in.$1"
END
put limit 1 2 3 4 5 6 7 8 9 10 11 12
serve limit limit
first=$last
serve limit2 limit
count_is "all are done" limit "12 done"
is "never more than two at once" yes "$(python3 -c 'print("yes" if max(map(int, open("limit.log"))) <= 2 else "no")')"
stops "one" "$first"
stops "the other" "$last"
file rated 'workers = 4' 'rate = "10/s"' <<<$'#!/bin/sh\ndate +%s.%N >>rated.log'
put rated $(seq 85)
serve rated rated
first=$last
serve rated2 rated
count_is "all are done" rated "85 done"
# 8.4 s at the rate; the first of them may have begun late.
is "not sooner than the rate allows" yes "$(python3 -c '
at = sorted(map(float, open("rated.log")))
print("yes" if at[-1] - at[0] > 6.3 else at[-1] - at[0])')"
stops "one" "$first"
stops "the other" "$last"

finish
