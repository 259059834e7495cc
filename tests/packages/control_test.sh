#!/bin/bash
# What the packages say of themselves, and what they hold.
#
#   control_test.sh FOLDER VERSION SOVERSION
set -euo pipefail
folder=$1 version=$2 library=libdaybook$3
architecture=$(dpkg --print-architecture)
wrong=0
complain() { echo "FAILED: $*"; wrong=1; }
file() { echo "$folder/$1_${version}_$architecture.deb"; }
field() { dpkg-deb -f "$(file "$1")" "$2"; }
# is PACKAGE FIELD WANTED
is() { [[ $(field "$1" "$2") == "$3" ]] || complain "$1: $2: $(field "$1" "$2")"; }
needs() { field "$1" Depends | tr ',' '\n' | grep "^ *$2" >/dev/null || complain "$1 does not depend on $2"; }
# holds PACKAGE PATTERN
holds() {
  dpkg-deb -c "$(file "$1")" | awk '{ print $6 }' | grep "$2" >/dev/null || complain "$1 has no $2"
}
holds_not() {
  ! dpkg-deb -c "$(file "$1")" | awk '{ print $6 }' | grep "$2" || complain "$1 has $2"
}

[[ $(find "$folder" -maxdepth 1 -name '*.deb' | wc -l) == 3 ]] || complain "not three packages"
for package in "$library" libdaybook-dev daybook; do
  is "$package" Package "$package"
  is "$package" Version "$version"
  [[ -n $(field "$package" Maintainer) ]] || complain "$package: no maintainer"
  # A summary of one line, then the rest, in lines that a terminal shows.
  field "$package" Description | awk 'length > 80 { exit 1 } END { exit NR < 4 }' ||
    complain "$package: its description"
  holds "$package" "^./usr/share/doc/$package/copyright\$"
  dpkg-deb --fsys-tarfile "$(file "$package")" | tar -xO "./usr/share/doc/$package/changelog.gz" |
    zcat | grep -F "daybook ($version) " >/dev/null || complain "$package: its changelog"
  # Nothing that anybody but root may change, and nothing outside /usr.
  dpkg-deb -c "$(file "$package")" | awk '$2 != "root/root" || $6 !~ /^\.\/(usr\/.*)?$/ ||
    ($1 !~ /^l/ && substr($1, 9, 1) == "w") { print; bad = 1 } END { exit bad }' ||
    complain "$package: owners, modes or places"
done
is "$library" Section libs
is libdaybook-dev Section libdevel
for needed in libc6 libstdc++6 libsqlite3-0 libpq5 libmariadb3 libssl3 tzdata; do
  needs "$library" "$needed"
done
is libdaybook-dev Depends "$library (= $version)"
needs daybook "$library (= $version)"
[[ $(dpkg-deb -I "$(file "$library")" shlibs) == "libdaybook $3 $library"* ]] || complain "shlibs"

holds "$library" "/libdaybook.so.$version\$"
holds_not "$library" '/include/\|\.so$\|/bin/'
holds libdaybook-dev '/include/daybook/daybook.hpp$'
holds libdaybook-dev '/libdaybook.so$'
holds libdaybook-dev '/cmake/daybook/daybook-config.cmake$'
holds libdaybook-dev '/pkgconfig/daybook.pc$'
holds_not libdaybook-dev '/bin/\|/src/\|\.a$'
for path in /usr/bin/daybook /usr/lib/systemd/system/daybook.service /usr/share/man/man1/daybook.1.gz \
  /usr/share/man/man5/daybook.toml.5.gz /usr/share/man/man8/daybook-daemon.8.gz \
  /usr/share/bash-completion/completions/daybook /usr/share/doc/daybook/docs/reference/command.md; do
  holds daybook "^.$path\$"
done
dpkg-deb -x "$(file daybook)" "$folder/_look"
grep -q '^ExecStart=/usr/bin/daybook ' "$folder/_look/usr/lib/systemd/system/daybook.service" ||
  complain "the service does not start /usr/bin/daybook"
! objdump -p "$folder/_look/usr/bin/daybook" | grep -E 'R(UN)?PATH' || complain "the command has a run path"
! objdump -h "$folder/_look/usr/bin/daybook" | grep debug_info || complain "it is not stripped"
rm -rf "$folder/_look"
exit "$wrong"
