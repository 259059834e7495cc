#!/bin/sh
# A script as one run, its commands as steps. The one line that cron, or a person, writes:
#
#   daybook run nightly --key "$(date +%F)" --once -- examples/nightly.sh FOLDER
#
# Stopped anywhere and run again, it skips the steps that are done. A step here is done at least
# once: what it does must bear being done again.
set -eu
folder=$1
daybook step fetch -- cp /etc/os-release "$folder/fetched"
daybook step sort  -- sort -o "$folder/sorted" "$folder/fetched"
daybook step pack  -- gzip -kf "$folder/sorted"
