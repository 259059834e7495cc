#!/bin/bash
# Tests of what a script does inside a run: steps in their modes, progress, carried values, dates.
#
#   tests/command/inside_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
# shellcheck disable=SC2016
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"

with_book

# --- At most once
code "at most once" 0 daybook run amo -- daybook step pay --mode at-most-once -- sh -c 'echo did >>amo.log'
is "its mode" at-most-once "$(shown amo steps.0.mode)"

code "it failed" 3 daybook run pay -- daybook step pay --mode at-most-once -- \
    sh -c 'echo did >>pay.log; exit 3'
has "it failed" err "unknown"
is "one intent" pay "$(shown pay intents.0.name)"
code "a later attempt" 80 daybook run pay -- daybook step pay --mode at-most-once -- \
    sh -c 'echo did >>pay.log'
has "a later attempt" err "runs resolve"
is "state of unknown" unknown "$(shown pay state)"
is "its exit code is kept" 80 "$(shown pay attempts.1.exit_code)"
code "no further attempt" 80 daybook run pay -- touch further
is "nothing was done" no "$([[ -e further ]] && echo yes || echo no)"
is "it was done once" 1 "$(wc -l <pay.log)"
code "resolved" 0 daybook runs resolve pay --done --value "receipt 9" --yes --reason "asked the bank"
code "resumed" 0 daybook run pay -- daybook step pay --mode at-most-once -- sh -c 'echo did >>pay.log'
has "resumed" err "done before, skipped"
is "still once" 1 "$(wc -l <pay.log)"
is "its value" "receipt 9" "$(shown pay steps.0.value)"

background killed run cut --lease 1s -- daybook step pay --mode at-most-once -- \
    sh -c 'echo $$ >cut.pid; exec sleep 60'
until_true $patience there cut.pid
kill -KILL "$last"
wait "$last" 2>/dev/null
code "the machine died in between" 80 daybook run cut --wait 1m -- \
    daybook step pay --mode at-most-once -- touch twice
is "not done twice" no "$([[ -e twice ]] && echo yes || echo no)"
code "it was not done" 0 daybook runs resolve cut --step pay --not-done --yes
code "now it is" 0 daybook run cut -- daybook step pay --mode at-most-once -- touch twice

# --- A name is for one command in an attempt
cat >loop.sh <<'END'
#!/bin/bash
for one in a b c; do
    daybook step upload -- sh -c "echo $one >>loop.log" || exit
done
END
chmod +x loop.sh
code "a loop of one name" 65 daybook run loop -- ./loop.sh
has "a loop of one name" err "step upload: not done: this attempt has had another command (or folder) under that name"
has "a loop of one name: the remedy" err 'daybook step "upload $item" -- ...'
is "the first was done" a "$(cat loop.log)"
code "resumed, it is refused again" 65 daybook run loop -- ./loop.sh
has "resumed: what an earlier attempt did is skipped" err "step upload: done before, skipped"
is "nothing was done" a "$(cat loop.log)"
code "a loop over folders" 65 daybook run folders -- \
    sh -c 'mkdir -p x y; for one in x y; do (cd $one && daybook step build -- touch built) || exit; done'
code "an earlier attempt had another command" 0 daybook run loop -- daybook step upload -- touch newer
is "an earlier attempt had another command" no "$([[ -e newer ]] && echo yes || echo no)"
code "the same command again" 0 daybook run asks -- \
    sh -c 'daybook step a -- touch a1 && daybook step a -- touch a1'
has "the same command again" err "step a: done before, skipped"
code "another command after a failure" 0 daybook run falls -- \
    sh -c 'daybook step get -- false || daybook step get -- touch second'
is "another command after a failure" yes "$([[ -e second ]] && echo yes)"
code "at once" 0 daybook run many -- sh -c \
    'for i in 1 2 3 4 5 6; do daybook step "part $i" -- true & done; wait; daybook step part -- true; daybook step "part 1" -- true'
code "a list that is none of ours" 0 daybook run foreign -- sh -c \
    'echo mine >mine; export DAYBOOK_STEPS=$PWD/mine; daybook step a -- true && daybook step a -- echo other'
is "it is left alone" mine "$(cat mine)"
code "a step that another outlived" 4 daybook run beside -- sh -c \
    'daybook step long -- sh -c "touch long.begun; exec sleep 60" & until test -e long.begun; do sleep 0.02; done
    daybook step short -- true; exit 4'
has "a step that another outlived" err "; step long "

code "a run that hides an unknown end" 80 daybook run hides -- \
    sh -c 'daybook step pay --mode at-most-once -- false; true'
is "its state" unknown "$(shown hides state)"
code "the same twice in a script" 80 daybook run twice -- sh -c \
    'daybook step pay --mode at-most-once -- false; daybook step pay --mode at-most-once -- touch again'
is "not again" no "$([[ -e again ]] && echo yes || echo no)"

code "not done" 5 daybook run nd -- daybook step pay --mode at-most-once --not-done 5 --not-done 6 -- \
    sh -c 'exit 5'
code "not done, the other code" 6 daybook run nd -- \
    daybook step pay --mode at-most-once --not-done 5 --not-done 6 -- sh -c 'exit 6'
code "then done" 0 daybook run nd -- daybook step pay --mode at-most-once --not-done 5 -- true
code "not found is not done" 127 daybook run nf -- daybook step a --mode at-most-once -- no-such
code "so it may be tried" 0 daybook run nf -- daybook step a --mode at-most-once -- true
code "no such mode" 64 daybook run m -- daybook step a --mode sometimes -- true
code "--not-done without the mode" 64 daybook run m -- daybook step a --not-done 5 -- true
code "--not-done 0" 64 daybook run m -- daybook step a --mode at-most-once --not-done 0 -- true

# --- Retries
cat >third <<'END'
#!/bin/sh
echo did >>$1
test "$(wc -l <$1)" -ge 3 || exit 9
END
chmod +x third
code "retries" 0 daybook run retry -- daybook step a --retries 2 --backoff 10ms -- ./third retry.log
is "three tries" 3 "$(wc -l <retry.log)"
has "retries" err "retry 2 of 2"
code "too few" 9 daybook run retry2 -- daybook step a --retries 1 --backoff 10ms -- ./third retry2.log
is "two tries" 2 "$(wc -l <retry2.log)"
code "at most once, retried" 0 daybook run retry3 -- daybook step a --mode at-most-once \
    --not-done 9 --retries 5 --backoff 10ms -- ./third retry3.log
code "at most once, not retried" 9 daybook run retry4 -- daybook step a --mode at-most-once \
    --retries 5 --backoff 10ms -- ./third retry4.log
is "one try" 1 "$(wc -l <retry4.log)"
background asked run asked -- daybook step a --retries 5 --backoff 1h -- \
    sh -c 'echo $$ >asked.pid; exec sleep 60'
until_true $patience there asked.pid
kill -TERM "$last"
wait "$last"
is "no retry after TERM" 143 $?
background pause run pause -- daybook step a --retries 5 --backoff 1h -- false
until_true $patience grep -qs "retry 1 of 5" pause.err
kill -TERM "$last"
wait "$last"
is "TERM in the pause" 143 $?

# --- A thread that starts a step may end before it; the process may not. The step is in a session of
# its own, where only its parent's end reaches it.
cat >pool.py <<'END'
"""pool.py NAME: starts a step by a thread, and says so in NAME.parent when that has ended."""
import os, subprocess, sys, threading, time
name = sys.argv[1]
work = 'echo $$ >"$0.pid"; until test -e "$0.go"; do sleep 0.02; done'
def start():
    global step
    step = subprocess.Popen(["daybook", "step", "work", "--", "sh", "-c", work, name], start_new_session=True)
    while not (os.path.exists(name + ".pid") and os.path.getsize(name + ".pid")):
        time.sleep(0.01)
by = threading.Thread(target=start)
by.start()
by.join()
while os.path.exists("/proc/self/task/%d" % by.native_id):
    time.sleep(0.01)
print(os.getpid(), file=open(name + ".parent", "w"), flush=True)
sys.exit(step.wait() % 256)
END
background pool run pool -- python3 pool.py pool
until_true $patience there pool.parent
touch pool.go
wait "$last"
is "the thread that started it has ended" 0 $?
is "its step is recorded" work "$(shown pool steps.0.name)"
background pooled run pooled -- python3 pool.py pooled
until_true $patience there pooled.parent
strangers+=("$(cat pooled.pid)")
kill -KILL "$(cat pooled.parent)"
dies "the process that started it has ended" "$(cat pooled.pid)"
wait "$last"
is "the run has failed" 137 $?

# --- Progress and carried values
code "progress" 0 daybook run far -- sh -c 'daybook progress 3/40 "invoices of May"; exit 0'
is "done" 3 "$(shown far progress.done)"
is "total" 40 "$(shown far progress.total)"
is "note" "invoices of May" "$(shown far progress.note)"
code "list with progress" 0 daybook runs list --process far
has "list with progress" out "3 of 40: invoices of May"
code "progress without a total" 0 daybook run far -- daybook progress 7
is "no total" 0 "$(shown far progress.total)"
code "beyond the total" 65 daybook run far -- daybook progress 8/7
for bad in x 1/ /2 -1 -0 +1 1/-0 1/x 1.5 ' 1' 9223372036854775808 ''; do
    code "progress '$bad'" 64 daybook run far -- daybook progress -- "$bad"
done
code "progress outside a run" 64 daybook progress 1
code "carry outside a run" 64 daybook carry get a

code "carry" 1 daybook run bag -- sh -c 'daybook carry set cursor "17 ä" && exit 1'
is "carried" "17 ä" "$(shown bag carried.0.value)"
code "carried to the next attempt" 0 daybook run bag -- daybook carry get cursor
is "carried to the next attempt" "17 ä" "$(cat out)"
code "nothing carried to the next run" 66 daybook run bag -- daybook carry get cursor
code "from stdin" 0 daybook run bag -- sh -c 'printf "a\nb\n\n" | daybook carry set text; daybook carry get text'
is "from stdin" "a|b||" "$(tr '\n' '|' <out)"
code "one mebibyte" 0 daybook run bag -- sh -c 'head -c 1048576 /dev/zero | tr "\0" x | daybook carry set big'
code "one byte more" 65 daybook run bag -- sh -c 'head -c 1048577 /dev/zero | tr "\0" x | daybook carry set big'
code "no text" 65 daybook run bag -- sh -c 'printf "\377" | daybook carry set bad'
code "carry what" 64 daybook run bag -- daybook carry take a
code "get takes no value" 64 daybook run bag -- daybook carry get a b
code "empty name" 65 daybook run bag -- daybook carry set '' b
code "token kept" 0 daybook run stale -- sh -c 'echo "$DAYBOOK_RUN" >token'
code "carry, lost" 79 env DAYBOOK_RUN="$(cat token)" "$daybook" carry set a b
code "progress, lost" 79 env DAYBOOK_RUN="$(cat token)" "$daybook" progress 1

# --- The date of the data
code "date" 3 daybook run dated --date 2026-02-28 -- sh -c 'echo $DAYBOOK_DATE; exit 3'
is "DAYBOOK_DATE" 2026-02-28 "$(cat out)"
is "its date" 2026-02-28 "$(shown dated date)"
code "another date" 65 daybook run dated --date 2026-03-01 -- touch other
has "another date" err "--restart"
is "not started" no "$([[ -e other ]] && echo yes || echo no)"
code "resumed without one" 0 daybook run dated -- sh -c 'echo $DAYBOOK_DATE'
is "resumed without one" 2026-02-28 "$(cat out)"
code "the next run" 0 daybook run dated --date 2026-03-01 -- sh -c 'echo $DAYBOOK_DATE'
is "the next run" 2026-03-01 "$(cat out)"
code "no date" 0 env DAYBOOK_DATE=2020-01-01 "$daybook" run undated -- sh -c 'echo "<$DAYBOOK_DATE>"'
is "no date" "<>" "$(cat out)"
for bad in 2026-02-29 2026-2-1 tomorrow 2026-00-01 0000-01-01 2026-01-01x +026-01-01 ''; do
    code "date '$bad'" 65 daybook run dated --date "$bad" -- true
done

# --- Deadlines
code "deadline" 124 daybook run late --deadline 2s -- sh -c 'echo began; exec sleep 60'
has "deadline" err "its deadline is over"
is "state" deadline-passed "$(shown late state)"
is "its output" began "$(shown late attempts.0.output)"
is "its exit code" 143 "$(shown late attempts.0.exit_code)"
code "the next may start" 0 daybook run late -- true
code "the timeout is first" 124 daybook run late2 --deadline 1h --timeout 300ms -- sleep 60
has "the timeout is first" err "timed out after 300ms"
is "state of a timeout" failed "$(shown late2 state)"
code "no time at all" 64 daybook run late --deadline 0s -- true
# Alive, and yet overdue: nobody waits for its lease.
background asleep run asleep --deadline 3s --lease 1h -- sh -c 'echo $$ >asleep.pid; exec sleep 60'
until_true $patience there asleep.pid
freezes "$last"
code "taken over at its deadline" 0 daybook run asleep --wait 1m -- true
kill -CONT "$last"
wait "$last"
is "its holder wakes up" 124 $?
dies "its command" "$(cat asleep.pid)"
is "the other's success stands" succeeded "$(shown asleep state)"

code "a name that was not kept" 66 daybook run bag -- \
    sh -c 'daybook carry set cursor 1; daybook carry get curser'
has "a name that was not kept" err "nothing named curser; it has kept cursor"
code "nothing was kept" 66 daybook run bag --restart -- daybook carry get cursor
has "nothing was kept" err "nothing named cursor, nor anything else; keep it with"

# --- Where there is no room for processes, nothing is executed: it may be tried again. Root alone
# can lend a user of its own, whom nobody else's processes crowd; SQLite's file it can be lent, too.
cat >opened.py <<'END'
"""opened.py FILE COMMAND...: ends as the command does; says in `opened` whether the file was opened."""
import ctypes, os, subprocess, sys
libc = ctypes.CDLL(None)
watch = libc.inotify_init1(os.O_NONBLOCK)
assert libc.inotify_add_watch(watch, sys.argv[1].encode(), 0x20) >= 0
code = subprocess.call(sys.argv[2:])
try:
    seen = os.read(watch, 4096)
except BlockingIOError:
    seen = b""
print("yes" if seen else "no", file=open("opened", "w"))
sys.exit(code)
END
printf '%s\n' '#!/bin/sh' 'echo did >>acts.log' >acts
chmod 777 . && chmod 755 acts && chmod -R a+rw .
lent=(setpriv --reuid 54321 --regid 54321 --clear-groups)
if [[ $engine == sqlite ]] && "${lent[@]}" daybook version >/dev/null 2>&1; then
    refused=0
    for room in 1 2 3 4 5 6 7 8; do
        python3 opened.py acts "$daybook" run tight -- "${lent[@]}" prlimit --nproc="$room" \
            daybook step act --mode at-most-once -- ./acts >out 2>err </dev/null && break
        refused=$((refused + 1))
        has "room for $room" err "Resource temporarily unavailable"
        is "room for $room: executed" no "$(cat opened)"
    done
    is "too little room, and enough" yes "$( ((refused >= 2 && refused < 8)) && echo yes)"
    is "then done, once" "did" "$(cat acts.log)"
fi

finish
