#!/bin/sh
# on_engine.sh ENGINE SCRIPT BINARY: the script on that engine's server.
set -eu
case $1 in
  sqlite) url= ;;
  postgresql) url=$DAYBOOK_TEST_POSTGRESQL ;;
  pgbouncer) url=${DAYBOOK_TEST_PGBOUNCER%/*}/pooled ;;  # tests/servers/servers says why
  mariadb) url=$DAYBOOK_TEST_MARIADB ;;
  mariadb_snapshot) url=$DAYBOOK_TEST_MARIADB_SNAPSHOT ;;
  mysql) url=$DAYBOOK_TEST_MYSQL ;;
  *) echo "no engine is named $1" >&2; exit 64 ;;
esac
shift
exec "$@" ${url:+"$url"}
