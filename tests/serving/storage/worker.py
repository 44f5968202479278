"""A process that is killed: every line on its standard input starts a child that stores rows and labels until then.

Children are forked, so that one starts in a moment. A child prints its process number, and then a line for every
label that the store acknowledged. ``early`` prints the line before: a planted mistake, which the test must notice.
"""

import os
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from rankset.serving import Store
from served import RULE, label, prediction

THREADS = 4


def say(line):
    """Write a line at once; lines of several threads do not mix."""
    os.write(1, f"{line}\n".encode())


def send_labels(store, start, early):
    place = 0
    while True:
        names = [f"{start}-{place + more}" for more in range(2)]
        store.remember([prediction(place, name=name) for name in names])
        answer = store.send([label(place, name=name) for name in names])
        if not early:
            assert answer.result() == ["new"] * 2
        for name in names:
            say(f"{name} {label(place).label}")
        if early:
            answer.result()
        place += 2


def child(where, turn, early):
    store = Store.open(where, rule=RULE)
    say(f"pid {os.getpid()}")
    for number in range(THREADS):
        threading.Thread(target=send_labels, args=(store, f"{turn}-{number}", early), daemon=True).start()
    threading.Event().wait()


def main(where, early):
    for turn, _ in enumerate(sys.stdin):
        if os.fork() == 0:
            try:
                child(where, turn, early)
            finally:
                say("failed")
                os._exit(1)
        os.wait()
        say("ended")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:] == ["early"])
