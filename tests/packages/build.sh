#!/bin/bash
# Makes the packages of a build, and unpacks them into a folder that was empty.
#
#   build.sh CPACK BUILD-FOLDER ROOT
set -euo pipefail
cpack=$1 build=$2 root=$3
rm -rf "$build/packages" "$root"
"$cpack" --config "$build/CPackConfig.cmake" >/dev/null
mkdir -p "$root"
for package in "$build"/packages/*.deb; do dpkg-deb -x "$package" "$root"; done
