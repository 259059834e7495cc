#!/bin/sh
# page.sh -- KEY: writes down the rows that a page of the sweep stands for. Killed and done again, it
# writes the same into the same file.
set -eu
[ "$1" != -- ] || shift
case $1 in */done) exit ;; esac # the task behind the last page
file=$QUICKSTART/pages/$(echo "$1" | tr / -)
daybook plans page look "$1" >"$file.$$"
mv "$file.$$" "$file.page"
