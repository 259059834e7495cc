#!/bin/bash
# Tests of what operators do: looking, taking runs from their holders, settling, pruning.
#
#   tests/command/people_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
# shellcheck disable=SC2016
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"

with_book

# --- Release
background holder run held -- sh -c 'echo $$ >held.pid; exec daybook step wait -- sh -c "until test -e go; do sleep 0.02; done"'
holder=$last
until_true $patience there held.pid
code "no --yes" 64 daybook runs release held
has "no --yes" err "--yes"
is "still held" True "$(shown held holder.alive)"
code "release" 0 daybook runs release held --yes --reason "hangs"
code "taken over at once" 0 daybook run held -- true
touch go
wait "$holder"
is "its holder has lost it" 79 $?
is "the other's success stands" succeeded "$(shown held state)"
is "why" "released by $(id -un)@$(uname -n): hangs" "$(shown held attempts.0.error)"
is "who" "$(id -un)@$(uname -n)" "$(shown held changes.0.actor)"
is "what" release "$(shown held changes.0.action)"
code "show" 0 daybook runs show held
has "show" out "changed by people: 1"
code "nobody holds it" 0 daybook runs release held --yes
has "nobody holds it" err "nothing to do"
code "no such run" 66 daybook runs release nothing --yes

# --- Restart
code "a failure" 3 daybook run again -- sh -c 'daybook step one -- sh -c "echo did >>again.log"; exit 3'
code "restart" 0 daybook runs restart again --yes
is "discarded" discarded "$(shown again state)"
code "afresh" 0 daybook run again --once -- daybook step one -- sh -c 'echo did >>again.log'
is "afresh" 2 "$(wc -l <again.log)"
code "restart past once" 0 daybook runs restart again --yes
code "once more" 0 daybook run again --once -- daybook step one -- sh -c 'echo did >>again.log'
is "once more" 3 "$(wc -l <again.log)"
code "no such run" 66 daybook runs restart nothing --yes
background holder run busy -- sh -c 'echo $$ >busy.pid; exec sleep 60'
until_true $patience there busy.pid
code "restart of what is held" 75 daybook runs restart busy --yes
has "restart of what is held" err "release"
code "resolve of what is held" 75 daybook runs resolve busy --done --yes

# --- Resolve
code "unknown" 80 daybook run two -- sh -c \
    'for one in a b; do daybook step $one --mode at-most-once -- false; done; true'
code "which" 65 daybook runs resolve two --done --yes
code "how" 64 daybook runs resolve two --step a --yes
code "both" 64 daybook runs resolve two --step a --done --not-done --yes
code "no such step" 66 daybook runs resolve two --step c --done --yes
code "one" 0 daybook runs resolve two --step a --done --yes
is "the other is left" b "$(shown two intents.0.name)"
code "listed" 0 daybook runs list --state unknown
has "listed" out two
code "the other" 0 daybook runs resolve two --not-done --yes
is "resumable" interrupted "$(shown two state)"

# --- Asked on a terminal
script -qec "daybook runs restart two" asked.out >/dev/null <<<n
has "asked" asked.out "[y/N]"
is "not without a yes" interrupted "$(shown two state)"
script -qec "daybook runs restart two" asked.out >/dev/null <<<y
is "with a yes" discarded "$(shown two state)"

# --- Status, list
code "status" 0 daybook status
has "status" out "in hand"
code "status --json" 0 daybook status --json
is "in hand" 1 "$(field runs_in_hand <out)"
is "alive" 1 "$(field holders_alive <out)"
is "unknown" 0 "$(field runs_unknown <out)"
background dead run dead --lease 1s -- sh -c 'echo $$ >dead.pid; exec sleep 60'
until_true $patience there dead.pid
kill -KILL "$last"
wait "$last" 2>/dev/null
abandoned() { daybook runs list --process dead | grep -q abandoned; }
if until_true $patience abandoned; then pass; else fail "a dead holder's run is not listed as abandoned"; fi
is "abandoned" 1 "$(daybook status --json | field runs_abandoned)"
background overdue run overdue --deadline 5s -- sh -c 'echo $$ >overdue.pid; exec sleep 60'
until_true $patience there overdue.pid
freezes "$last"
over() { daybook runs list --process overdue | grep -q "deadline passed, "; }
if until_true $patience over; then pass; else fail "an overdue run is not listed so"; fi
is "overdue" 1 "$(daybook status --json | field runs_overdue)"
kill -KILL "$last"

# --- Prune
code "prune, nothing is old" 0 daybook runs prune --yes --json
is "prune, nothing is old" 0 "$(field attempts <out)"
code "prune, too young" 64 daybook runs prune --older-than 59m --yes
for length in 110m 3599999ms 90m; do
    code "prune, $length" 64 daybook runs prune --older-than $length --yes
    has "prune, $length" err "--older-than $length: whole hours are wanted"
done
code "prune, whole hours" 0 daybook runs prune --older-than 120m --yes
code "prune, no terminal" 64 daybook runs prune
code "prune, a bad name" 65 daybook runs prune --process "" --yes
code "prune in words" 0 daybook runs prune --older-than 30d --process again --yes
has "prune in words" out "deleted: 0 attempts"

# --- daybook.toml
mkdir with_file && cd with_file || exit 2
here_without() { env -u DAYBOOK_DATABASE_URL "$daybook" "$@"; }
echo 'database = "sqlite:file.db"  # ours' >daybook.toml
code "migrate" 0 here_without migrate up
is "the file's database" yes "$([[ -e file.db ]] && echo yes || echo no)"
code "the environment beats the file" 0 env DAYBOOK_DATABASE_URL="$url" "$daybook" runs show held
printf '# a comment\ndatabase = "sqlite:file.db"\nlease = "30s"\n' >daybook.toml
code "unknown key" 65 here_without status
has "unknown key" err "daybook.toml, line 3, column 1: 'lease'"
printf 'database = 5\n' >daybook.toml
code "no text" 65 here_without status
has "no text" err "line 1"
printf 'database = "x\n' >daybook.toml
code "no TOML" 65 here_without status
has "no TOML" err "line 1"
mkdir -p folder/daybook.toml
cd folder || exit 2
code "unreadable" 74 here_without status
cd "$dir" || exit 2

# --- Codes that nothing else here has
code "a defect" 70 env DAYBOOK_FAILPOINT=start.begun=fail "$daybook" run defect -- true
nobody() { if ((EUID == 0)); then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi; }
case $url in
    sqlite:*)
        mkdir locked && cp book.db locked/ && chmod 444 locked/book.db && chmod 755 "$dir" &&
            chmod 555 locked
        code "a read-only file" 77 nobody "$daybook" run x --db "sqlite:$dir/locked/book.db" -- true
        chmod 755 locked ;;
    postgres*)
        if [[ $url == "${DAYBOOK_TEST_POSTGRESQL:-}" ]]; then
            role=$unique
            psql -qX "$DAYBOOK_TEST_POSTGRESQL_ADMIN" -c "create role $role login password 'p'" >/dev/null
            theirs=$(sed "s|//[^@]*@|//$role:p@|" <<<"$url")
            code "no rights" 77 daybook run x --db "$theirs" -- true
            may() { # may WHAT: on each table of the book
                psql -qXAt "$url" -c "select format('grant $1 on %s to $role;', oid::regclass)
                    from pg_class where relkind = 'r' and relname like '$unique%'" | psql -qX "$url"
            }
            may "select, insert, update"
            code "not all rights" 78 daybook doctor --db "$theirs"
            has "not all rights" out "not_writable = ${unique}_aggregation, "
            may delete
            code "all rights" 0 daybook doctor --db "$theirs"
            code "they are enough" 0 daybook run x --db "$theirs" -- true
            psql -qX "$DAYBOOK_TEST_POSTGRESQL_ADMIN" -c "drop owned by $role" >/dev/null
            psql -qX "$DAYBOOK_TEST_POSTGRESQL_ADMIN" -c "drop role $role" >/dev/null
        fi ;;
esac

finish
