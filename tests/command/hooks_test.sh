#!/bin/bash
# Tests of webhooks, on_problem and `daybook hooks`: from the kill of a daemon to the request.
#
#   tests/command/hooks_test.sh PATH-OF-DAYBOOK [DATABASE-URL]
#
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/command/tools.sh
. "$here/tools.sh"

with_book
mkdir receiver
python3 "$here/hook_receiver.py" receiver &
receiver=$!
until_true $patience there receiver/port
port=$(cat receiver/port)
echo 'a secret' >hook.key

# --- One hook, now
cat >daybook.toml <<END
[[hook]]
name = "ops"
url = "\${TEST_HOOK}/ok"
secret_file = "hook.key"
END
for path in 500 redirect hang large; do
    printf '[[hook]]\nname = "%s"\nurl = "http://127.0.0.1:%s/%s"\nform = "slack"\n' \
        $path "$port" $path >>daybook.toml
done
cat >>daybook.toml <<'END'
[[hook]]
name = "metadata"
url = "https://169.254.169.254/latest"
[[hook]]
name = "mapped"
url = "https://[::ffff:169.254.169.254]/latest"
[[hook]]
name = "elsewhere"
url = "http://192.0.2.1/x"
[[hook]]
name = "file"
url = "https://127.0.0.1:1/x"
severity = "act-now"
form = "plain"
END
code "list" 0 daybook hooks list
has "list" out "ops        alertmanager  look-today  yes"
has "list" out "file       plain         act-now     no      https://127.0.0.1:1/..."
code "no variable" 65 daybook hooks test ops
has "no variable" err "there is no variable TEST_HOOK in the environment"
export TEST_HOOK="http://127.0.0.1:$port"
code "test" 0 daybook hooks test ops
is "test" 1 "$(wc -l <receiver/requests)"
# Verified by other code than ours, as Standard Webhooks says.
python3 - <<'END' >signed 2>&1
import base64, hashlib, hmac, json
one = json.loads(open("receiver/requests").readline())
head = one["headers"]
text = f'{head["webhook-id"]}.{head["webhook-timestamp"]}.{one["body"]}'
digest = hmac.new(b"a secret", text.encode(), hashlib.sha256).digest()
print(head["webhook-signature"] == "v1," + base64.b64encode(digest).decode())
body = json.loads(one["body"])
print(body["version"], body["status"], body["receiver"], body["alerts"][0]["labels"]["alertname"])
END
is "test, signed" "True
4 firing ops test" "$(cat signed)"
code "none of that name" 66 daybook hooks test op
has "none of that name" err "no hook op; did you mean 'ops'? There are"
code "500" 69 daybook hooks test 500
has "500" err "it answers 500: thanks"
code "a redirect" 69 daybook hooks test redirect
has "a redirect" err "it answers 302, a redirect, which is not followed"
code "a long answer" 0 daybook hooks test large
code "no answer" 69 daybook hooks test hang
has "no answer" err "Timeout was reached"
for name in metadata mapped; do
    code "$name" 69 daybook hooks test $name
    has "$name" err "its address is of this link or of a cloud's metadata"
done
code "http elsewhere" 69 daybook hooks test elsewhere
has "http elsewhere" err "http is for this host only (127.0.0.1): use https"
is "what was refused was not sent" 0 "$(grep -c latest receiver/requests)"

# --- A mistake in the file
mistake() { # mistake NAME TEXT MESSAGE
    printf '%s\n' "$2" >wrong.toml
    code "$1" 65 daybook hooks list --config wrong.toml
    has "$1" err "$3"
}
mistake "no URL" $'[[hook]]\nname = "a"' "a [[hook]] needs a url"
mistake "a file" $'[[hook]]\nname = "a"\nurl = "file:///etc/passwd"' "begins with https://"
mistake "a form" $'[[hook]]\nname = "a"\nurl = "https://a"\nform = "teams"' "alertmanager"
mistake "a key" $'[alerts]\noften = "1s"' "'often' is not known"

# --- From the kill of a daemon to the request
cat >killed.toml <<'END'
[[schedule]]
name = "tock"
cron = "0 0 29 2 +MON"
command = ["sh", "-c", "echo $$ >tick.pid; exec sleep 600"]
END
cat >daybook.toml <<END
on_problem = ["sh", "-c", "cat >>told; echo >>told"]
[alerts]
every = "1s"
[[hook]]
name = "ops"
url = "\${TEST_HOOK}/ok"
secret_file = "hook.key"
severity = "act-now"
[[hook]]
name = "off"
url = "\${TEST_HOOK}/500"
END
: >receiver/requests
background killed daemon --config killed.toml --lease 2s
killed=$last
background teller daemon --lease 2s
teller=$last
declared() { daybook schedules list | grep -q tock; }
until_true $patience declared
daybook schedules trigger tock >/dev/null
until_true $patience there tick.pid
alive() { daybook holders | grep -c alive | grep -q 2; }
until_true $patience alive
is "no problem, nothing told" 0 "$(wc -l <receiver/requests)"
kill -KILL "$killed"
wait "$killed" 2>/dev/null
told() { grep -q '"path": "/ok"' receiver/requests && grep -q firing told; }
if until_true $patience told; then pass; else fail "nobody was told of a dead daemon"; fi
code "status --check" 1 daybook status --check
subject="process $killed on $(uname -n)"
remedy=$(daybook status --check --json | field problems.0.remedy)
has "the remedy" out "$remedy"
grep '"path": "/ok"' receiver/requests | head -1 | field body >body
is "who" "$subject" "$(field alerts.0.labels.subject <body)"
is "how urgent" "firing holder_dead act-now" \
    "$(field status <body) $(field alerts.0.labels.alertname <body) $(field alerts.0.labels.severity <body)"
is "the same remedy" "$remedy" "$(field alerts.0.annotations.remedy <body)"
is "a command is told the same" "$subject: $remedy" \
    "$(head -1 told | field subject): $(head -1 told | field remedy)"
tried() { daybook tasks list daybook.hooks | grep -q "it answers 500"; }
if until_true $patience tried; then pass; else fail "a hook that answers 500 is not tried again"; fi
code "who looks" 0 daybook holders
has "who looks" out "alerts"

# --- Another goes on with it; the end is told
background next daemon --config killed.toml --lease 2s
ended() { grep -q resolved told && grep '"path": "/ok"' receiver/requests | grep -q resolved; }
if until_true $patience ended; then pass; else fail "the end of a problem is not told"; fi
is "each is told once" "1 1" \
    "$(grep '"path": "/ok"' receiver/requests | grep -c 'status\\": \?\\"firing.*holder_dead') $(grep holder_dead told | grep -c firing)"
kill -TERM "$teller" "$last"
wait "$teller" "$last"
is "nobody looks any more" 0 "$(daybook holders --json | grep -c alerts)"
kill "$receiver"

finish
