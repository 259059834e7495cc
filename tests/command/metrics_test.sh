#!/bin/bash
# Tests of `daybook metrics`, and of the rules for Prometheus where promtool is installed.
#
#   tests/command/metrics_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
here=$(dirname "$(readlink -f "$0")")
rules=$here/../../share/prometheus
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"

# value SERIES: of what was printed last
value() { grep -v '^#' out | grep -F "$1 " | sed 's/.* //'; }

code "no book" 78 daybook metrics
with_book
code "an empty book" 0 daybook metrics
is "no problem" "0 0" "$(value 'daybook_problems{kind="",severity="act-now"}') $(value 'daybook_problems{kind="",severity="look-today"}')"
is "nothing left out" 0 "$(value daybook_metrics_names_left_out)"

# --- A name that would end its label
name='a "b" \c'
daybook queues make "$name" 2>err
printf 'k1\nk2\n' | daybook queues import "$name" - 2>err
daybook queues pause "$name" --reason test 2>err
daybook run once -- false 2>err
code "all kinds" 0 daybook metrics
label='queue="a \"b\" \\c"'
is "waiting" 2 "$(value "daybook_queue_tasks{$label,state=\"waiting\"}")"
is "due" 2 "$(value "daybook_queue_due_tasks{$label}")"
is "paused" 1 "$(value "daybook_queue_paused{$label}")"
is "failed" 1 "$(value 'daybook_runs{standing="failed"}')"
if command -v promtool >/dev/null; then
    cp out metrics
    promtool check metrics <metrics >out 2>err
    is "promtool says" "0 " "$? $(cat err)"
    (cd "$rules" && promtool test rules daybook.rules.test.yml) >out 2>&1
    is "the rules" 0 $?
    sed 's/> 900/> 9000000000/' "$rules/daybook.rules.yml" >daybook.rules.yml
    cp "$rules/daybook.rules.test.yml" .
    promtool test rules daybook.rules.test.yml >out 2>&1
    is "a rule that is wrong is seen" 1 $?
    # Each metric of a rule is one that is printed, or that an empty book has not.
    for one in $(grep -o 'daybook_[a-z_]*' "$rules/daybook.rules.yml" | sort -u); do
        if grep -q "^# TYPE $one " metrics; then continue; fi
        case $one in
            daybook_processes | daybook_schedule_late_seconds | daybook_plan_failing) ;;
            *) fail "a rule has $one, and nothing prints it" ;;
        esac
    done
fi

finish
