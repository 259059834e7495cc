# Sourced by the tests of the command: SCRIPT PATH-OF-DAYBOOK [DATABASE-URL]. Makes a folder of its
# own and enters it, chooses the book, counts what passes. Ends with `finish`.
#
# Without a URL (or DAYBOOK_TEST_URL) a fresh SQLite file is used. With one, the tables get a
# prefix of their own, which stays behind: $unique, for all that must have a name of its own there. Prints "N passed, N failed"; exit 1 when any failed.
# shellcheck shell=bash
set -u

daybook=$(readlink -f "${1:?path of the daybook binary}")
[[ -x $daybook ]] || { echo "no such program: $1" >&2; exit 2; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/daybook-command-test.XXXXXX") || exit 2
cd "$dir" || exit 2
url=${2:-${DAYBOOK_TEST_URL:-sqlite:$dir/book.db}}
case $url in sqlite*) engine=sqlite ;; *) engine=server ;; esac

# Nothing of the caller's may decide what is meant.
unset DAYBOOK_RUN DAYBOOK_PROCESS DAYBOOK_KEY DATABASE_URL DAYBOOK_SCHEMA DAYBOOK_FAILPOINT
export DAYBOOK_DATABASE_URL=$url
unique=ct$(printf %08x "$SRANDOM")  # the numbers of processes come again
export DAYBOOK_PREFIX=${unique}_
export PATH=$dir/bin:$PATH
mkdir bin
ln -s "$daybook" bin/daybook

passed=0
failed=0
# Seconds, for what must come, where many share a machine; what must not come is not waited for.
# shellcheck disable=SC2034
patience=60
# Whom to end that is no child of ours: by now its number may be another's, who works elsewhere.
strangers=()
cleanup() {
    local pid
    exec 2>/dev/null
    for pid in $(jobs -pr); do kill -KILL "$pid"; done
    for pid in "${strangers[@]}"; do
        [[ $(readlink "/proc/$pid/cwd") != "$dir"* ]] || kill -KILL "$pid"
    done
    cd / && rm -rf "$dir"
}
trap cleanup EXIT

# freezes PID: stopped, but not within a write of SQLite's, which would keep everybody from writing.
freezes() {
    local try
    for try in {1..30}; do
        kill -STOP "$1"
        [[ $engine == sqlite ]] || return 0
        if python3 - "${url#sqlite:}" <<'END'
import sqlite3, sys
book = sqlite3.connect(sys.argv[1], timeout=1, isolation_level=None)
book.execute("begin immediate")
book.execute("rollback")
END
        then
            return 0
        fi 2>/dev/null
        kill -CONT "$1"
        sleep "0.$((try % 10))"
    done
    fail "process $1 writes whenever it is to be stopped"
}
pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
    sed 's/^/    out: /' out 2>/dev/null | head -20
    sed 's/^/    err: /' err 2>/dev/null | head -20
}
# is NAME WANTED GOT
is() { if [[ $2 == "$3" ]]; then pass; else fail "$1: wanted '$2', got '$3'"; fi; }
# has NAME FILE TEXT
has() { if grep -qF -- "$3" "$2"; then pass; else fail "$1: no '$3' in $2"; fi; }
has_not() { if grep -qF -- "$3" "$2"; then fail "$1: '$3' in $2"; else pass; fi; }
# code NAME WANTED COMMAND...
code() {
    [[ -z ${TRACE:-} ]] || echo "$SECONDS $1"
    local name=$1 wanted=$2 got
    shift 2
    "$@" >out 2>err </dev/null
    got=$?
    is "$name: exit code" "$wanted" "$got"
}
# until_true SECONDS COMMAND...
until_true() {
    local end=$((SECONDS + $1 + 1))
    shift
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.02
    done
}
gone() { [[ ! -d /proc/$1 ]] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }
there() { [[ -s $1 ]]; }
# dies NAME PID
dies() { if until_true $patience gone "$2"; then pass; else fail "$1: process $2 lives"; fi; }
lives() { if gone "$2"; then fail "$1: process $2 is gone"; else pass; fi; }
# In the background, by the binary itself, so that $! is the command's own pid; output in FILE.err
# shellcheck disable=SC2034
background() {
    local name=$1
    shift
    "$daybook" "$@" >"$name.out" 2>"$name.err" </dev/null &
    last=$!
}
field() { python3 -c 'import json,sys; v=json.loads(sys.stdin.readline())
for k in sys.argv[1].split("."): v=v[int(k)] if k.lstrip("-").isdigit() else v[k]
print(v)' "$1"; }
shown() { "$daybook" runs show "$1" --json 2>err | field "$2"; }

echo "# $daybook, $engine"
# Only where a test needs a book.
with_book() { daybook migrate up 2>/dev/null || { echo "no book"; exit 2; }; }
finish() {
    echo "$passed passed, $failed failed"
    ((failed == 0))
    exit
}
