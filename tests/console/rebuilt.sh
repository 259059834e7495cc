#!/bin/sh
# A build from the lock file gives console/dist, byte for byte.
#   rebuilt.sh PROJECT FOLDER
set -eu
"$1"/tools/build-console --into "$2"
diff -r "$1"/console/dist "$2"
echo "built anew, console/dist is the same"
