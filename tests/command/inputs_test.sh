#!/bin/bash
# Tests of wrong inputs: each is refused or told at once, with what was most likely meant.
#
#   tests/command/inputs_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
# shellcheck disable=SC2016
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"

with_book
never='cron = "0 0 29 2 +MON"'

# --- Names that are nearly right
code "a verb" 64 daybook stauts
has "a verb" err "no such verb: stauts; did you mean 'status'?"
code "a group" 64 daybook queue list
has "a group" err "did you mean 'queues'?"
code "a verb of a group" 64 daybook runs lsit
has "a verb of a group" err "no such verb: runs lsit; did you mean 'runs list'?"
code "nothing like it" 64 daybook fly
has_not "nothing like it" err "did you mean"
code "an option" 64 daybook run x --dead-line 6h -- true
has "an option" err "did you mean '--deadline'?"
code "an option with a value" 64 daybook runs list --proces=x
has "an option with a value" err "did you mean '--process'?"
daybook queues make stock 2>/dev/null
daybook queues make mail 2>/dev/null
code "a queue" 66 daybook queues show stok
has "a queue" err "there is no queue 'stok'; did you mean 'stock'? There are mail, stock"
code "no queue like it" 66 daybook queues show orders
has "no queue like it" err "there is no queue 'orders'; there are mail, stock"
printf '[[schedule]]\nname = "daily-leads"\n%s\ncommand = ["true"]\n' "$never" >s.toml
code "its daemon" 0 daybook daemon --config s.toml --drain
code "a schedule" 66 daybook schedules show daily-lead
has "a schedule" err "did you mean 'daily-leads'?"
code "a schedule's next tick" 66 daybook schedules next daily-lead
has "a schedule's next tick" err "did you mean 'daily-leads'?"

# --- Keys and words of the file
# refused NAME TEXT <FILE
refused() {
    cat >wrong.toml
    code "$1" 65 daybook daemon --config wrong.toml
    has "$1" err "$2"
}
refused "a key of a schedule" "'comand' is not known in a [[schedule]]; did you mean 'command'? There are name," \
    < <(printf '[[schedule]]\nname = "a"\n%s\ncomand = ["true"]\n' "$never")
refused "a word" "'skp' is not known; did you mean 'skip'? There are last, all, skip" \
    < <(printf '[[schedule]]\nname = "a"\n%s\ncatch_up = "skp"\ncommand = ["true"]\n' "$never")
refused "a table" "'queues' is not known; did you mean 'queue'? There are database, [[schedule]]" <<<'[[queues]]'
refused "an empty file" "wrong.toml: there is nothing in it" </dev/null
refused "a file of comments" "there is nothing in it" <<<'# later'
code "an endless file" 65 timeout 60 "$daybook" daemon --config /dev/zero
has "an endless file" err "/dev/zero: longer than 8 MiB"

# --- A run whose process has other keys
daybook run upload --key berlin -- true
daybook run upload --key paris -- true
code "without its key" 66 daybook runs show upload
has "without its key" err "no such run: process upload, key -; name one of its keys with --key: there are "
has "without its key: they are named" err "berlin"
code "a key that is nearly right" 66 daybook runs show upload --key pari
has "a key that is nearly right" err "did you mean 'paris'?"
code "a process that is nearly right" 66 daybook runs show uplaod
has "a process that is nearly right" err "did you mean 'upload'?"

# --- Databases that cannot be meant
for verb in "migrate up" "runs list" "doctor"; do
    # shellcheck disable=SC2086
    code "in memory: $verb" 64 daybook $verb --db sqlite::memory:
    has "in memory: $verb" err "a book in memory is gone when this command ends"
done
code "in memory, to be looked at" 0 daybook migrate sql --db sqlite::memory:
for verb in "migrate up" "runs list"; do
    # shellcheck disable=SC2086
    code "parameters: $verb" 64 daybook $verb --db 'sqlite:shop.db?mode=ro'
    has "parameters: $verb" err "a sqlite URL takes no parameters"
done
is "no file was made" "" "$(find . -name 'shop.db*')"

# --- Keys from a file
code "stdin is closed" 74 bash -c "'$daybook' queues import stock - <&-"
has "stdin is closed" err "stdin, line 1: cannot be read: Bad file descriptor"
code "stdin is a folder" 74 bash -c "'$daybook' queues import stock - <."
code "a payload from a closed stdin" 74 bash -c "'$daybook' queues add stock k --payload - <&-"
code "blanks" 65 daybook queues import stock <(printf 'k1\nk2 \n')
code "blanks" 65 bash -c "printf 'k1\n k2\n' | '$daybook' queues import stock -"
has "blanks" err "stdin, line 2: a blank at an end of the key ' k2'"
code "a line of blanks" 0 bash -c "printf 'k1\n   \nk3\n' | '$daybook' queues import stock -"
code "blanks that are meant" 0 bash -c "echo '{\"key\": \" k4\"}' | '$daybook' queues import stock - --json-lines"
is "what was imported" " k4 k1 k3 " "$(daybook queues stats stock --json | field members | sed 's/^3$/ k4 k1 k3 /')"

# --- Texts that would steer the terminal, or read as another
bidi=$'a\u202eb\u0085c\x7fd'
code "kept" 0 bash -c "printf %s '$bidi' | '$daybook' run texts -- '$daybook' carry set note"
code "as JSON" 0 daybook runs show texts --json
has "as JSON" out 'a\u202eb\u0085c\u007fd'
is "it is the same text" "$bidi" "$(field carried.0.value <out)"
code "as text" 0 daybook runs show texts
has "as text" out 'a\u202eb\u0085c\x7fd'
cat >says.sh <<'END'
#!/bin/sh
printf 'a\342\200\256b\302\205c\177d\n'
END
chmod +x says.sh
printf '[[queue]]\nname = "says"\ncommand = ["./says.sh"]\n' >says.toml
for form in json text; do
    daybook queues make says 2>/dev/null
    daybook queues add says "$form" 2>/dev/null
    code "a log of $form" 0 daybook daemon --config says.toml --drain --log $form
    is "a log of $form: no such byte" "" "$(grep -aP '\x7f|\xc2\x85|\xe2\x80\xae' err)"
done

# --- Commands that will fail at night
cat >night.toml <<END
[[schedule]]
name = "typo"
$never
command = ["no-such-command-here", "x"]
[[schedule]]
name = "right"
$never
command = ["true"]
[[queue]]
name = "script"
command = ["sh", "-c", "echo {key}"]
[[queue]]
name = "option"
command = ["true", "{key}"]
[[queue]]
name = "payload"
command = ["true", "--", "{key}", "--text={payload}"]
[[queue]]
name = "plain"
command = ["./not-there.sh", "--", "{key}"]
[[queue]]
name = "safe"
command = ["bash", "-euc", "echo \"\$DAYBOOK_KEY\"", "{key}"]
END
code "a check" 65 daybook daemon --config night.toml --check
has "a check: a schedule" err "night.toml, line 4, column 11: schedule typo: no-such-command-here: command not found"
has "a check: a queue" err "queue plain: ./not-there.sh: command not found"
has "a check: a script" err 'queue script: the shell would execute what is in a key: write "$DAYBOOK_KEY" in the place of {key}'
has "a check: an option" err 'queue option: a key that begins with - would be read as an option: put "--" before {key}'
is "a check: nothing else" 4 "$(wc -l <err)"
touch not-there.sh
code "a check: no program" 65 daybook daemon --config night.toml --check
has "a check: no program" err "./not-there.sh is not executable"
chmod +x not-there.sh
sed -i 's/"no-such-command-here"/"true"/' night.toml
code "a check: warnings only" 0 daybook daemon --config night.toml --check
is "a check: warnings only" 2 "$(wc -l <err)"
code "a check: a mistake" 65 daybook daemon --config wrong.toml --check
sed -i '0,/"true"/s//"gone-by-night"/' night.toml
code "at the start" 0 daybook daemon --config night.toml --drain
has "at the start" err 'warning command_missing where="schedule typo"'
has "at the start: unsafe" err 'warning command_unsafe where="queue script"'

# --- Daemons whose files contradict each other
# serve NAME: a daemon with NAME.toml in the background, its pid in $last
serve() {
    background "$1" daemon --config "$1.toml" --poll 20ms --lease "${2:-30s}"
    until_true $patience grep -qs " ready " "$1.err" || fail "$1: not ready: $(cat "$1.err")"
}
# says NAME LOG TEXT: it comes
says() { if until_true $patience grep -qF -- "$3" "$2"; then pass; else fail "$1: $(cat "$2")"; fi; }
declare_it() { printf '[[queue]]\nname = "both"\nlimit = %s\ncommand = ["true"]\n[[schedule]]\nname = "both"\ncron = "%s"\ncommand = ["true"]\n' "$2" "$3" >"$1.toml"; }
declare_it first 1 "0 0 29 2 +MON"
declare_it second 2 "0 0 29 2 +TUE"
serve first
first=$last
serve second
second=$last
says "the other is told" first.err "warning declared_otherwise queue=both"
says "of a schedule as well" first.err "warning declared_otherwise schedule=both"
has_not "who declared it last is not" second.err declared_otherwise
kill -HUP "$first"
says "until it declares it last" second.err "warning declared_otherwise queue=both"
is "told once in a while" 1 "$(grep -c 'declared_otherwise queue' second.err)"
kill -TERM "$first" "$second"
wait "$first" "$second"

# --- A file that is deleted under a daemon
if [[ $engine == sqlite ]]; then
    export DAYBOOK_DATABASE_URL=sqlite:$dir/own/own.db
    mkdir own
    with_book
    printf '[[queue]]\nname = "q"\ncommand = ["true"]\n' >deleted.toml
    serve deleted 1s
    mv own kept
    mkdir own
    says "it is told" deleted.err "own.db: the file was deleted or replaced while it was open"
    code "it is not made again" 78 daybook status
    is "it is not made again" "" "$(ls own)"
    rmdir own
    mv kept own
    daybook queues add q k
    done_now() { [[ $(daybook tasks show q k --json 2>/dev/null | field state) == succeeded ]]; }
    if until_true $patience done_now; then pass; else fail "it goes on where the file is back: $(tail -5 deleted.err)"; fi
    kill -TERM "$last"
    wait "$last"
fi

finish
