#!/bin/bash
# Tests of the command as the first process of a container, and as a subreaper, which is given
# orphans in the same way, and for which nobody has to be permitted anything.
#
#   tests/command/container_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
# shellcheck disable=SC2016,SC2317
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"

with_book
cat >subreaper.py <<'END'
"""subreaper.py COMMAND...: becomes the command, and what is given orphans beneath it."""
import ctypes, os, sys
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0
os.execvp(sys.argv[1], sys.argv[1:])
END
subreaper=(python3 subreaper.py)
# What it leaves running is an orphan, and ends when it is told to.
cat >leaves.sh <<'END'
#!/bin/bash
(
    (
        echo $BASHPID >orphan.new && mv orphan.new orphan.pid
        until [[ -e orphan.go ]]; do sleep 0.02; done
    ) &
)
END
cat >looks.sh <<'END'
#!/bin/bash
while [[ -d /proc/$(cat orphan.pid) ]]; do sleep 0.02; done
tr '\0' ' ' </proc/1/cmdline >looked.new && mv looked.new looked
END
cat >works.sh <<'END'
#!/bin/bash
trap 'echo asked >>asked; exit 9' TERM
echo $$ >pid.new && mv pid.new pid
for ((;;)); do sleep 0.05; done
END
chmod +x leaves.sh looks.sh works.sh
for name in leaves looks works; do
    printf '[[schedule]]\nname = "%s"\ncron = "0 0 29 2 +MON"\ncommand = ["./%s.sh"]\n' $name $name
done >all.toml
# serves NAME COMMAND...: a daemon in the background beneath it, its pid in $last
serves() {
    "${@:2}" "$daybook" daemon --config all.toml --poll 50ms --lease 30s >"$1.out" 2>"$1.err" </dev/null &
    last=$!
    until_true $patience grep -qs " ready " "$1.err" || fail "$1: not ready: $(cat "$1.err")"
}
# ends NAME PID WANTED
ends() {
    until_true $patience gone "$2" || { fail "$1: it lives"; kill -KILL "$2"; }
    wait "$2"
    is "$1" "$3" $?
}
told() { grep -q -- "$2" "$1"; }
# tells NAME FILE TEXT
tells() { if until_true $patience told "$2" "$3"; then pass; else fail "$1: $(cat "$2")"; fi; }
# reaps NAME: the daemon of NAME.err, whose first process is $init, is given an orphan, and signals
reaps() {
    rm -f orphan.* looked asked pid
    daybook schedules trigger leaves >out
    until_true $patience there orphan.pid
    tells "$1: it is left" "$1.err" "done schedule=leaves"
    touch orphan.go
    daybook schedules trigger looks >out
    if until_true $patience there looked; then pass; else fail "$1: a zombie is left: $(cat "$1.err")"; fi
    daybook schedules trigger works >out
    until_true $patience there pid
    kill -HUP "$init"
    tells "$1: HUP" "$1.err" " reloaded "
    kill -TERM "$init"
}

# --- A subreaper
serves below "${subreaper[@]}"
init=$last
reaps below
ends "TERM" "$last" 0
is "its command is asked once" asked "$(cat asked)"
has "handed back" below.err "handed_back=1"
rm -f asked pid
"${subreaper[@]}" "$daybook" run struck -- ./works.sh >out 2>err </dev/null &
last=$!
until_true $patience there pid
kill -KILL "$last"
ends "KILL" "$last" 137
dies "its command" "$(cat pid)"
code "the command's own" 7 "${subreaper[@]}" daybook run own -- sh -c 'exit 7'
code "killed" 137 "${subreaper[@]}" daybook run own -- sh -c 'kill -KILL $$'
code "no such verb" 64 "${subreaper[@]}" daybook nothing
code "its output" 0 "${subreaper[@]}" daybook run own -- sh -c 'echo said; echo warned >&2'
is "its output" said "$(cat out)"
has "its errors" err warned
# A signal for the whole group comes once.
rm -f asked pid
setsid "${subreaper[@]}" "$daybook" run own -- ./works.sh >out 2>err </dev/null &
last=$!
until_true $patience there pid
kill -TERM -- "-$last"
ends "all of its group are asked" "$last" 9
is "its command once" asked "$(cat asked)"

# --- At a terminal, which tells the whole group itself
rm -f asked pid
daybook schedules trigger works >out
python3 "$here/terminal.py" press pid sh -c 'exec "$@" 2>pressed.err' sh "${subreaper[@]}" "$daybook" \
    daemon --config all.toml --poll 50ms --lease 30s >out 2>err
is "Ctrl-C" "code 0" "$(cat out)"
has "Ctrl-C, once" pressed.err "handed_back=1"
is "its command is asked" asked "$(cat asked)"
timeout 120 python3 "$here/terminal.py" stop "${subreaper[@]}" >out 2>err
is "Ctrl-Z, and fg" "code 0" "$(cat out)"

# --- Who started it hears of it from the process that it started
cat >hears.py <<'END'
"""hears.py SOCKET: prints PID TEXT of each message."""
import socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
s.bind(sys.argv[1])
while True:
    text, by, _, _ = s.recvmsg(4096, 256)
    print(struct.unpack("iii", by[0][2])[0], text.decode().split("\n")[0], flush=True)
END
python3 hears.py socket >heard &
hearing=$!
until_true $patience test -S socket
serves heard env NOTIFY_SOCKET="$dir/socket" WATCHDOG_USEC=200000 "${subreaper[@]}"
tells "READY" heard "^$last READY=1"
tells "WATCHDOG" heard "^$last WATCHDOG=1"
kill -TERM "$last"
ends "TERM" "$last" 0
tells "STOPPING" heard "^$last STOPPING=1"
is "from nobody else" "" "$(grep -v "^$last " heard)"
kill "$hearing"
wait "$hearing" 2>/dev/null

# --- The first process of a container
for own in "" "--user --map-root-user"; do
    # shellcheck disable=SC2206
    first=(unshare $own --pid --fork --mount-proc)
    "${first[@]}" true 2>/dev/null && break
    first=()
done
inside() { init=$(tr -d ' ' <"/proc/$last/task/$last/children") && [[ -n $init ]]; }
if ((${#first[@]})); then
    serves first "${first[@]}"
    until_true $patience inside
    reaps first
    ends "TERM of the first" "$last" 0
    is "it was the first" "$daybook daemon" "$(cut -d' ' -f1,2 looked)"
    is "its command is asked once" asked "$(cat asked)"
    code "the first's command" 7 "${first[@]}" daybook run own -- sh -c 'exit 7'
    # What catches no signals itself is ended by one all the same.
    daybook queues make some 2>err
    mkfifo keys
    "${first[@]}" "$daybook" queues import some - <keys >out 2>err &
    last=$!
    exec 3>keys
    until_true $patience inside
    until_true $patience test -s "/proc/$init/task/$init/children"
    kill -TERM "$init"
    ends "TERM of what catches none" "$last" 143
    exec 3>&-
else
    echo "# nobody may make a PID namespace here: the subreaper stands for it"
fi

finish
