#!/bin/bash
# Installs a build into a folder that was empty, and looks at what is there.
#
#   tree_test.sh BUILD-FOLDER TREE
set -euo pipefail
build=$1 tree=$2
rm -rf "$tree"
cmake --install "$build" --prefix "$tree" >/dev/null

wanted="bin/daybook include/daybook/daybook.hpp lib/systemd/system/daybook.service
lib/sysusers.d/daybook.conf share/man/man1/daybook.1 share/man/man5/daybook.toml.5
share/man/man8/daybook-daemon.8 share/bash-completion/completions/daybook
share/doc/daybook/docs/reference/command.md share/doc/daybook/examples/five/sql"
wrong=0
for file in $wanted; do
  [[ -s $tree/$file ]] || { echo "not installed: $file"; wrong=1; }
done
for file in daybook.pc daybook-config.cmake daybook-config-version.cmake daybook-targets.cmake; do
  [[ -n $(find "$tree/lib" -name "$file") ]] || { echo "not installed: $file"; wrong=1; }
done
# Nobody wants our debug information on a machine that only runs us.
while IFS= read -r file; do
  if objdump -h "$file" 2>/dev/null | grep ' \.debug_info' >/dev/null; then
    echo "not stripped: $file"
    wrong=1
  fi
done < <(find "$tree" -type f \( -path '*/bin/*' -o -name '*.so*' -o -name '*.a' \))
if nm "$tree/bin/daybook" 2>/dev/null | grep . >/dev/null; then
  echo "not stripped of its names: $tree/bin/daybook"
  wrong=1
fi
# Nothing may lead back to where it was built.
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
# The unit has the path of the tree, which lies there, too.
if grep -rlI --exclude=daybook.service -e "$source/" -e "$build/" \
    "$tree/lib" "$tree/share" "$tree/include"; then
  echo "these name the folder of the build"
  wrong=1
fi
exit "$wrong"
