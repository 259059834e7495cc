#!/bin/bash
# Is daybook.service what the daemon needs? systemd says whether it can be read, where there is one;
# the rest is asked here.
#
#   service_test.sh DAYBOOK UNIT
set -euo pipefail
daybook=$1 unit=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0
complain() { echo "$*"; wrong=1; }
value() { sed -n "s/^$1=//p" "$unit"; }
# is KEY WANTED
is() { [[ $(value "$1") == "$2" ]] || complain "$1 is '$(value "$1")', wanted '$2'"; }

is Type notify
is KillMode mixed
is User daybook
is NoNewPrivileges yes
[[ $(value EnvironmentFile) == -/etc/daybook/environment ]] || complain "no file for the URL"
! grep -q '://.*:.*@' "$unit" || complain "a password stands in it"

# What systemd starts is a line that the command takes, and ends before systemd's patience.
start=$(value ExecStart)
read -ra words <<<"$start"
[[ ${words[0]} == "$daybook" ]] || complain "it starts ${words[0]}, installed is $daybook"
"$daybook" "${words[@]:1}" --help >/dev/null || complain "the command does not know: $start"
grace=$(grep -o -- '--grace [0-9]*' <<<"$start" | tr -dc 0-9)
patience=$(value TimeoutStopSec)
# The lease and 10 s more: so long the daemon tries to hand back where the database hangs.
((${patience%s} > grace + 30 + 10)) || complain \
  "TimeoutStopSec $patience is not over --grace $grace, the lease and 10 s"
# An end that does not mend itself must not be tried again for ever: those that --help names.
for code in 64 65 66 77 78; do
  [[ " $(value RestartPreventExitStatus) " == *" $code "* ]] || complain "restarts after $code"
  "$daybook" daemon --help | grep "\\b$code\\b" >/dev/null || complain "the daemon does not end with $code"
done

# systemd wants to see the manual, which is installed here, and not in /usr.
if command -v systemd-analyze >/dev/null; then
  sed '/^Documentation=/d' "$unit" >"$work/daybook.service"
  systemd-analyze verify --man=no "$work/daybook.service" >"$work/log" 2>&1 || complain "systemd-analyze fails"
  ! grep daybook.service "$work/log" || complain "systemd-analyze complains"
fi
exit "$wrong"
