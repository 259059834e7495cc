#!/bin/bash
# Runs the examples in other languages as their users do: killed in the middle, and run again.
#
#   tests/command/examples_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
# shellcheck disable=SC2016
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"
examples=$here/../../examples

with_book
mkdir shell python node

# A step's command that fails the first time.
mkdir broken
printf '#!/bin/sh\necho no >&2\nexit 1\n' | tee broken/gzip >broken/cp
chmod +x broken/gzip broken/cp

code "shell" 1 env PATH="$dir/broken:$PATH" daybook run nightly.sh -- "$examples/nightly.sh" shell
code "shell, again" 0 daybook run nightly.sh -- "$examples/nightly.sh" shell
is "shell: what it made" "$(sort /etc/os-release)" "$(zcat shell/sorted.gz)"
is "shell: steps" "fetch sort pack" \
    "$(for i in 0 1 2; do shown nightly.sh steps.$i.name; done | paste -sd' ')"

code "python" 0 daybook run nightly.py --key whole -- "$examples/nightly.py" python
is "python: what it counted" "$(tr -d '\n' </etc/os-release | wc -m)" "$(tail -1 out)"
is "python: progress" "$(daybook runs show nightly.py --key whole --json | field progress.done)" \
    "$(wc -l </etc/os-release)"
is "python: mailed once" at-most-once \
    "$(daybook runs show nightly.py --key whole --json | field steps.1.mode)"
# Killed in the middle of its counting, it goes on from there: the sum is the same.
for i in $(seq 200); do echo "line $i of the input"; done >lines
sed "s|/etc/os-release|$dir/lines|" "$examples/nightly.py" >long.py
chmod +x long.py
background cut run nightly.py --key cut --lease 1s -- ./long.py python
counted() { daybook runs show nightly.py --key cut --json | field carried.0.value | grep -q -E '"next": ([3-9]|[1-9][0-9])'; }
until_true $patience counted 2>/dev/null
kill -KILL "$last"
wait "$last" 2>/dev/null
code "python, again" 0 daybook run nightly.py --key cut --wait 1m -- ./long.py python
has "python, again" err "step fetch: done before, skipped"
is "python: the whole sum" "$(tr -d '\n' <lines | wc -m)" "$(tail -1 out)"

code "node" 1 env PATH="$dir/broken:$PATH" daybook run nightly.mjs -- "$examples/nightly.mjs" node
code "node, again" 0 daybook run nightly.mjs -- "$examples/nightly.mjs" node
is "node: what it made" "$(LC_ALL=C sort /etc/os-release)" "$(zcat node/sorted.gz | sed '/^$/d')"
is "node: what it carried" "$(($(wc -l </etc/os-release) + 1))" "$(tail -1 out)"

# --- The file for the daemon: each of its schedules, asked for by hand.
cp -r "$examples" examples
daemon() { daybook daemon --drain --config examples/daybook.toml; }
code "daemon" 0 daemon
for name in daily-leads disk-space nightly; do
    code "$name" 0 daybook schedules trigger $name
    [[ $name != daily-leads ]] || tick=$(cat out)
done
code "daemon, again" 0 daemon
for name in daily-leads disk-space nightly; do
    is "$name" "done" "$(daybook schedules ticks $name --json | field state)"
done
is "leads: the window's end" "$tick" "$(tail -1 "delivered/leads-$tick.csv" | cut -d, -f2)"

# --- Its queue
tool=${DAYBOOK_TEST_QUEUE_TOOL:-$(dirname "$daybook")/../tests/command/queue_tool}
printf '%s\n' 1 2 3 | "$tool" import stock
mkdir stock && touch stock/away
code "stock, while the other side is away" 0 daemon
is "stock: nothing is lost" "waiting 0 0 exit status 75" "$("$tool" show stock 2)"
rm stock/away
printf '%s\n' 4 5 | "$tool" import stock
code "stock" 0 daemon
is "stock" "succeeded 0 0 asked for 5" "$("$tool" show stock 5)"
is "stock: done once each" "4 5" "$(ls stock | paste -sd' ')"

finish
