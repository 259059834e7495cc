#!/usr/bin/env python3
"""A Python job as one run. Its count survives a crash.

    daybook run nightly --key "$(date +%F)" --once -- examples/nightly.py FOLDER

Steps are commands, as in a shell. A carried value is a text: JSON, a cursor, a file's name.
"""
import json
import pathlib
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])


def daybook(*words):
    """check=True ends the job at any failure, also at 79: the run was lost to another process."""
    return subprocess.run(["daybook", *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def carried(name, otherwise):
    found = subprocess.run(["daybook", "carry", "get", name], stdout=subprocess.PIPE, text=True)
    if found.returncode == 66:  # nothing of that name yet
        return otherwise
    found.check_returncode()
    return json.loads(found.stdout)


daybook("step", "fetch", "--retries", "3", "--", "cp", "/etc/os-release", str(folder / "fetched"))
lines = (folder / "fetched").read_text().splitlines()
state = carried("state", {"next": 0, "letters": 0})
for at in range(state["next"], len(lines)):
    state = {"next": at + 1, "letters": state["letters"] + len(lines[at])}
    daybook("carry", "set", "state", json.dumps(state))
    daybook("progress", f"{at + 1}/{len(lines)}", "counting")
# A mail cannot be taken back: at most once. If the outcome is unknown, a person decides.
daybook("step", "mail", "--mode", "at-most-once", "--", "cp", str(folder / "fetched"),
        str(folder / "mailed"))
print(state["letters"])
