#!/bin/bash
# Tests of `daybook serve` and `daybook tokens`: who may what, HTTP as it may be misused, requests
# that are sent twice, a server that is killed, a database that goes away.
#
#   tests/command/serve_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"

with_book
daybook serve --routes >routes
is "the table has no row without a role" 0 "$(grep -vc '"takes":"[a-z]*"' routes)"

# --- The documents name each route, and no other
# shellcheck disable=SC2016 # no expansion
sed -n 's/^| `\(GET\|POST\|DELETE\)` | `\([^`]*\)` | `\([a-z]*\)`.*/\1 \2 \3/p' \
    "$here/../../docs/reference/http.md" | sort >documented
python3 -c '
import json
for line in open("routes"):
    one = json.loads(line)
    print(one["method"], one["path"], one["takes"])' | sort >served
is "docs/reference/http.md has the routes that there are" "" "$(diff served documented)"

# --- Tokens
for role in metrics read work operate admin; do
    echo "$role $(daybook tokens add "by-$role" --role $role 2>err)" >>tokens
done
is "five tokens" 5 "$(daybook tokens list --json | wc -l)"
is "no text of a token is in the book's list" 0 \
    "$(daybook tokens list | grep -c "$(sed -n 's/admin dbk_[^_]*_//p' tokens)")"
token() { sed -n "s/^$1 //p" tokens; }

code "--listen on a network" 78 daybook serve --listen 0.0.0.0:0
has "--listen on a network" err "in the clear"
code "a proxy that may say who is there" 64 daybook serve --user-header X-User
code "a certificate that is not there" 78 daybook serve --listen 0.0.0.0:0 --cert none --key none
code "a role that is not there" 64 daybook tokens add x --role root
code "a port that is none" 64 daybook serve --listen localhost:http

# --- A server
serving() { # serving OPTIONS...: sets url, link and server
    : >served.out
    command daybook serve --listen 127.0.0.1:"${port:-0}" "$@" >served.out 2>>served.err &
    server=$!
    until_true $patience grep -q code= served.out || fail "serve prints no link: $(tail -3 served.err)"
    link=$(cat served.out)
    url=${link%%/#*}
    port=${url##*:}
    url=${url%%:*}://127.0.0.1:$port
}
daybook queues make stock >/dev/null 2>&1
echo a | daybook queues import stock - >/dev/null 2>&1
"$daybook" run nightly --key a -- sh -c 'echo secret-output' >/dev/null
serving
ask() { # ask ROLE METHOD PATH [CURL-OPTIONS...]: into answer; prints the status
    local role=$1 method=$2 path=$3
    shift 3
    curl -sS -o answer -w '%{http_code}' -X "$method" -H "Authorization: Bearer $(token "$role")" \
        -H 'Content-Type: application/json' "$@" "$url/api/v1/$path"
}
log_in() { # log_in CODE: prints the status; the cookie stands in jar
    curl -sS -o answer -c jar -w '%{http_code}' -H "Origin: $url" -H 'Content-Type: application/json' \
        -d "{\"code\": \"$1\"}" "$url/api/v1/session"
}
is "a link is good for a login" 200 "$(log_in "${link##*=}")"
has "the cookie is not for scripts" jar "#HttpOnly_127.0.0.1"
is "and not for two" 401 "$(log_in "${link##*=}")"
for role in metrics read work operate admin; do
    one=$(daybook tokens link --role $role --url "$url")
    log_in "${one##*=}" >/dev/null
    echo "session:$role $(awk '/daybook/ {print $7}' jar)" >>tokens
done

python3 "$here/serve_matrix.py" misuse "$url" tokens routes >misuse.out
is "misuse" "0 wrong" "$(tail -1 misuse.out | sed 's/.*, //')"
[[ $(wc -l <misuse.out) -le 1 ]] || head -20 misuse.out
python3 "$here/serve_matrix.py" matrix "$url" tokens routes >matrix.out
is "routes by roles" "0 wrong" "$(tail -1 matrix.out | sed 's/.*, //')"
[[ $(wc -l <matrix.out) -le 1 ]] || head -20 matrix.out

# --- OpenAPI says what the table has, both ways
ask metrics GET openapi.json >/dev/null
python3 - <<'END' >differences
import json
table = {(one["method"].lower(), "/" + one["path"]): one for one in map(json.loads, open("routes"))}
told = json.load(open("answer"))
both = {(method, path): one for path, of in told["paths"].items() for method, one in of.items()}
for key in table.keys() ^ both.keys():
    print(key)
for key in table.keys() & both.keys():
    one, other = table[key], both[key]
    names = {p["name"] for p in other["parameters"] if p["in"] == "query"}
    body = other.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    fields = set(body.get("properties", {})) - {"reason"}
    if names != {p["name"] for p in one["query"]} or fields != {p["name"] for p in one["body"]}:
        print(key, names, fields)
    if other["x-role"] != one["takes"] or ("reason" in body.get("required", [])) != (one["reason"] == "needed"):
        print(key, other["x-role"])
END
is "OpenAPI and the table" "" "$(cat differences)"

# --- What a role may not see
ask read GET runs/nightly/a >/dev/null
is "read sees no output" 0 "$(grep -c secret-output answer)"
ask operate GET runs/nightly/a >/dev/null
is "operate sees it" 1 "$(grep -c secret-output answer)"

# --- An act, once
act() { ask operate POST queues/stock/"$1" -H "Idempotency-Key: $2" -d "{\"reason\": \"$3\"}"; }
daybook queues resume stock >/dev/null 2>&1
is "an act" 200 "$(act pause one-$$ 'a reason')"
is "sent again" 200 "$(act pause one-$$ 'a reason')"
has "sent again" answer "It is paused."
is "with another body" 422 "$(act pause one-$$ 'another reason')"
is "once in the book" 1 "$(daybook queues show stock --json | grep -o '"a reason"' | wc -l)"
is "by the token's name" by-operate \
    "$(daybook queues show stock --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["changes"][-1]["actor"])')"
daybook queues resume stock >/dev/null 2>&1

# --- Killed and started: sessions and names of requests are in the book
kill -KILL $server
wait $server 2>/dev/null
serving
is "the request of before, of a server that was killed" 200 "$(act pause one-$$ 'a reason')"
has "the request of before" answer "It was done before."
is "nothing was done" False "$(daybook queues show stock --json | field paused)"
is "the session of before" 200 "$(curl -sS -o answer -w '%{http_code}' \
    -b "daybook=$(token session:admin)" "$url/api/v1/session")"

# --- Revoked
id=$(token read | cut -c5-20)
is "before it is revoked" 200 "$(ask read GET status)"
is "revoked by the API" 200 "$(ask admin DELETE "tokens/$id" -d '{"reason": "it leaked"}')"
is "after it is revoked" 401 "$(ask read GET status)"
code "revoked by the command" 0 daybook tokens revoke "$(token metrics | cut -c5-20)"
is "after that" 401 "$(ask metrics GET session)"
code "revoked twice" 66 daybook tokens revoke "$id"

# --- Who guesses
for i in 1 2 3 4 5 6 7 8 9 10; do
    curl -sS -o answer -H "Authorization: Bearer dbk_$i" "$url/api/v1/status"
done
is "guessing" 429 "$(ask operate GET status)"
is "who has a session goes on" 200 "$(curl -sS -o answer -w '%{http_code}' \
    -b "daybook=$(token session:admin)" "$url/api/v1/status")"
has "refusals are in the log" served.err "refused status=429"
is "no token is in the log" 0 "$(grep -c dbk_ served.err)"

# --- Read only
kill -TERM $server
wait $server
is "asked to end" 0 $?
serving --read-only
is "read only: a question" 200 "$(ask operate GET status)"
is "read only: an act" 403 "$(ask operate POST queues/stock/pause -d '{}')"
has "read only: an act" answer '"code":"read-only"'
kill -TERM $server
wait $server

# --- TLS, and a proxy that says who is there
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost \
    -keyout key.pem -out cert.pem 2>/dev/null
serving --cert cert.pem --key key.pem
url=https://localhost:$port
is "TLS" 200 "$(curl -sS --cacert cert.pem -D head -o answer -w '%{http_code}' "$url/livez")"
has "TLS" head "Strict-Transport-Security"
code=$(daybook tokens link)
curl -sS --cacert cert.pem -D head -o answer -H "Origin: $url" -H 'Content-Type: application/json' \
    -d "{\"code\": \"${code##*=}\"}" "$url/api/v1/session"
has "a cookie of TLS" head "__Host-daybook="
has "a cookie of TLS" head "Secure"
kill -TERM $server
wait $server
serving --behind-proxy 127.0.0.0/8 --host book.example --user-header X-User --groups-header X-Groups \
    --group sre=operate --user-role read
as() { # as USER GROUPS METHOD PATH [CURL-OPTIONS...]
    local user=$1 groups=$2 method=$3 path=$4
    shift 4
    curl -sS -o answer -w '%{http_code}' -X "$method" -H "Host: book.example" -H "X-User: $user" \
        -H "X-Groups: $groups" -H 'Content-Type: application/json' "$@" "$url/api/v1/$path"
}
is "a user of the proxy" 200 "$(as anna '' GET status)"
is "without a role" 403 "$(as anna 'sre2, notsre' POST queues/stock/pause -d '{}' -H 'Sec-Fetch-Site: same-origin')"
is "from another site" 403 "$(as anna 'x, sre' POST queues/stock/pause -d '{}' -H 'Sec-Fetch-Site: cross-site')"
is "with a group" 200 "$(as anna 'x, sre' POST queues/stock/pause -d '{}' -H 'Sec-Fetch-Site: same-origin')"
is "by their name" anna \
    "$(daybook queues show stock --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["changes"][-1]["actor"])')"
kill -TERM $server
wait $server
serving --behind-proxy 192.0.2.1 --user-header X-User --user-role admin
is "who is no proxy says nothing" 401 \
    "$(curl -sS -o answer -w '%{http_code}' -H 'X-User: anna' "$url/api/v1/status")"
kill -TERM $server
wait $server

# --- The database goes away, and comes back
if [[ $engine == server ]]; then
    cat >forward.py <<'END'
import socket, sys, threading
there, here = (sys.argv[1], int(sys.argv[2])), int(sys.argv[3])
def copy(a, b):
    try:
        while piece := a.recv(65536):
            b.sendall(piece)
    except OSError:
        pass
    b.close()
door = socket.create_server(("127.0.0.1", here))
open("forwarding", "w").write(str(door.getsockname()[1]))
while True:
    a, _ = door.accept()
    b = socket.create_connection(there)
    for one in (a, b), (b, a):
        threading.Thread(target=copy, args=one, daemon=True).start()
END
    at=${DAYBOOK_DATABASE_URL##*@}
    at=${at%%/*}
    forward() {
        : >forwarding
        python3 forward.py "${at%:*}" "${at##*:}" "$1" &
        forwarder=$!
        until_true $patience there forwarding
    }
    forward 0
    DAYBOOK_DATABASE_URL=${DAYBOOK_DATABASE_URL/"$at"/127.0.0.1:$(cat forwarding)}
    serving
    is "the database is there" 200 "$(ask operate GET status)"
    between=$(cat forwarding)
    kill -KILL $forwarder
    wait $forwarder 2>/dev/null
    sleep 1.5
    is "the database is away" 503 "$(ask operate GET status)"
    has "the database is away" answer '"code":"database-away"'
    is "the page is there all the same" 200 "$(curl -sS -o answer -w '%{http_code}' "$url/")"
    is "and so is the process" 200 "$(curl -sS -o answer -w '%{http_code}' "$url/livez")"
    forward "$between"
    back() { [[ $(ask operate GET status) == 200 ]]; }
    if until_true $patience back; then pass; else fail "the database is back, and it is not seen"; fi
    kill -KILL $forwarder
    kill -TERM $server
    wait $server $forwarder 2>/dev/null
fi

finish
