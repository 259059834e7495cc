#!/bin/sh
# A script as one run, its commands as steps. The line for cron, or for a person:
#
#   daybook run nightly --key "$(date +%F)" --once -- examples/nightly.sh FOLDER
#
# Kill it anywhere and start it again: it resumes after the last finished step. A step here is done
# at least once, so it must be harmless to do it again.
set -eu
folder=$1
daybook step fetch -- cp /etc/os-release "$folder/fetched"
daybook step sort  -- sort -o "$folder/sorted" "$folder/fetched"
daybook step pack  -- gzip -kf "$folder/sorted"
