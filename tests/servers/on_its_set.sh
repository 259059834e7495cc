#!/bin/sh
# on_its_set.sh COMMAND...: the command on the servers that ctest has given this test (RESOURCE_GROUPS),
# which no other test uses meanwhile. ./check starts several sets of servers and says where they are;
# without it, all tests use the servers of the environment, one test at a time.
set -eu
given=$(env | sed -n 's/^CTEST_RESOURCE_GROUP_[0-9]*_\([A-Z]*\)=id:\([0-9]*\),.*/\1=\2/p')
for pair in $given; do
  eval "env_file=\${DAYBOOK_TEST_SET_${pair#*=}:-}"
  [ -n "$env_file" ] || continue
  case ${pair%=*} in
    POSTGRESQL) names='(POSTGRESQL|PGBOUNCER)' ;;
    MARIADB) names=MARIADB ;;
    MYSQL) names=MYSQL ;;
    SNAPSHOT) names=MARIADB_SNAPSHOT ;;
    *) continue ;;
  esac
  eval "$(grep -E "^export DAYBOOK_TEST_$names(_ADMIN|_PIDFILE|_SOCKET)?=" "$env_file")"
done
exec "$@"
