#!/bin/sh
# console/dist is made from console/web as it is now: the digest of the sources says so, without npm.
#   made_from.sh PROJECT
set -eu
now=$("$1"/tools/build-console --digest)
then=$(cat "$1"/console/dist/made-from)
if [ "$now" != "$then" ]; then
  echo "console/dist was made from other sources than console/web: run tools/build-console," \
    "and commit console/dist with them"
  exit 1
fi
echo "console/dist is made from console/web"
