#!/bin/sh
# in_root.sh ROOT COMMAND...: with the shared library of an unpacked package, which the system's
# linker does not know of.
set -eu
root=$1
shift
LD_LIBRARY_PATH=$(dirname "$(find "$root" -name libdaybook.so)")
export LD_LIBRARY_PATH
exec "$@"
