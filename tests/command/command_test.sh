#!/bin/bash
# Tests of the daybook command as its users call it: exit codes, children, signals, what is told.
#
#   tests/command/command_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
# Many commands here are for the shell inside, which expands them.
# shellcheck disable=SC2016
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"

# --- Words, flags, help
code version 0 daybook version
has version out "daybook "
code help 0 daybook --help
code "help of a verb" 0 daybook help run
has "help of a verb" out "Exit codes"
code "no verb" 64 daybook
code "unknown verb" 64 daybook fly
code "half a verb" 64 daybook runs
code "unknown flag" 64 daybook run x --dead-line 6h -- true
code "no dashes" 64 daybook run x true
has "no dashes" err "put --"
code "no command" 64 daybook run x --
code "bad length of time" 64 daybook run x --wait 5 -- true
code "bad length of time" 64 daybook run x --wait -5s -- true
code "bad length of time" 64 daybook run x --wait 1h30m -- true
code "bad length of time" 64 daybook run x --wait 99999999999999999999s -- true
code "lease too short" 64 daybook run x --lease 999ms -- true
code "lease too long" 64 daybook run x --lease 25h -- true
code "bad URL" 64 daybook run x --db bogus:x -- true
code "step outside a run" 64 daybook step x -- true
has "step outside a run" err DAYBOOK_RUN
code "no such key flag value" 64 daybook run x --key
for words in version --help "queues list --help" "run --help" "help runs show" "runs --help"; do
    code "full disk: $words" 74 bash -c "'$daybook' $words >/dev/full"
done

# --- Before there is a book
code "no book" 78 daybook run x -- true
has "no book" err "daybook migrate up"
code "no file" 78 daybook run x --db sqlite:nowhere.db -- true
has "no file" err "daybook migrate up"
code "no file, list" 78 daybook runs list --db sqlite:nowhere.db
code "migrate sql without a book" 0 daybook migrate sql
has "migrate sql without a book" out "create table"
code "migrate status without a book" 0 daybook migrate status
has "migrate status without a book" out pending
code "migrate sql without a file" 0 daybook migrate sql --db sqlite:nowhere.db
if [[ -e nowhere.db ]]; then fail "an SQLite file made by looking"; else pass; fi
code "migrate up" 0 daybook migrate up
code "migrate up again" 0 daybook migrate up
has "migrate up again" err "up to date"
code "migrate status" 0 daybook migrate status
has "migrate status" out applied
code unreachable 69 daybook runs list --db postgresql://nobody:hush-hush@127.0.0.1:1/none
has_not unreachable err hush-hush
code doctor 0 daybook doctor
has doctor out "ok"

# --- Names
long=$(printf 'x%.0s' {1..255})
code "name of 255 bytes" 0 daybook run "$long" -- true
code "name of 256 bytes" 65 daybook run "${long}x" -- true
code "key of 256 bytes" 65 daybook run x --key "${long}x" -- true
code "empty name" 65 daybook run "" -- true
code "empty key" 65 daybook run x --key "" -- true
code "control character" 65 daybook run $'a\nb' -- true
is "control character: one line" 1 "$(wc -l <err)"
code "invalid UTF-8" 65 daybook run $'a\xffb' -- true
code "name of a verb" 0 daybook run step --key list -- true
code "key like a flag" 0 daybook run x --key=--once -- true
code "key in brackets" 0 daybook run x --key '[a,b]' -- true
code "key in braces" 0 daybook run x --key '{}' -- true
code "UTF-8" 0 daybook run "Rechnung-ä" --key "客户/42" -- true

# --- The child
code success 0 daybook run ok -- true
is "state of success" 0 "$(shown ok state_code)"
code "child's exit code" 3 daybook run bad -- sh -c 'exit 3'
is "state of failure" failed "$(shown bad state)"
is "error of failure" "exit status 3" "$(shown bad error)"
code "killed child" 137 daybook run killed -- sh -c 'kill -KILL $$'
is "error of a killed child" "killed by signal 9 (SIGKILL)" "$(shown killed error)"
code "no shell" 0 daybook run args -- printf '%s|' 'a  b' '$HOME' '*' '' --key -- ';'
is "no shell" 'a  b|$HOME|*||--key|--|;|' "$(cat out)"
code "not found" 127 daybook run nf -- no-such-command-here
has "not found" err "command not found"
is "state of not found" failed "$(shown nf state)"
code "not found in a folder" 127 daybook run nf -- ./no-such-command
code "a folder" 126 daybook run nf -- /tmp
echo 'echo hello' >noline && chmod +x noline
code "no #! line" 126 daybook run nf -- ./noline
has "no #! line" err "#!"
printf '#!/no/such/shell\n' >noshell && chmod +x noshell
code "no interpreter" 126 daybook run nf -- ./noshell
echo x >plain && chmod -x plain
code "no permission" 126 daybook run nf -- ./plain
code "stdin and stdout" 0 bash -c "echo through | '$daybook' run io -- cat"
has "stdin and stdout" out through

cat >environment <<'END'
#!/bin/bash
env | grep ^DAYBOOK_ | grep -v FAILPOINT | sort
END
chmod +x environment
code environment 0 daybook run env --key k1 -- ./environment
has environment out "DAYBOOK_PROCESS=env"
has environment out "DAYBOOK_KEY=k1"
has environment out "DAYBOOK_ATTEMPT=1"
has environment out "DAYBOOK_RESUMED=0"
has environment out "DAYBOOK_RUN=1."
has environment out "DAYBOOK_PREFIX=$DAYBOOK_PREFIX"
has environment out "DAYBOOK_IDEMPOTENCY_KEY="
is "the key for receivers is not empty" 0 "$(grep -c 'IDEMPOTENCY_KEY=$' out)"
if [[ $engine == sqlite ]]; then
    code "relative path reaches the step" 0 daybook run env --db sqlite:book.db -- \
        bash -c 'cd / && echo "$DAYBOOK_DATABASE_URL" && daybook step one -- true'
    has "relative path is made absolute" out "sqlite:$dir/book.db"
fi

cat >files <<'END'
#!/bin/bash
for one in /proc/self/fd/*; do readlink "$one"; done | grep -E 'socket|book|anon'
grep SigIgn /proc/self/status
END
chmod +x files
code "files of the child" 0 daybook run files -- ./files
is "no file of the book in the child" 0 "$(grep -cE 'socket|book\.db|anon' out)"
is "no ignored signal in the child" 1 "$(grep -cE '0000000000000000$' out)"
code "a file of the caller's" 0 bash -c "exec 7</etc/passwd; '$daybook' run files -- head -c1 /dev/fd/7"

# --- Once, resume, steps
code "once, first" 0 daybook run once --once -- sh -c 'echo did >>once.log'
code "once, again" 0 daybook run once --once -- sh -c 'echo did >>once.log'
has "once, again" err "done before"
is "once" 1 "$(wc -l <once.log)"
code "not once" 0 daybook run once -- sh -c 'echo did >>once.log'
is "not once" 2 "$(wc -l <once.log)"
is "run number" 2 "$(shown once run_no)"

cat >job <<'END'
#!/bin/bash
set -e
daybook step load -- sh -c 'echo load >>steps.log; echo $DAYBOOK_IDEMPOTENCY_KEY >>keys.log'
daybook step post -- sh -c 'echo post >>steps.log; test -e allowed || exit 9'
daybook step send -- sh -c 'echo send >>steps.log'
END
chmod +x job
code "a step fails" 9 daybook run job -- ./job
is "after the failure" "load post" "$(paste -sd' ' steps.log)"
is "steps done" 1 "$(shown job steps_done)"
touch allowed
code resumed 0 daybook run job -- ./job
has resumed err "step load: done before, skipped"
is "after the resumption" "load post post send" "$(paste -sd' ' steps.log)"
is "attempt" 2 "$(shown job attempt)"
is "step by attempt" "1 2 2" "$(for i in 0 1 2; do shown job steps.$i.attempt; done | paste -sd' ')"
code "a fresh run" 0 daybook run job -- ./job
is "after the fresh run" "load post post send load post send" "$(paste -sd' ' steps.log)"
rm allowed
code "fails again" 9 daybook run job -- ./job
touch allowed
code restarted 0 daybook run job --restart -- ./job
has_not restarted err "skipped"
is "receivers' keys differ by run" "$(wc -l <keys.log)" "$(sort -u keys.log | wc -l)"

code "bad step name" 65 daybook run badstep -- daybook step $'a\tb' -- true
code "empty step name" 65 daybook run badstep -- daybook step '' -- true
code "step: not found" 127 daybook run badstep -- daybook step a -- no-such-command
code "step: cannot execute" 126 daybook run badstep -- daybook step a -- /tmp
code "step: killed" 143 daybook run badstep -- daybook step a -- sh -c 'kill -TERM $$'
code "bad token" 64 env DAYBOOK_RUN=nonsense "$daybook" step a -- true
code "token kept" 0 daybook run stale -- sh -c 'echo "$DAYBOOK_RUN" >token'
code "token of an ended run" 79 env DAYBOOK_RUN="$(cat token)" "$daybook" step late -- touch late
if [[ -e late ]]; then fail "a step of an ended run was done"; else pass; fi

# --- Somebody else has it
background holder run busy -- sh -c 'echo $$ >busy.pid; exec sleep 60'
holder=$last
until_true $patience there busy.pid
code busy 75 daybook run busy -- touch twice
has busy err "process $holder on "
code "busy, waited" 75 daybook run busy --wait 300ms -- touch twice
has "busy, waited" err "waited 300ms"
code "another key" 0 daybook run busy --key other -- true
is "listed as running" busy "$(daybook runs list --state ready --json | field process)"
is "its holder" "$holder" "$(shown busy holder.pid)"
background waiter run busy --wait 1m -- true
until_true $patience there waiter.err
kill -TERM "$last"
wait "$last"
is "signal while waiting" 143 $?
background waiter2 run busy --wait 1m -- sh -c 'echo got it'
until_true $patience there waiter2.err
kill -TERM "$(cat busy.pid)"
wait "$holder"
is "the holder's command was killed" 143 $?
wait "$last"
is "waited for" 0 $?
has "waited for" waiter2.out "got it"
is "only one at a time" no "$([[ -e twice ]] && echo yes || echo no)"

code "the database is away, waited" 69 daybook run away --wait 300ms \
    --db postgresql://nobody:hush-hush@127.0.0.1:1/none -- true
has "the database is away, waited" err "waiting up to 300ms"
has_not "the database is away, waited" err hush-hush
background waiter3 run away --wait 1m --db postgresql://nobody@127.0.0.1:1/none -- true
until_true $patience there waiter3.err
kill -TERM "$last"
wait "$last"
is "signal while the database is away" 143 $?
if [[ $engine == sqlite ]]; then
    mkdir away
    ln -s away later.db
    background waiter4 run away --wait 1m --db "sqlite:$dir/later.db" -- true
    until_true $patience there waiter4.err
    ln -s "${url#sqlite:}" new && mv -T new later.db
    wait "$last"
    is "the database has come back" 0 $?
fi

racers=()
for i in 1 2 3 4 5 6 7 8; do
    background "race$i" run race --once --wait 2m -- sh -c 'echo did >>race.log; sleep 0.1'
    racers+=("$last")
done
codes=
for pid in "${racers[@]}"; do
    wait "$pid"
    codes+=$?
done
is "eight at once: exit codes" 00000000 "$codes"
is "eight at once, done once" 1 "$(wc -l <race.log)"

# --- Time, signals, death
code timeout 124 daybook run slow --timeout 300ms -- sleep 60
has timeout err "timed out after 300ms"
is "state of a timeout" failed "$(shown slow state)"
start=$SECONDS
code "timeout, TERM ignored" 124 daybook run slow --timeout 2s -- \
    bash -c 'trap "" TERM; (trap "" TERM; echo $BASHPID >deaf.pid; while :; do sleep 1; done) & wait'
is "KILL after the grace" yes "$( ((SECONDS - start >= 6 && SECONDS - start < 60)) && echo yes)"
dies "the rest of the group" "$(cat deaf.pid)"

cat >traps <<'END'
#!/bin/bash
trap 'echo USR1 >>trapped' USR1
trap 'echo HUP >>trapped' HUP
trap 'echo TERM >>trapped; exit 7' TERM
echo $$ >traps.pid
while :; do sleep 0.05; done
END
chmod +x traps
background signals run signals -- ./traps
until_true $patience there traps.pid
for one in USR1 HUP; do
    kill -$one "$last"
    until_true $patience grep -qs $one trapped
    has "signal $one is handed on" trapped $one
done
kill -TERM "$last"
wait "$last"
is "TERM is handed on, and the child's answer counts" 7 $?
is "state after TERM" failed "$(shown signals state)"

# A shell's background jobs ignore INT, and so do we and the child; env gives it back.
env --default-signal=INT "$daybook" run int -- sh -c 'echo $$ >int.pid; exec sleep 60' \
    >out 2>err </dev/null &
pid=$!
until_true $patience there int.pid
kill -INT "$pid"
wait "$pid"
is "INT" 130 $?
background ignoring run int -- sh -c 'echo $$ >int2.pid; until test -e int2.go; do sleep 0.02; done; exit 6'
until_true $patience there int2.pid
kill -INT "$last"
touch int2.go
wait "$last"
is "INT, where it is ignored" 6 $?

nohup "$daybook" run nohup -- sh -c 'echo $$ >nohup.pid; until test -e nohup.go; do sleep 0.02; done; exit 5' \
    >out 2>err &
pid=$!
until_true $patience there nohup.pid
kill -HUP "$pid"
touch nohup.go
wait "$pid"
is "nohup" 5 $?

cat >family <<'END'
#!/bin/bash
echo $$ >family.script
(echo $BASHPID >family.subshell; while :; do sleep 1; done) &
(daybook step work -- sh -c 'echo $$ >family.work; sleep 60; echo more') &
daybook step work2 -- sh -c 'echo $$ >family.work2; exec sleep 60'
END
chmod +x family
background family run family --lease 10s -- ./family
until_true $patience there family.work
until_true $patience there family.work2
until_true $patience there family.subshell
for one in script subshell work work2; do lives "before: $one" "$(cat family.$one)"; done
kill -KILL "$last"
wait "$last" 2>/dev/null
code "after kill -9, too early" 75 daybook run family -- true
for one in script subshell work work2; do dies "after kill -9: $one" "$(cat family.$one)"; done
code "after kill -9, taken over" 0 daybook run family --wait 1m -- true
is "the attempt after kill -9" 2 "$(shown family attempt)"
is "the history of kill -9" interrupted "$(shown family attempts.0.state)"

code "what a failed child leaves" 1 daybook run left -- \
    bash -c 'sleep 60 & echo $! >left.pid; exit 1'
dies "what a failed child leaves" "$(cat left.pid)"
code "what a successful child leaves" 0 daybook run left -- \
    bash -c 'sleep 60 >/dev/null 2>&1 & echo $! >left.pid; exit 0'
lives "what a successful child leaves" "$(cat left.pid)"
kill -KILL "$(cat left.pid)"

# ... in whatever process group or session it is: `timeout` makes a group of its own
cat >spread <<'END'
#!/bin/bash
timeout 1h sh -c 'echo $$ >spread.group; exec sleep 60' >/dev/null 2>&1 &
setsid sh -c 'echo $$ >spread.session; exec sleep 60' >/dev/null 2>&1 &
(setsid -f bash -c 'trap "echo TERM >>spread.heard" TERM; echo $$ >spread.deaf
    while :; do sleep 0.1; done' >/dev/null 2>&1)
until [[ -s spread.group && -s spread.session && -s spread.deaf ]]; do sleep 0.02; done
echo yes >spread.there
if [[ $1 == wait ]]; then wait; else exit "$1"; fi
END
chmod +x spread
spread=(group session deaf)
code "it failed" 3 daybook run spread -- ./spread 3
for one in "${spread[@]}"; do dies "it failed: $one" "$(cat "spread.$one")"; done
is "TERM is heard, once" TERM "$(cat spread.heard)"
rm spread.*
code "it took too long" 124 daybook run spread --timeout 10s -- ./spread wait
for one in "${spread[@]}"; do dies "it took too long: $one" "$(cat "spread.$one")"; done
rm spread.*
background spread-1 run spread --lease 10s -- ./spread wait
until_true $patience there spread.there
kill -KILL "$last"
wait "$last" 2>/dev/null
for one in "${spread[@]}"; do dies "kill -9: $one" "$(cat "spread.$one")"; done
code "kill -9, taken over" 0 daybook run spread --wait 1m -- true
rm spread.*
background spread-2 run spread -- sh -c 'echo $PPID >spread.keeper; exec ./spread wait'
until_true $patience there spread.there
keeper=$(cat spread.keeper)
kill -KILL "$keeper"
wait "$last"
is "its keeper is killed" 137 $?
for one in "${spread[@]}"; do kill -KILL "$(cat "spread.$one")"; done
rm spread.*
code "it succeeded" 0 daybook run spread -- ./spread 0
for one in "${spread[@]}"; do
    lives "it succeeded: $one" "$(cat "spread.$one")"
    kill -KILL "$(cat "spread.$one")"
done

# --- Ownership lost: the holder sleeps past its lease, another takes over, it wakes up.
background lost run lost --lease 1s -- sh -c 'echo $$ >lost.pid; exec sleep 60'
until_true $patience there lost.pid
freezes "$last"
code "taken over from a sleeper" 0 daybook run lost --wait 1m -- true
lives "the sleeper's child" "$(cat lost.pid)"
kill -CONT "$last"
wait "$last"
is "ownership lost" 79 $?
has "ownership lost" lost.err "ownership lost"
dies "the sleeper's child" "$(cat lost.pid)"
is "the other's success stands" succeeded "$(shown lost state)"

background finisher run finisher --lease 1s -- \
    sh -c 'echo $$ >finisher.pid; until test -e finisher.go; do sleep 0.05; done'
until_true $patience there finisher.pid
freezes "$last"
code "taken over before the end" 0 daybook run finisher --wait 1m -- true
touch finisher.go
until_true $patience gone "$(cat finisher.pid)"
kill -CONT "$last"
wait "$last"
is "lost at the end" 79 $?
has "lost at the end" finisher.err "not recorded"

background steplost run steplost --lease 1s -- daybook step one -- \
    sh -c 'echo $$ >steplost.pid; until test -e go; do sleep 0.05; done'
until_true $patience there steplost.pid
freezes "$last"
code "taken over inside a step" 0 daybook run steplost --wait 1m -- true
touch go
until_true $patience gone "$(cat steplost.pid)"
sleep 0.3
kill -CONT "$last"
wait "$last"
is "a step lost at its end" 79 $?

if [[ $engine == sqlite ]]; then
    code "success that cannot be recorded" 69 daybook run blocked --lease 5s -- bash -c '
        python3 -c "
import sqlite3, time
book = sqlite3.connect(\"book.db\", isolation_level=None)
book.execute(\"begin immediate\")
open(\"blocking\", \"w\").write(\"x\")
time.sleep(90)" >/dev/null 2>&1 &
        echo $! >blocker.pid
        until [[ -s blocking ]]; do sleep 0.02; done'
    has "success that cannot be recorded" err "not recorded"
    kill -KILL "$(cat blocker.pid)"
fi

# --- Secrets
# A server that takes connections and says nothing.
python3 -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
open("port", "w").write(str(s.getsockname()[1])); time.sleep(120)' &
mute=$!
until_true $patience there port
"$daybook" run x --db "postgresql://u:hush-hush@127.0.0.1:$(cat port)/x" -- true \
    >out 2>err </dev/null &
pid=$!
until_true $patience grep -qs '\*\*\*' "/proc/$pid/cmdline"
tr '\0' ' ' <"/proc/$pid/cmdline" >cmdline
has "ps" cmdline "postgresql://***"
has_not "ps shows no password" cmdline hush-hush
kill -TERM "$pid"
wait "$pid" 2>/dev/null
is "TERM while connecting" 143 $?
kill "$mute"; wait "$mute" 2>/dev/null
code "misplaced URL" 64 daybook run x mysql://u:hush-hush@h/x -- true
has_not "misplaced URL" err hush-hush
code "broken URL" 64 daybook run x --db "mysql://u:hush-hush@h:hush-hush@x/y" -- true
has_not "broken URL" err hush-hush

# --- What is listed
daybook runs list --json >out 2>err
is "list --json: exit code" 0 $?
python3 - out >found 2>&1 <<'END'
import json, re, sys
for line in open(sys.argv[1]):
    run = json.loads(line)
    for name in ("first_started", "started", "attempt_started"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", run[name]), run[name]
    assert run["ended"] is None or run["ended"] >= run["attempt_started"], run
print("fine")
END
is "list --json" fine "$(tail -1 found)"
is "limit" 2 "$(daybook runs list --limit 2 --json | wc -l)"
is "by process" 2 "$(daybook runs list --process busy --json | wc -l)"
is "by state's number" "$(daybook runs list --state failed --json | wc -l)" \
    "$(daybook runs list --state -1 --json | wc -l)"
is "state filter" '"failed"' \
    "$(daybook runs list --state failed --json | grep -o '"state":"[a-z]*"' | sort -u | cut -d: -f2)"
code "no such state" 64 daybook runs list --state gone
code "no such limit" 64 daybook runs list --limit 0
code "list" 0 daybook runs list
has "list" out PROCESS
code "show" 0 daybook runs show job
has "show" out "succeeded (0)"
has "show" out load
code "show a date" 0 daybook run dated --date 2026-01-01 -- true
daybook runs show dated >out 2>err
has "show a date" out "date of its data 2026-01-01"
code "show with a key" 0 daybook runs show env --key k1
code "no such run" 66 daybook runs show nothing
code "--db before the verb" 0 daybook --db "$url" runs list
code "a flag beats the environment" 0 env DAYBOOK_DATABASE_URL=sqlite:/no/such "$daybook" \
    runs list --db "$url"
code "DATABASE_URL" 0 env -u DAYBOOK_DATABASE_URL DATABASE_URL="$url" "$daybook" runs list

# --- A terminal: Ctrl-C reaches the command, and a script around us ends as without us.
cat >script.sh <<'END'
#!/bin/bash
daybook run tty -- sh -c 'echo $$ >tty.pid; read line; echo "read $line" >tty.read; echo ready >tty.ready; exec sleep 60'
echo "exit $?" >tty.went_on
END
timeout 120 python3 "$here/terminal.py" interrupt >out 2>err
is "the command reads from the terminal" "read words" "$(cat tty.read 2>/dev/null)"
is "Ctrl-C ends the script around us" "signal 2" "$(cat out)"
is "Ctrl-C: the script does not go on" no "$([[ -e tty.went_on ]] && echo yes || echo no)"
dies "Ctrl-C" "$(cat tty.pid)"
is "state after Ctrl-C" "killed by signal 2 (SIGINT)" "$(shown tty error)"

timeout 120 python3 "$here/terminal.py" stop >out 2>err
is "Ctrl-Z and fg" "code 0" "$(cat out)"

finish
