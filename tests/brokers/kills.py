"""Three processes take the messages of a RabbitMQ queue or stream, and are killed, or stopped past
their lease and continued, at random. Each message has its effect once.

  kills.py TAKER BOOK quorum|stream MESSAGES [SEED]
"""
import os
import random
import signal
import subprocess
import sys
import time

taker, book, kind, messages = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
seed = int(sys.argv[5]) if len(sys.argv) > 5 else random.randrange(1 << 30)
random.seed(seed)
queue = 'kills-%s-%d' % (kind, os.getpid())
patience = 180


def take():
    return subprocess.Popen([taker, 'take', book, queue, kind], stderr=subprocess.DEVNULL)


def counted():
    out = subprocess.run([taker, 'count', book], stdout=subprocess.PIPE, check=True).stdout
    return tuple(map(int, out.split()))


subprocess.run([taker, 'setup', book, queue, kind], check=True)
sender = subprocess.Popen([taker, 'send', book, queue, str(messages)])
takers = [take() for _ in range(3)]
kills = stops = 0
until = time.monotonic() + patience
try:
    while time.monotonic() < until:
        time.sleep(random.uniform(0.1, 0.7))
        at = random.randrange(len(takers))
        if random.random() < 0.6:
            takers[at].kill()
            takers[at].wait()
            takers[at] = take()
            kills += 1
        else:
            takers[at].send_signal(signal.SIGSTOP)
            time.sleep(random.uniform(0.5, 3.5))
            takers[at].send_signal(signal.SIGCONT)
            stops += 1
        if sender.poll() is not None and counted()[1] == messages:
            break
    # Who was stopped with messages in hand has had its turn.
    time.sleep(1)
    effects, different = counted()
finally:
    for one in takers:
        one.kill()
    sender.kill()
print('%s, seed %d: %d killed, %d stopped; %d effects, %d different, of %d messages' %
      (kind, seed, kills, stops, effects, different, messages))
sys.exit(0 if (effects, different) == (messages, messages) and sender.wait() == 0 else 1)
