#!/bin/sh
# with_rabbitmq.sh SERVERS COMMAND...: the command, with a RabbitMQ that is started for it, and
# stopped.
set -eu
servers=$1
shift
folder=$(mktemp -d /tmp/daybook-rabbitmq-XXXXXX)
chmod 755 "$folder"
trap '"$servers" stop "$folder" || true; rm -rf "$folder"' EXIT
"$servers" start "$folder" --only rabbitmq >/dev/null
# The URLs of the databases stay.
eval "$(grep -E '^export DAYBOOK_TEST_RABBITMQ' "$folder/env")"
"$@"
