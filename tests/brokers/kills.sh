#!/bin/sh
# kills.sh TAKER quorum|stream MESSAGES [BOOK]: kills.py, with a SQLite file unless a book is named.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 "$(dirname "$0")/kills.py" "$1" "${4:-sqlite:$folder/book.db}" "$2" "$3"
