"""croniter's ticks, in the form of cron_ticks.cpp."""
import sys
from datetime import datetime, timezone

import pytz  # with dateutil, its other way, croniter never gets past a gap
from croniter import croniter

for line in sys.stdin:
    expression, zone, after, count = line.rstrip("\n").split("|")
    try:
        start = datetime.fromtimestamp(int(after), pytz.timezone(zone))
        # Its seconds stand last.
        fields = expression.split()
        if len(fields) == 6:
            expression = " ".join(fields[1:] + fields[:1])
        cron = croniter(expression, start)
        ticks = []
        for _ in range(int(count)):
            ticks.append(int(cron.get_next(datetime).astimezone(timezone.utc).timestamp()))
        print(" ".join(map(str, ticks)))
    except Exception as error:  # whatever it refuses with
        print("refused", type(error).__name__, str(error).replace("\n", " "))
