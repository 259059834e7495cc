#!/bin/bash
# Is everything in the manual? Every verb and every flag of the command, every key of daybook.toml:
# asked of the command itself. And do the pages read well: groff has nothing to complain of.
#
#   manual_test.sh DAYBOOK MAN-FOLDER
set -eu
daybook=$1 man=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0
complain() { echo "$*"; wrong=1; }

for page in man1/daybook.1 man5/daybook.toml.5 man8/daybook-daemon.8; do
  groff -man -ww -k -Tutf8 -P-cbou -rLL=200n "$man/$page" >"$work/$(basename "$page")" 2>"$work/err" ||
    complain "$page: groff fails"
  [[ ! -s $work/err ]] || complain "$page: $(head -3 "$work/err")"
done

"$daybook" --help | sed -n 's/^  \([a-z].\{18\}\).*/\1/p' | sed 's/ *$//' >"$work/verbs"
[[ $(wc -l <"$work/verbs") -gt 50 ]] || complain "--help lists $(wc -l <"$work/verbs") verbs"
while read -r verb; do
  grep -qx "   $verb" "$work/daybook.1" || complain "daybook(1) has no $verb"
  # shellcheck disable=SC2086
  "$daybook" $verb --help >"$work/help" || complain "$verb has no --help"
  sed -n 's/^  \(--[a-z-]*\).*/\1/p' "$work/help" | sort -u >"$work/flags"
  grep -q "^Usage: daybook $verb" "$work/help" || complain "$verb --help does not say its usage"
  awk -v verb="   $verb" '$0 == verb { on = 1; next } /^   [^ ]/ || /^[A-Z]/ { on = 0 } on' \
    "$work/daybook.1" >"$work/section"
  while read -r flag; do
    case $flag in --db | --schema | --prefix) continue ;; esac
    grep -q -- "^ *$flag\\b" "$work/section" || complain "daybook(1), $verb: no $flag"
  done <"$work/flags"
done <"$work/verbs"
for flag in --db --schema --prefix; do
  grep -q "^ *$flag\\b" "$work/daybook.1" || complain "daybook(1): no $flag"
done
grep -q '^ *--grace' "$work/daybook-daemon.8" || complain "daybook-daemon(8): no --grace"
grep -q 'unknown: daybook runs resolve decides' "$work/daybook.1" || complain "daybook(1): no exit codes"

# keys LINES-OF-TOML: a key that nobody knows makes the command name those that it knows.
keys() {
  printf '%s\n' "$@" 'no_such_key = 1' >"$work/daybook.toml"
  "$daybook" daemon --drain --db sqlite::memory: --config "$work/daybook.toml" 2>&1 |
    sed -n "s/.*'no_such_key' is not known.*there are //p" | tr -d ' ' | tr ',' '\n'
}
# section TITLE: of daybook.toml(5), where names are bold
section() {
  awk -v title=".SH $1" '$0 == title { on = 1; next } /^\.SH/ { on = 0 } on' "$man/man5/daybook.toml.5"
}
# has_keys TITLE LINES-OF-TOML...
has_keys() {
  local title=$1 known key
  shift
  known=$(keys "$@")
  [[ $(wc -w <<<"$known") -gt 3 ]] || complain "keys of $title: '$known'"
  section "$title" >"$work/section"
  for key in $known; do
    grep -qF "\\fB$key\\fR" "$work/section" || complain "daybook.toml(5), $title: no $key"
  done
}
has_keys SCHEDULES '[[schedule]]'
has_keys QUEUES '[[queue]]'
has_keys AGGREGATIONS '[[aggregate]]'
source=(table key state link) parent=(table key state)
has_keys AGGREGATIONS '[[aggregate]]' 'name = "a"' 'parent = {}' '[aggregate.source]' \
  'group = []' "${source[@]/%/ = \"x\"}"
has_keys AGGREGATIONS '[[aggregate]]' 'name = "a"' '[aggregate.source]' 'group = []' \
  "${source[@]/%/ = \"x\"}" '[aggregate.parent]' "${parent[@]/%/ = \"x\"}"
for kind in query inbox window sweep; do
  has_keys PLANS '[[plan]]' 'name = "p"' "kind = \"$kind\"" 'queue = "q"'
done
exit "$wrong"
