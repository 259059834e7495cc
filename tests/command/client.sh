# Sourced by tests of the command, after tools.sh: SQL of theirs.
# shellcheck shell=bash disable=SC2154
# sql: what stdin says, as people do it: with the engine's own client. SQLite's does not wait for
# another writer unless it is told to.
case $url in
    sqlite*) sql() { sqlite3 -bail -cmd '.timeout 10000' "${url#sqlite:}"; } ;;
    postgresql*) sql() { psql -qXAt -v ON_ERROR_STOP=1 "$url"; } ;;
    *)
        python3 - "$url" >client.cnf <<'END'
import sys, urllib.parse
of = urllib.parse.urlsplit(sys.argv[1])
print("[client]\nprotocol=tcp\nhost=%s\nport=%s\nuser=%s\npassword='%s'\n[mysql]\ndatabase=%s"
      % (of.hostname, of.port, of.username, urllib.parse.unquote(of.password), of.path[1:]))
END
        sql() { mariadb --defaults-file=client.cnf -N; }
        ;;
esac
