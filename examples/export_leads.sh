#!/bin/sh
# The command of a schedule, for one window (see daybook.toml beside it):
#
#   export_leads.sh --from 2026-11-20T16:00:00Z --to 2026-11-21T16:00:00Z
#
# A finished step is skipped at the next attempt. An attempt that is repeated has the same window,
# and so writes the same file.
set -eu
file=leads-$4.csv
daybook step export  -- sh -c "echo 'from,to' >'$file' && echo '$2,$4' >>'$file'"
daybook step deliver -- sh -c "mkdir -p delivered && cp '$file' delivered/"
