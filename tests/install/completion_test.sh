#!/bin/bash
# Presses TAB: the completion as bash calls it, with the words of a command line.
#
#   completion_test.sh DAYBOOK COMPLETION
set -uo pipefail
daybook=$1
# shellcheck disable=SC1090
. "$2"
wrong=0

# offers "WORDS" WORD...: the last word is where the cursor stands.
offers() {
  local given=$1
  shift
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _daybook 2>/dev/null
  [[ "${COMPREPLY[*]}" == "$given" ]] && return
  echo "FAILED: $*: wanted '$given', got '${COMPREPLY[*]}'"
  wrong=1
}

offers 'queues' daybook qu
offers 'add' daybook queues a
offers 'list show release restart resolve prune' daybook runs ''
offers '--payload --priority --prefix' daybook queues add --p
offers '--payload' daybook queues add stock k1 --pay
offers 'at-least-once at-most-once' daybook step --mode ''
offers 'at-most-once' daybook step --mode = at-m
offers 'text json' daybook daemon --log =
offers 'import' daybook help queues im
offers 'list' daybook --db = sqlite : x.db runs l
offers 'list' daybook --db sqlite : x.db runs l
offers '' daybook run nightly --lease ''
offers '' daybook daemon --config ''
offers '' daybook run nightly -- ls --k
offers 'up' daybook migrate u
offers '' daybook nonsense x ''
COMP_WORDS=(daybook run nightly -- ls) COMP_CWORD=4
_daybook
[[ " ${COMPREPLY[*]} " == *' ls '* ]] || { echo "FAILED: no command after --"; wrong=1; }
[[ $(complete -p daybook) == *'-F _daybook daybook' ]] || { echo "FAILED: not bound"; wrong=1; }

# Every verb and every flag that --help knows.
"$daybook" --help | sed -n 's/^  \([a-z].\{18\}\).*/\1/p' >verbs.$$
while read -r first second; do
  COMP_WORDS=(daybook "$first")
  if [[ -n $second ]]; then COMP_WORDS+=("$second"); fi
  COMP_CWORD=${#COMP_WORDS[@]} COMP_WORDS+=(--)
  _daybook
  known=" ${COMPREPLY[*]} "
  # shellcheck disable=SC2086
  for flag in $("$daybook" $first ${second:-} --help | grep -oE '^  (-h,)?--[a-z-]+' | sed 's/.*--/--/'); do
    [[ $known == *" $flag "* ]] || { echo "FAILED: $first $second: no $flag"; wrong=1; }
  done
done <verbs.$$
rm verbs.$$
exit "$wrong"
