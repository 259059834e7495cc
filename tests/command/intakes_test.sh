#!/bin/bash
# Tests of `daybook intakes`: how far messages are taken, what is put aside, and what people change.
#
#   tests/command/intakes_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
# shellcheck disable=SC2317,SC2015
tool=$(readlink -f "${DAYBOOK_TEST_QUEUE_TOOL:-$(dirname "$1")/../tests/command/queue_tool}")
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"
with_book

code "none" 0 daybook intakes list --json
is "none" "" "$(cat out)"
code "none of that name" 66 daybook intakes show in
has "none of that name" err "no intake is named in; there is none in this book"

# --- Two are taken, two have no id
is "taken" "2 2 0" "$(printf 'a\t1\nb\t2\n\tx\n\ty\n' | "$tool" take events)"
code "list" 0 daybook intakes list
has "list" out "in    tasks   events  active  2      2"
code "show" 0 daybook intakes show in --json
is "show: target" "tasks events active 2" \
    "$(for f in target queue state refused; do field $f <out; done | paste -sd' ')"
has "show: place" out '"topic":"t","partition":0,"next":4'
code "show, for people" 0 daybook intakes show in
has "show, for people" out "t/0 at 4: 2 taken, 2 refused, 0 skipped"
code "refused" 0 daybook intakes refused in --json
is "refused: how many" 2 "$(wc -l <out)"
is "refused: why" "it has no id" "$(field reason <out)"
is "refused: what" x "$(field body <out)"
first=$(field number <out)
code "refused, for people" 0 daybook intakes refused in
has "refused, for people" out "it has no id"
code "a page" 0 daybook intakes refused in --after "$first" --limit 1 --json
is "a page" y "$(field body <out)"

# --- What a person does
code "it still has none" 65 daybook intakes retry in "$first"
has "it still has none" err "still cannot be taken: it has no id"
code "dropped" 0 daybook intakes discard in "$first" --reason "a test"
has "dropped" err "in: 1 of 1 messages dropped"
code "dropped before" 66 daybook intakes discard in "$first"
code "paused" 0 daybook intakes pause in --reason "the broker moves"
has "paused" err "in: paused"
code "paused before" 0 daybook intakes pause in
has "paused before" err "in: already paused"
is "takes nothing" "0 0 1" "$(printf 'c\t3\n' | "$tool" take events)"
code "resumed" 0 daybook intakes resume in
is "goes on" "1 0 0" "$(printf 'c\t3\n' | "$tool" take events)"
code "moved" 0 daybook intakes move in t 0 3 --reason "once more"
has "moved" err "in: goes on at 3 of t/0"
code "an unknown partition" 66 daybook intakes move in t 9 3
code "who and why" 0 daybook intakes show in --json
has "who and why" out '"action":"move"'
has "who and why" out '"reason":"once more"'
finish
