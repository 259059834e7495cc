#!/bin/sh
# The whole page is small: what a browser gets, compressed, is 60 KB at most.
#   size.sh PROJECT
set -eu
most=60000
size=$(cd "$1"/console/dist && for file in *.*; do gzip -9nc "$file"; done | wc -c)
echo "the page has $size bytes, compressed"
test "$size" -le $most || { echo "it may have $most"; exit 1; }
