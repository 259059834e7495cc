#!/bin/bash
# Tests of `daybook daemon`: ticks as children, signals, take-over, the log, systemd.
#
#   tests/command/daemon_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
# shellcheck disable=SC2016
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"

with_book
never="0 0 29 2 +MON"
# file NAME [KEY = VALUE ...]: NAME.toml with one schedule; the command is the script on stdin
file() {
    local name=$1 cron=$never line
    shift
    cat >"$name.sh" && chmod +x "$name.sh"
    for line; do [[ $line == cron* ]] && cron=; done
    {
        printf '[[schedule]]\nname = "%s"\n' "$name"
        [[ -z $cron ]] || printf 'cron = "%s"\n' "$cron"
        printf '%s\n' "$@" "command = [\"./$name.sh\", \"{window_start}\", \"{window_end}\"]"
    } >"$name.toml"
}
# serve LOG NAME [FLAG...]: a daemon in the background, its pid in $last. Its $lease is short only
# where its end must be noticed: one that is renewed too late gives its tick away.
serve() {
    local log=$1 name=$2
    shift 2
    background "$log" daemon --config "$name.toml" --poll 50ms --lease "${lease:-30s}" "$@"
    until_true $patience grep -qs " ready " "$log.err" || fail "$log: not ready: $(cat "$log.err")"
}
trigger() { daybook schedules trigger "$1"; }
# stops NAME PID WANTED: TERM, and its exit code
stops() {
    kill -TERM "$2"
    until_true $patience gone "$2" || kill -KILL "$2"
    wait "$2"
    is "$1" "${3:-0}" $?
}
tick_is() { daybook schedules ticks "$1" --limit 1 --json 2>/dev/null | grep -q "\"state\":\"$2\""; }
# becomes NAME SCHEDULE STATE: its newest tick
becomes() { if until_true $patience tick_is "$2" "$3"; then pass; else fail "$1: $(daybook schedules ticks "$2" --limit 1)"; fi; }
lines() { [[ -e $2 ]] && (($(wc -l <"$2") >= $1)); }

# --- Three ticks of a schedule that comes each second
file second 'cron = "* * * * * *"' <<'END'
#!/bin/sh
for one in /proc/$$/fd/*; do readlink "$one"; done >files.$$; mv files.$$ second.files
[ "$DAYBOOK_WINDOW_START $DAYBOOK_WINDOW_END $DAYBOOK_TICK $DAYBOOK_KEY" = "$1 $2 $2 $2" ] &&
    echo "$1 $2" >>second.log
echo "it says hello"
echo "it warns" >&2
END
serve second second
if until_true $patience lines 3 second.log; then pass; else fail "three ticks"; fi
stops "TERM" "$last"
is "windows tile" yes "$(python3 - <<'END'
rows = [line.split() for line in open("second.log")]
print("yes" if all(a[1] == b[0] and a[0] < a[1] for a, b in zip(rows, rows[1:])) else rows)
END
)"
has "its output is in the log" second.err 'stream=stdout text="it says hello"'
has "its errors too" second.err 'stream=stderr text="it warns"'
has "done" second.err "info done schedule=second key="
key=$(sed -n 2p second.log | cut -d' ' -f2)
is "the end of its output is kept" "it says hello|it warns" \
    "$(daybook runs show second --key "$key" --json | field attempts.0.output | sed '/^$/d' | sort | paste -sd'|')"
is "its code too" 0 "$(daybook runs show second --key "$key" --json | field attempts.0.exit_code)"
is "no file of ours" 0 "$(grep -cE 'socket|\.db|anon' second.files)"
has "but these" second.files pipe
is "nothing on stdout" "" "$(cat second.out)"

# --- Told to stop: TERM at once, handed back, gone on with by another in the same window
file slow <<'END'
#!/bin/bash
daybook step first -- sh -c 'echo first >>slow.steps'
echo "$DAYBOOK_ATTEMPT $DAYBOOK_RESUMED $1 $2" >>slow.log
[ "$DAYBOOK_RESUMED" = 1 ] && exit 0
trap 'echo asked >slow.asked; exit 9' TERM
sleep 60 & wait
END
serve slow slow
tick=$(trigger slow)
until_true $patience lines 1 slow.log
stops "TERM while it works" "$last"
is "it was asked" asked "$(cat slow.asked)"
has "handed back" slow.err "info handed_back schedule=slow"
has "counted" slow.err "handed_back=1"
is "no failure" 0 "$(daybook schedules ticks slow --json | field failures)"
serve slow2 slow
becomes "gone on with" slow "done"
is "resumed, in its window" "1 0|2 1" "$(cut -d' ' -f1,2 slow.log | paste -sd'|')"
is "the same window" 1 "$(cut -d' ' -f3,4 slow.log | sort -u | wc -l)"
is "its step once" 1 "$(wc -l <slow.steps)"
stops "INT would do as well" "$last"

# --- A second signal does not wait for the grace
file stubborn <<'END'
#!/bin/bash
trap : TERM
echo $$ >stubborn.pid
while :; do sleep 0.1; done
END
serve stubborn stubborn --grace 1h
trigger stubborn >out
until_true $patience there stubborn.pid
kill -TERM "$last"
until_true $patience grep -q " stopping " stubborn.err
lives "it has its grace" "$(cat stubborn.pid)"
stops "the second" "$last"
dies "killed" "$(cat stubborn.pid)"
# ... and the grace ends by itself
rm stubborn.pid
serve stubborn2 stubborn --grace 200ms
until_true $patience there stubborn.pid
stops "the grace ends" "$last"
dies "killed after it" "$(cat stubborn.pid)"

# --- HUP
file reload <<<$'#!/bin/sh\necho one >>reload.log'
serve reload reload
cp reload.toml reload.right
sed -i 's/^cron.*/cron = "61 * * * *"/' reload.toml
kill -HUP "$last"
until_true $patience grep -q not_reloaded reload.err
has "a wrong file is told" reload.err "reload.toml, line 3, column 8: cron"
trigger reload >out
becomes "the old one stays" reload "done"
rm reload.toml
kill -HUP "$last"
until_true $patience grep -q "no file reload.toml" reload.err
has "no file is no empty file" reload.err "no file reload.toml"
{ sed 's/"\.\/reload.sh",/"sh", "-c", "echo two >>reload.log",/; s/^cron.*/cron = "1 1 29 2 +MON"/' reload.right
  printf '[[schedule]]\nname = "more"\ncron = "%s"\ncommand = ["touch", "more.done"]\n' "$never"; } >reload.toml
kill -HUP "$last"
until_true $patience grep -q " reloaded " reload.err
is "changed" "1 1 29 2 +MON" "$(daybook schedules show reload --json | field cron)"
trigger reload >out
trigger more >out
becomes "the new one" reload "done"
until_true $patience lines 2 reload.log
is "the new command" "one|two" "$(paste -sd'|' reload.log)"
until_true $patience test -e more.done
is "one more schedule" yes "$([[ -e more.done ]] && echo yes)"
sed -i '/^\[\[schedule\]\]/,$d' reload.toml
printf '[[schedule]]\nname = "more"\ncron = "%s"\ncommand = ["touch", "more.again"]\n' "$never" >reload.toml
kill -HUP "$last"
until_true $patience grep -q "reloaded file=reload.toml schedules=1" reload.err
trigger reload >out
trigger more >out
until_true $patience test -e more.again
is "no longer served, not removed" "due active" \
    "$(daybook schedules ticks reload --limit 1 --json | field state) $(daybook schedules show reload --json | field state)"
stops "after reloads" "$last"

# --- Killed: its child dies with it, and another goes on
file killed <<'END'
#!/bin/bash
echo "$DAYBOOK_ATTEMPT $1 $2" >>killed.log
[ "$DAYBOOK_RESUMED" = 1 ] && exit 0
sleep 60 &
echo "$$ $!" >killed.pids
wait
END
lease=5s serve killed killed
trigger killed >out
until_true $patience there killed.pids
read -r child grandchild <killed.pids
kill -KILL "$last"
wait "$last" 2>/dev/null
dies "the child" "$child"
dies "what it started" "$grandchild"
lease=5s serve killed2 killed
becomes "taken over" killed "done"
is "the second attempt" "1|2" "$(cut -d' ' -f1 killed.log | paste -sd'|')"
is "in the same window" 1 "$(cut -d' ' -f2,3 killed.log | sort -u | wc -l)"
has "told" killed2.err taken_over
is "a crash, no failure" "1 0" \
    "$(daybook schedules ticks killed --json | field crashes) $(daybook schedules ticks killed --json | field failures)"
stops "the second" "$last"

# --- A frozen daemon loses its tick; continued, it ends its child and records nothing
file frozen <<'END'
#!/bin/bash
echo "$DAYBOOK_ATTEMPT $$" >>frozen.log
[ "$DAYBOOK_RESUMED" = 1 ] && exit 0
sleep 60
END
lease=5s serve frozen frozen
first=$last
trigger frozen >out
until_true $patience lines 1 frozen.log
freezes "$first"
lease=5s serve frozen2 frozen
becomes "taken over from a frozen one" frozen "done"
kill -CONT "$first"
dies "its child is ended" "$(sed -n 's/^1 //p' frozen.log)"
until_true $patience grep -q "why=lost" frozen.err
has "it knows why" frozen.err "why=lost"
stops "the frozen one" "$first"
stops "the other" "$last"
is "the success stands" "done" "$(daybook schedules ticks frozen --json | field state)"

# --- Time is over
file late 'timeout = "2s"' 'attempts = 1' <<<$'#!/bin/sh\necho $$ >late.pid\nexec sleep 60'
daybook daemon --drain --config late.toml 2>err
trigger late >out
code "drain" 1 daybook daemon --drain --config late.toml --log json
is "timed out" "timed out after 2s: killed by signal 15 (SIGTERM)" \
    "$(daybook schedules ticks late --json | field reason)"
dies "its command" "$(cat late.pid)"
is "each line is JSON" yes "$(python3 -c '
import json
events = [json.loads(line) for line in open("err")]
assert all({"at", "level", "event"} <= set(e) for e in events), events
# Where the machine is slow, a statement may be tried again, and a lease be renewed late.
names = [e["event"] for e in events if e["event"] not in ("retried", "renewal_late")]
assert names == ["ready", "started", "ended", "failed", "tick_failed", "drained"], names
print("yes")' 2>&1)"

# --- What cannot be started, and what fails
file nothing 'attempts = 1' </dev/null
sed -i 's/"\.\/nothing.sh"/"no-such-command"/' nothing.toml
daybook daemon --drain --config nothing.toml 2>err
tick=$(trigger nothing)
code "not found" 1 daybook daemon --drain --config nothing.toml
is "not found" "no-such-command: command not found" "$(daybook schedules ticks nothing --json | field reason)"
is "its code" 127 "$(daybook runs show nothing --key "$tick" --json | field attempts.0.exit_code)"

# --- A step that was done is skipped after a failed attempt; a drain waits for no back-off
file steps 'attempts = 3' 'backoff = "1h"' <<'END'
#!/bin/bash
daybook step one -- sh -c 'echo did >>steps.log' || exit
echo "attempt $DAYBOOK_ATTEMPT" >>steps.attempts
[ "$DAYBOOK_ATTEMPT" = 2 ]
END
daybook daemon --drain --config steps.toml 2>err
trigger steps >out
code "the first attempt" 0 daybook daemon --drain --config steps.toml
has "the first attempt" err "drained attempts=1"
is "due again, in an hour" "due 1" \
    "$(daybook schedules ticks steps --json | field state) $(daybook schedules ticks steps --json | field failures)"
code "nothing is due" 0 daybook daemon --drain --config steps.toml
has "nothing is due" err "drained attempts=0"
sed -i 's/^backoff.*/backoff = "1ms"/' steps.toml
again() { daybook daemon --drain --config steps.toml 2>err; trigger steps >out; daybook daemon --drain --config steps.toml 2>>err; }
rm -f steps.log steps.attempts
again
once_more() { daybook daemon --drain --config steps.toml 2>>err; tick_is steps "done"; }
if until_true $patience once_more; then pass; else fail "the second attempt"; fi
is "two attempts" "attempt 1|attempt 2" "$(paste -sd'|' steps.attempts)"
is "the step once" 1 "$(wc -l <steps.log)"
has "skipped" err "step one: done before, skipped"

# --- Several at once: each waits for all the others
for i in 1 2 3 4; do
    printf '[[schedule]]\nname = "beside%s"\ncron = "%s"\ntimeout = "2m"\n' $i "$never"
    printf 'command = ["bash", "-c", "touch beside.%s; until test -e beside.1 -a -e beside.2 -a -e beside.3 -a -e beside.4; do sleep 0.02; done"]\n' $i
done >beside.toml
serve beside beside --threads 4
for i in 1 2 3 4; do trigger beside$i >out; done
for i in 1 2 3 4; do becomes "four at once, $i" beside$i "done"; done
stops "four" "$last"

# --- A drain that is told to stop
file drained <<<$'#!/bin/sh\necho $$ >drained.pid\nexec sleep 60'
daybook daemon --drain --config drained.toml 2>err
trigger drained >out
background drained daemon --drain --config drained.toml
until_true $patience there drained.pid
stops "a drain" "$last" 143
dies "its command" "$(cat drained.pid)"
has "handed back" drained.err handed_back

# --- What a command leaves running: stays after a success, not after a failure
file leaves 'attempts = 1' <<'END'
#!/bin/bash
sleep 60 & echo $! >leaves.pid
test -e leaves.fine
END
daybook daemon --drain --config leaves.toml 2>err
trigger leaves >out
code "a failure" 1 daybook daemon --drain --config leaves.toml
dies "what a failure leaves" "$(cat leaves.pid)"
touch leaves.fine
trigger leaves >out
code "a success" 0 daybook daemon --drain --config leaves.toml
lives "what a success leaves" "$(cat leaves.pid)"
strangers+=("$(cat leaves.pid)")

# --- Nobody reads the log any more
file unread <<<$'#!/bin/sh\nreadlink /proc/$$/fd/0 >unread.stdin; echo hello'
mkfifo log
head -1 log >log.head &
reader=$!
"$daybook" daemon --config unread.toml --poll 50ms 2>log <unread.toml &
last=$!
wait "$reader"
trigger unread >out
becomes "it works on" unread "done"
is "nothing to read, whatever we have" /dev/null "$(cat unread.stdin)"
stops "unread" "$last"

# --- systemd
cat >listen.py <<'END'
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1].replace("@", "\0", 1))
print("bound", flush=True)
while True:
    text = s.recv(4096).decode()
    print(text.replace("\n", " "), flush=True)
    if text.startswith("STOPPING"): break
END
file told <<<$'#!/bin/sh\necho "${NOTIFY_SOCKET-unset} ${WATCHDOG_USEC-unset}" >told.env'
for socket in "$dir/notify" "@daybook-test-$unique"; do
    python3 listen.py "$socket" >notify.out &
    listener=$!
    until_true $patience grep -q bound notify.out
    NOTIFY_SOCKET=$socket WATCHDOG_USEC=100000 serve told told
    if until_true $patience grep -q READY=1 notify.out; then pass; else fail "READY to $socket"; fi
    if until_true $patience grep -q WATCHDOG=1 notify.out; then pass; else fail "WATCHDOG to $socket"; fi
    kill -HUP "$last"
    ready_again() { sed -n '/^RELOADING=1 MONOTONIC_USEC=[1-9]/,$p' notify.out | grep -q READY=1; }
    if until_true $patience ready_again; then pass; else fail "RELOADING, READY to $socket"; fi
    trigger told >out
    until_true $patience there told.env
    is "no business of children" "unset unset" "$(cat told.env)"
    stops "told to $socket" "$last"
    wait "$listener"
    has "STOPPING to $socket" notify.out STOPPING=1
    rm -f notify.out told.env
done

# --- How it does not start
code "no file" 66 daybook daemon --config nowhere.toml
code "no book" 78 daybook daemon --config told.toml --db sqlite:nothing.db
code "no database" 69 daybook daemon --config told.toml --db postgresql://nobody:secret@127.0.0.1:1/x
has_not "no password" err secret
code "a lease" 64 daybook daemon --config told.toml --lease 10ms
code "a poll" 64 daybook daemon --config told.toml --poll 1ms
code "threads" 64 daybook daemon --config told.toml --threads 0
code "a log" 64 daybook daemon --config told.toml --log xml
password=$(sed -n 's#.*://[^:/@]*:\([^@]*\)@.*#\1#p' <<<"$url")
if [[ -n $password ]]; then
    is "no password in any log" "" "$(grep -lF -- "$password" ./*.err)"
    plain=$(python3 -c 'import sys, urllib.parse; print(urllib.parse.unquote(sys.argv[1]))' "$password")
    is "nor as it is sent" "" "$(grep -lF -- "$plain" ./*.err)"
fi

finish
