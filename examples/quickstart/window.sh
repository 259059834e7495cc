#!/bin/sh
# A tick of ./quickstart writes down the window that it is for. Killed and done again, it writes the
# same into the same file.
set -eu
sleep 0.5 # work, so that some are killed in the middle of it
file=$QUICKSTART/windows/$DAYBOOK_KEY
echo "$DAYBOOK_WINDOW_START $DAYBOOK_WINDOW_END" >"$file.$$"
mv "$file.$$" "$file.window"
