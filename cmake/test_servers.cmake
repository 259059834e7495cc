set(daybook_engines sqlite postgresql pgbouncer mariadb mariadb_snapshot)
# Debian 12 has no MySQL; `./check --engine mysql` brings it (tools/newer-debian).
option(DAYBOOK_TEST_MYSQL "Conformance on MySQL, too" OFF)
set(daybook_conformance_engines ${daybook_engines})
if(DAYBOOK_TEST_MYSQL)
  list(APPEND daybook_conformance_engines mysql)
endif()

# Some tests change a server's settings for a moment, or stop it: a test has the servers of its
# engine for itself. ./check starts two sets of them; ctest gives a test its own, and the launcher
# hands it their URLs. PgBouncer stands before PostgreSQL: whoever has the one has the other.
set(daybook_server_of_sqlite sqlite:1)  # no server: as many tests at once
set(daybook_server_of_postgresql postgresql:1)
set(daybook_server_of_pgbouncer postgresql:1)
set(daybook_server_of_mariadb mariadb:1)
set(daybook_server_of_mariadb_snapshot snapshot:1)
set(daybook_server_of_mysql mysql:1)
set(daybook_on_its_set ${PROJECT_SOURCE_DIR}/tests/servers/on_its_set.sh)
