#!/bin/bash
# Tests of `daybook daemon` that is told to reload while it has something in hand, or while the
# machine has no room for it.
#
#   tests/command/reload_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
# shellcheck disable=SC2317
here=$(dirname "$(readlink -f "$0")")
tool=$(readlink -f "${DAYBOOK_TEST_QUEUE_TOOL:-$(dirname "$1")/../tests/command/queue_tool}")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"

with_book
# Each command is there until NAME.go is.
cat >work.sh <<'END_OF_SCRIPT'
#!/bin/bash
echo "$2" >>"$1.began"
until [[ -e $1.go ]]; do sleep 0.02; done
END_OF_SCRIPT
chmod +x work.sh
# declare_all FILE QUEUE...: with a command at a time each
declare_all() {
    local to=$1 name
    shift
    for name; do
        printf '[[queue]]\nname = "%s"\nworkers = 1\ncommand = ["./work.sh", "%s", "{key}"]\n' "$name" "$name"
    done >"$to.new"
    mv "$to.new" "$to"
}
put() { local name=$1; shift; printf '%s\n' "$@" | "$tool" import "$name"; }
show() { "$tool" show "$1" "$2" 2>&1; }
is_now() { [[ $(show "$1" "$2") == $3* ]]; }
becomes() { if until_true $patience is_now "$2" "$3" "$4"; then pass; else fail "$1: $(show "$2" "$3")"; fi; }
# serve NAME COMMAND...: a daemon with NAME.toml in the background, its pid in $last
serve() {
    local name=$1
    "${@:2}" "$daybook" daemon --config "$name.toml" --poll 50ms --lease 30s >"$name.out" 2>"$name.err" </dev/null &
    last=$!
    until_true $patience grep -qs " ready " "$name.err" || fail "$name: not ready: $(cat "$name.err")"
}
stops() {
    kill -TERM "$2"
    until_true $patience gone "$2" || kill -KILL "$2"
    wait "$2"
    is "$1" 0 $?
}
times() { grep -c -- "$2" "$1"; }
has_come() { (($(times "$1" "$2") >= $3)) || gone "$last"; }
# comes NAME FILE TEXT [TIMES]
comes() { until_true $patience has_come "$2" "$3" "${4:-1}"; if (($(times "$2" "$3") >= ${4:-1})); then pass; else fail "$1: $(cat "$2")"; fi; }

# --- Queues that are dropped: all are told at once, and nobody waits for what they have in hand
declare_all parting.toml one other stays
serve parting
put one a b
put other a b
until_true $patience there one.began
until_true $patience there other.began
touch stays.go more.go
declare_all parting.toml stays more
kill -HUP "$last"
comes "what is dropped is at work" parting.err "reloaded file=parting.toml schedules=0 queues=2"
put more a
put stays a
becomes "one that is added" more a succeeded
becomes "one that stays" stays a succeeded
touch other.go
comes "it has ended" parting.err "left queue=other"
is "it was told while the first is at work" "a|0" "$(paste -sd'|' other.began)|$(times parting.err 'left queue=one')"
becomes "what was begun is done" other a succeeded
has "what it did since its last line is told" parting.err \
    "worked queue=other succeeded=1 failed=0 others=0 handed_back=0 lost=0 running=0"
# ... meanwhile: once more, with a queue that was dropped
rm other.go
declare_all parting.toml stays other
kill -HUP "$last"
comes "HUP while one that was dropped is at work" parting.err "reloaded file=parting.toml schedules=0 queues=2" 2
touch other.go
becomes "worked again" other b succeeded
# ... and one that is still at work: there are two of it for a while
declare_all parting.toml stays one
kill -HUP "$last"
comes "HUP, again" parting.err "reloaded file=parting.toml schedules=0 queues=2" 3
put one c
until_true $patience grep -qsx c one.began
is "beside what it had in hand" "a|c" "$(paste -sd'|' one.began)"
declare_all parting.toml stays
kill -HUP "$last"
comes "HUP, the last one" parting.err "reloaded file=parting.toml schedules=0 queues=1"
# ... and told to stop: those are asked to end, too
stops "TERM while one that was dropped is at work" "$last"
is "both times, and no task twice" "2" "$(times parting.err 'worked queue=other succeeded=1 ')"
has "also of what is handed back" parting.err "worked queue=one succeeded=0 failed=0 others=0 handed_back="
has_not "nothing is undone" parting.err "=-"
is "handed back" "0 done, 0 dead, 0 unknown, 0 in hand, 3 due, 0 suspects" "$("$tool" counts one)"

# --- What the database alone finds wrong with a queue is told once, and not tried again
declare_all wrong.toml right
touch right.go new.go
serve wrong
declare_all wrong.toml right new
echo 'watch = { table = "no_such_table", key = "code" }' >>wrong.toml
kill -HUP "$last"
comes "what cannot be" wrong.err not_reloaded
has "it is refused" wrong.err 'the old one stays: '
has "the reason" wrong.err "no_such_table"
put right a
becomes "the old one" right a succeeded
declare_all wrong.toml right new
kill -HUP "$last"
comes "mended" wrong.err "reloaded file=wrong.toml schedules=0 queues=2"
is "told once" 1 "$(times wrong.err not_reloaded)"
put new a
becomes "the new one" new a succeeded
stops "after a refusal" "$last"

# --- No room for a thread: the old file goes on, and the log says why; with room the new one comes.
# Root alone can lend a user of its own, whom nobody else's processes crowd.
uid=$((100000 + $$))
lent=(setpriv --reuid "$uid" --regid "$uid" --clear-groups)
room_is() { "${lent[@]}" prlimit --pid "$last" --nproc="$1:"; }
chmod 777 . && chmod -R a+rw .
if "${lent[@]}" daybook version >/dev/null 2>&1; then
    declare_all tight.toml tight
    touch tight.go room.go
    serve tight "${lent[@]}"
    put tight a
    becomes "before" tight a succeeded
    declare_all tight.toml tight room
    threads=$(find "/proc/$last/task" -mindepth 1 -maxdepth 1 | wc -l)
    for room in {0..16}; do
        room_is "$((room > 0 ? threads + room - 1 : 1))"
        told=$(times tight.err "reloaded ")
        kill -HUP "$last"
        comes "room for $room" tight.err "reloaded " $((told + 1))
        lives "room for $room" "$last"
        ! grep -q " reloaded " tight.err || break
    done
    room_is "$(ulimit -Hu)"
    has "it says what goes on" tight.err "the old one stays until it is tried again: "
    has "and why" tight.err "Resource temporarily unavailable"
    is "too little room, and enough" yes "$( ((room >= 2 && room < 16)) && echo yes)"
    put room a
    put tight b
    becomes "the new one" room a succeeded
    becomes "the old one" tight b succeeded
    # ... nor to stop: it is done without one
    room_is 1
    stops "no room to stop" "$last"
    has "no room to stop" tight.err " stopped "
else
    echo "# nobody may lend a user of its own here: no room for a thread is not tried"
fi

finish
