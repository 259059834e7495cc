#!/bin/bash
# Tests of what a command prints under a run: passed on as it comes, its end kept.
#
#   tests/command/output_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
# shellcheck disable=SC2016
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"

with_book

output_of() { shown "$1" "attempts.-1.output"; }

code "both streams" 4 daybook run both -- sh -c 'echo to out; echo to err >&2; exit 4'
is "stdout is stdout" "to out" "$(cat out)"
has "stderr is stderr" err "to err"
has_not "stdout is not stderr" err "to out"
is "its end is kept" "to err|to out" "$(output_of both | sed "/^$/d" | sort | paste -sd"|")"
is "its code is kept" 4 "$(shown both attempts.0.exit_code)"
code "show" 0 daybook runs show both
has "show" out "to err"
code "--no-output" 0 daybook run none --no-output -- echo secret
has "--no-output" out secret
is "--no-output: nothing kept" "" "$(output_of none)"

cat >interleaved <<'END'
#!/bin/bash
for i in {1..2000}; do echo "out $i"; echo "err $i" >&2; done
END
chmod +x interleaved
./interleaved >wanted 2>&1
daybook run order -- ./interleaved >got 2>&1
is "the order of 2>&1" same "$(cmp wanted got && echo same)"

head -c 300000 /dev/urandom >random
code "binary" 0 daybook run binary -- cat random
is "binary is passed on" same "$(cmp random out && echo same)"
is "binary is kept as text" yes "$(output_of binary | wc -c | awk '{print ($1 > 4000 ? "yes" : "no")}')"
code "zero bytes" 0 daybook run zero -- head -c 20000 /dev/zero
is "zero bytes are passed on" 20000 "$(wc -c <out)"
long=$(printf 'x%.0s' {1..9000})
code "a long line" 0 daybook run long -- sh -c "printf %s 'begin$long'; printf %s end"
is "a long line" "begin${long}end" "$(cat out)"
is "the last 8 KiB" 8192 "$(output_of long | tr -d '\n' | wc -c)"
code "characters are not cut" 0 daybook run cut -- \
    sh -c 'printf a; for i in 1 2 3 4 5 6 7 8 9 10; do printf "%01000d" 0; done | sed "s/0/ä/g"'
is "characters are not cut" "ä" "$(output_of cut | LC_ALL=C.UTF-8 grep -o . | sort -u | paste -sd'|')"

# 65536 bytes fill a buffer: what is held back of a line does not wait for the next.
code "a full buffer" 0 daybook run full -- bash -c \
    'head -c 65536 /dev/zero | tr "\0" y; until [[ $(stat -c %s out) == 65536 ]]; do sleep 0.02; done'
is "a full buffer" 65536 "$(wc -c <out)"

background live run live -- bash -c 'echo first; until [[ -e go ]]; do sleep 0.02; done; echo last'
until_true $patience grep -qs first live.out
has "it comes at once" live.out first
touch go
wait "$last"
has "and the rest" live.out last

# A gigabyte, in bounded memory.
code "a gigabyte" 0 bash -c "ulimit -v 600000; daybook run big -- head -c 1000000000 /dev/zero | wc -c"
is "a gigabyte" 1000000000 "$(cat out)"
daybook run slow -- seq 1 300000 | { head -c 100; sleep 0.5; cat; } | sha256sum >got
is "a slow reader" "$(seq 1 300000 | sha256sum)" "$(cat got)"

# The reader goes away: the command gets SIGPIPE, as without us.
daybook run gone -- yes 2>err | head -1 >out
is "the reader is gone" "141 0" "${PIPESTATUS[*]}"
is "state" "killed by signal 13 (SIGPIPE)" "$(shown gone error)"
bash -c 'daybook run quiet -- bash -c "until [[ -e read ]]; do sleep 0.02; done; echo a; sleep 1; echo b; sleep 10; echo c >written"' 2>err |
    { exec <&-; touch read; }
is "the reader is gone before" 141 "${PIPESTATUS[0]}"
is "not to its end" no "$([[ -e written ]] && echo yes || echo no)"
# Closed ones stay closed, and no socket of ours takes their place.
code "stdout closed" 0 bash -c 'daybook run closed -- bash -c "[[ ! -e /dev/fd/1 ]]" >&-'
code "all closed" 0 bash -c 'daybook run closed -- bash -c "[[ ! -e /dev/fd/0 && ! -e /dev/fd/2 ]]" <&- >&- 2>&-'
code "no list into a closed stdout" 74 bash -c 'daybook runs list >&-'
if [[ -e /dev/full ]]; then
    code "a full disk" 0 bash -c 'daybook run disk -- bash -c "trap : PIPE; echo x; true" >/dev/full'
    has "a full disk" err "No space left"
fi

# Few files may be open: those that we need are few.
is "few files" hi "$(bash -c 'ulimit -n 64; exec daybook run few -- echo hi' 2>err </dev/null | cat)"
has_not "few files" err "could not be written"

# Our stdout is a socket, as Node.js gives its children, and its reader goes away: nobody waits for a
# write that may never come, nor spins.
cat >deaf_socket.py <<'END'
import os, socket, subprocess, sys, time

def pumps():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = open("/proc/%s/stat" % pid).read()
        except OSError:
            continue
        name, rest = stat.split(" (")[1].split(") ")
        state, parent = rest.split()[:2]
        if name == "daybook-output" and parent == str(command.pid) and state != "Z":
            yield pid

ours, theirs = socket.socketpair()
errors = open("deaf_socket.err", "w")
command = subprocess.Popen(
    ["daybook", "run", "socket", "--", "sh", "-c", "echo begun; read go"],
    stdin=subprocess.PIPE, stdout=theirs, stderr=errors)
theirs.close()
print(ours.makefile().readline().strip())
pump = set(pumps())
ours.close()
until = time.monotonic() + float(sys.argv[1])
seen = set(pump)
while len(seen) == len(pump) and time.monotonic() < until:
    time.sleep(0.02)
    seen = set(pumps())
print("gone" if len(seen) < len(pump) else "spins")
command.stdin.close()
command.wait()
END
is "the socket's reader is gone" "begun gone" "$(python3 deaf_socket.py $patience | paste -sd' ')"

# One that stays behind keeps on writing where we did, and we do not wait for it.
background behind run behind -- \
    bash -c '(until [[ -e on ]]; do sleep 0.02; done; echo late; echo over >behind.over) & echo early'
wait "$last"
is "we do not wait for it" 0 $?
is "what was there is there" early "$(cat behind.out)"
touch on
until_true $patience there behind.over
until_true $patience grep -qs late behind.out
has "it may write on" behind.out late
is "what was kept" early "$(output_of behind)"

# Killed in the middle: whoever reads our output comes to its end.
mkfifo fifo
{ cat fifo >killed.out; echo end >killed.end; } &
"$daybook" run killed --lease 1s -- sh -c 'echo $$; exec sleep 60' >fifo 2>err </dev/null &
last=$!
until_true $patience there killed.out
kill -KILL "$last"
wait "$last" 2>/dev/null
if until_true $patience there killed.end; then pass; else fail "the reader waits after kill -9"; fi
dies "the command after kill -9" "$(cat killed.out)"

# On a terminal the command has the terminal.
script -qec "daybook run tty -- sh -c 'test -t 1 && test -t 2 && echo both >tty.is; echo shown'" tty.out >/dev/null </dev/null
is "a terminal stays one" both "$(cat tty.is 2>/dev/null)"
has "it is shown" tty.out shown
is "nothing is kept then" "" "$(output_of tty)"
script -qec "daybook run mixed -- sh -c 'test -t 1 || test -t 2 && echo err >tty.mixed; echo kept' | cat" tty.out >/dev/null </dev/null
is "one of the two" err "$(cat tty.mixed 2>/dev/null)"
is "the other is kept" kept "$(output_of mixed)"

# --- Whoever reads our words may be gone: what came of the command is recorded all the same
daybook run deaf --timeout 300ms --no-output -- sleep 60 2>&1 | :
is "deaf: its code" 124 "${PIPESTATUS[0]}"
is "deaf: recorded" failed "$(shown deaf state)"
printf '%s\n' '#!/bin/sh' 'echo did >>again.log; test "$(wc -l <again.log)" -ge 3' >again
chmod +x again
code "a deaf step" 0 daybook run deaf -- bash -c \
    'daybook step a --retries 2 --backoff 10ms -- ./again 2>&1 | :; exit ${PIPESTATUS[0]}'
is "a deaf step: its tries" 3 "$(wc -l <again.log)"
code "the signal is the command's own" 141 daybook run deaf -- bash -c 'yes | :; exit ${PIPESTATUS[0]}'

finish
