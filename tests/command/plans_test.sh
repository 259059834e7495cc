#!/bin/bash
# Tests of `daybook plans` and of [[plan]]: work that must exist, from a query.
#
#   tests/command/plans_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
# shellcheck disable=SC2016,SC2317,SC2015
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"
# shellcheck source=tests/command/client.sh
. "$here/client.sh"

# --- daybook.toml: what is wrong is said with line and column, before any book is looked at.
# wrong NAME LINE COLUMN MESSAGE <FILE
wrong() {
    cat >daybook.toml
    code "$1" 65 env -u DAYBOOK_DATABASE_URL "$daybook" plans run p
    has "$1" err "daybook.toml, line $2, column $3: $4"
}
base() {
    printf '[[plan]]\nname = "p"\nkind = "%s"\nqueue = "q"\n%s\n' "$1" "$2"
    cat
}
while IFS='|' read -r line column message; do
    wrong "$line" 6 "$column" "$message" < <(base query 'query = "select 1"' <<<"$line")
done <<'END'
quary = "x"|1|'quary' is not known in a [[plan]]; did you mean 'query'? There are name, kind, queue, query, timeout, from,
timeout = "500ms"|11|timeout: 500ms is not from 1s to
every = "1ms"|9|every: 1ms is not from 100ms to
every = 5|9|every: a length of time is wanted
rule = "twice"|8|rule: 'twice' is not known; there are once, no-overlap, after-failure, always
priority = 10|12|priority: 10 is not from 0 to 9
page = 0|8|page: 0 is not from 1 to 10000
period = "day"|10|period: it is of plans of kind window, and this one is of kind query
table = "t"|9|table: it is of plans of kind sweep, and this one is of kind query
check = 5|9|check: a text is wanted
[[plan]]|1|a [[plan]] needs a name
END
while IFS='|' read -r line column message; do
    wrong "$line" 5 "$column" "$message" < <(base window "$line" <<<'since = "2026-01-01T00:00:00Z"')
done <<'END'
period = "week"|10|period: 
period = "7m"|10|period: "hour", "day", "month" or minutes that divide a day are wanted
period = 5|10|period: a text is wanted
END
wrong "no period" 1 1 "a plan of kind window needs a period" < <(base window '' </dev/null)
wrong "no query" 1 1 "a plan of kind query needs a query" < <(base query '' </dev/null)
wrong "no table" 1 1 "a plan of kind sweep needs a table" < <(base sweep '' </dev/null)
wrong "no source" 1 1 "a plan of kind inbox needs a from" < <(base inbox '' </dev/null)
wrong "a kind" 3 8 "kind: 'cron' is not known; there are query, inbox, window, sweep" \
    < <(base cron '' </dev/null)
rm daybook.toml

# --- What each engine says for reading under a lock
with_book
me="$(id -un)@$(uname -n)"
case $url in
    sqlite*) lock='' ;;
    postgresql*) lock=' for share' ;;
    *) lock=' lock in share mode' ;;
esac
orders=orders_$unique
state() { sql <<<"update $orders set state = '$2' where id = $1;"; }
shown() { daybook plans show orders --json 2>err | field "$1"; }
members() { daybook queues stats fulfil --json 2>err | field members; }
sql <<END
create table $orders (id int not null primary key, state varchar(10) not null, note varchar(20));
insert into $orders values (1, 'paid', 'a'), (2, 'paid', 'b'), (3, 'new', 'c'), (4, 'paid', 'd');
END

# --- What is not there
code "no book of plans" 0 daybook plans list
code "none of that name" 66 daybook plans show orders
has "none of that name" err "no plan is named orders; there is none in this book"
code "no name" 64 daybook plans run

# --- Declared, looked at, run
cat >daybook.toml <<END
[[queue]]
name = "fulfil"
attempts = 1
crash_limit = 100
command = ["sh", "-c", "echo {key} >>done.log"]

[[plan]]
name = "orders"
kind = "query"
queue = "fulfil"
query = "select id, note from $orders where state <> 'new'"
check = "select 1 from $orders where id = :key and state = 'paid'$lock"
every = "200ms"
END
state 4 gone
code "a preview" 0 daybook plans preview orders --json
is "a preview: keys" "1 True,2 True,4 False" "$(python3 -c 'import json,sys
print(",".join(sorted("%s %s" % (o["key"], o["launched"]) for o in map(json.loads, sys.stdin))))' <out)"
has "a preview: why not" out '"reason":"its check gave no row"'
has "a preview: in short" err "orders: nothing was launched; 2 of 3 keys would be"
is "a preview launches nothing" 0 "$(members)"
code "a pass" 0 daybook plans run orders --json
is "a pass: launched" 2 "$(field launched <out)"
has "a pass: in short" err "orders: 2 launched, 1 refused, 0 there already"
is "its tasks" 2 "$(members)"
is "its payload" b "$(daybook tasks show fulfil 2 --json 2>err | field payload)"
code "refused" 0 daybook plans refused orders --json
is "refused: which" 4 "$(field key <out)"
is "refused: why" "its check gave no row" "$(field reason <out)"
code "refused, for people" 0 daybook plans refused orders
has "refused, for people" out "its check gave no row"
state 4 paid
code "another pass" 0 daybook plans run orders --json
is "what was refused is launched where it may be" 1 "$(field launched <out)"
code "none is refused" 0 daybook plans refused orders --json
is "none is refused" "" "$(cat out)"
: >empty.toml
code "in no file" 78 daybook plans run orders --config empty.toml
has "in no file" err "this program does not declare it, and a program executes only SQL of its own"
code "in no file: a preview" 78 daybook plans preview orders --config empty.toml
code "in no file: shown" 0 daybook plans show orders --config empty.toml
has "in no file: shown" out "its query is not explained here"
code "and a third" 0 daybook plans run orders --json
is "once" "0 0" "$(field launched <out) $(field seen <out)"

# --- One key, and all
code "one key" 0 daybook plans find orders 4 --json
is "one key" "1 1" "$(field launches <out) $(field refusals <out)"
code "one key, for people" 0 daybook plans find orders 4
has "one key, for people" out "its check gave no row"
code "a key that never came" 66 daybook plans find orders 99
has "a key that never came" err "the key 99 never came up"
is "show: what" "query fulfil once 3 0 3" \
    "$(for f in kind queue rule launched refused passes; do shown $f; done | paste -sd' ')"
code "show, for people" 0 daybook plans show orders
has "show, for people" out "select id, note from $orders"
code "list" 0 daybook plans list
has "list" out "orders  query  fulfil  once"
code "list for programs" 0 daybook plans list --json
is "list for programs" orders "$(field name <out)"

# --- A plan that fails is shown, and why
sql <<<"create table gone_$unique (id int)"
cat >gone.toml <<END
[[queue]]
name = "fulfil"
attempts = 1
command = ["true"]

[[plan]]
name = "gone"
kind = "query"
queue = "fulfil"
query = "select id from gone_$unique"
END
code "a plan whose table is there" 0 daybook plans run gone --config gone.toml
sql <<<"insert into gone_$unique values (null)"
daybook plans run gone --config gone.toml >out 2>err && fail "a row that is no key" || pass
sql <<<"drop table gone_$unique"
code "it is shown" 0 daybook plans show gone --config gone.toml
has "it is shown: its query" out "select id from gone_$unique"
has "it is shown: its error" out "its key is null"
has "it is shown: no advice" out "none, for the database refuses to plan it: "
code "it is shown to programs" 0 daybook plans show gone --config gone.toml --json
[[ $(field error <out) == *"its key is null"* ]] && pass || fail "the error for programs"
code "it is listed" 0 daybook plans list
has "it is listed" out "its key is null"
sql <<<"create table gone_$unique (id int)"
code "it goes on" 0 daybook plans run gone --config gone.toml

# --- What people change
code "forget" 0 daybook plans forget orders 1 77 --reason "wrong address"
has "forget" err "orders: 1 of 2 keys forgotten"
code "forget nothing" 66 daybook plans forget orders 77
code "once more" 0 daybook plans run orders --json
is "its task was there" "0 1" "$(field launched <out) $(field present <out)"
code "pause" 0 daybook plans pause orders --reason "month's end"
has "pause" err "orders: paused"
code "pause again" 0 daybook plans pause orders
has "pause again" err "orders: already paused"
is "paused" True "$(shown paused)"
is "who and why" "$me month's end" "$(daybook plans show orders --json 2>err | python3 -c '
import json, sys
one = json.load(sys.stdin)["changes"][1]
print(one["actor"], one["reason"])')"

# --- The daemon
state 3 paid
background daemon daemon
until_true $patience grep -q ' ready ' daemon.err
has "plans are counted" daemon.err "plans=1"
all_done() { [[ $(sort -n done.log 2>/dev/null | paste -sd' ') == "$1" ]]; }
if until_true $patience all_done "1 2 4"; then pass; else fail "the tasks are done"; fi
sleep 1
is "no passes while it is paused" 3 "$(members)"
code "resume" 0 daybook plans resume orders
if until_true $patience all_done "1 2 3 4"; then pass; else fail "passes go on"; fi
said() { grep -qF "planned plan=orders launched=1 refused=0 present=0 complete=true" daemon.err; }
if until_true $patience said; then pass; else fail "a pass is told"; fi
sql <<<"insert into $orders values (5, 'paid', 'e');"
if until_true $patience all_done "1 2 3 4 5"; then pass; else fail "what comes is launched and done"; fi
# A query that fails harms no other plan, and is told.
cat >>daybook.toml <<END
[[plan]]
name = "none"
kind = "query"
queue = "fulfil"
query = "select null from $orders"
every = "200ms"
END
kill -HUP "$last"
until_true $patience grep -q ' reloaded ' daemon.err
if until_true $patience grep -q "its key is null" daemon.err; then pass; else fail "a plan that fails is told"; fi
sql <<<"insert into $orders values (6, 'paid', 'f');"
if until_true $patience all_done "1 2 3 4 5 6"; then pass; else fail "the other plan goes on"; fi
is "status counts it" 1 "$(daybook status --json | field plans_failing)"
if [[ $(daybook plans show none --json 2>err | field error) == *"its key is null"* ]]; then pass; else
    fail "the error is kept"
fi
kill -TERM "$last"
wait "$last" 2>/dev/null
is "it ends" 0 $?

# --- Of the file's queues a plan's verbs make those that it needs
printf '[[queue]]\nname = "%s"\ncommand = ["true"]\n' source bystander >more.toml
printf '[[plan]]\nname = "inbox"\nkind = "inbox"\nfrom = "source"\nqueue = "target"\n' >>more.toml
printf '[[queue]]\nname = "target"\ncommand = ["true"]\n' >>more.toml
code "an inbox" 0 daybook plans run inbox --config more.toml
code "what it takes from is made" 0 daybook queues show source
code "what it launches into is made" 0 daybook queues show target
code "no other is" 66 daybook queues show bystander

# --- A reload with a mistake that only the database finds: what is served stays; another reload has
# what that file says, and nothing else
serves_again() { cat >again.toml; kill -HUP "$last"; }
queue() { printf '[[queue]]\nname = "%s"\ncommand = ["true"]\n' "$1"; }
schedule() {
    printf '[[schedule]]\nname = "%s"\ncron = "1 1 29 2 +MON"\n' "$1"
    printf 'command = ["touch", "%s.done"]\n' "$1"
}
plan() {
    printf '[[plan]]\nname = "%s"\nkind = "query"\nqueue = "needed"\nquery = "%s"\n' "$1" "$2"
}
{ schedule former; queue needed; } >again.toml
background again daemon --config again.toml --poll 50ms
until_true $patience grep -qs ' ready ' again.err
serves_again < <(plan wrong "select a from no_table_$unique"; schedule newer; queue other; queue needed)
until_true $patience grep -q ' not_reloaded ' again.err
has "a wrong plan is told, with its place" again.err "the old one stays: again.toml, line 1"
code "a wrong plan: no schedule is made" 66 daybook schedules show newer
code "a wrong plan: nor a queue that no plan needs" 66 daybook queues show other
daybook schedules trigger former >out 2>err
if until_true $patience test -e former.done; then pass; else fail "what was served is"; fi
rm -f former.done
serves_again < <(schedule newer)
until_true $patience grep -q ' reloaded ' again.err
daybook schedules trigger former >out 2>err
daybook schedules trigger newer >out 2>err
if until_true $patience test -e newer.done; then pass; else fail "the newer is served"; fi
sleep 0.5
is "the former is served no more" no "$([[ -e former.done ]] && echo yes || echo no)"
rm again.toml
mkdir again.toml
kill -HUP "$last"
if until_true $patience grep -q 'not_reloaded .*again.toml: Is a directory' again.err; then pass; else
    fail "a folder is no file: $(tail -1 again.err)"
fi
kill -TERM "$last"
wait "$last" 2>/dev/null
is "it ends as ever" 0 $?

# --- Killed between two statements: nothing is lost, nothing is doubled
python3 - <<'END'
text = open("daybook.toml").read()
open("daybook.toml", "w").write(text[:text.index('[[plan]]\nname = "none"')])
END
sql <<<"delete from $orders;"
first=0
for at in begun effect_done before_commit committed; do
    first=$((first + 100))
    sql <<<"insert into $orders values ($first, 'paid', 'x'), ($((first + 1)), 'paid', 'x');"
    sleep 0.3  # the next pass is due
    # By a daemon, for its lease can be short.
    env DAYBOOK_FAILPOINT="step.$at=kill" "$daybook" daemon --drain --lease 1s >out 2>err </dev/null
    is "killed at step.$at" 137 $?
    until_true $patience daybook plans run orders >out 2>err </dev/null || fail "after step.$at"
done 2>/dev/null
each() { daybook plans find orders "$1" --json 2>err | field launches; }
is "each once" "1 1 1 1 1 1 1 1" \
    "$(for i in 1 2 3 4; do each ${i}00; each ${i}01; done | paste -sd' ')"

# --- A drain makes what is due, and does it
code "the drain" 0 daybook daemon --drain
# A child that went with its daemon was begun again: its queue is done at least once.
is "the drain does all" "1 2 3 4 5 6 100 101 200 201 300 301 400 401" \
    "$(sort -nu done.log | paste -sd' ')"
sql <<<"drop table $orders;"
finish
