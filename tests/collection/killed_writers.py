"""A program that writes reports under load, and is killed: the first half of the test of kills.

``python -m tests.collection.killed_writers URL KILLS SEED [early]`` starts one writing process after another, kills
each at a random moment, and prints the numbers that were acknowledged, one per line. What was sent and not
acknowledged is sent again by the next process, as devices do. The last process is not killed, so that in the end all
is acknowledged. With ``early``, a report is acknowledged before it is written, as a careless store would do.
``python -m tests.collection.killed_writers URL load`` is one such process, until its standard input ends.

Processes are forked from this one, which loads everything once.
"""

from __future__ import annotations

import asyncio
import os
import random
import select
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count

import alembic.runtime.environment
import alembic.script  # noqa: F401

from ldiversity.collection.store import Store, Writer
from ldiversity.errors import StorageError
from tests.collection.stores import ONE, kept

CLIENTS = 16
LONGEST = 0.2
WHILE_WRITING = 0.8
"""So many of the processes are killed within the longest time after they began to send, others from their start."""


class EarlyStore(Store):
    """The planted fault: what is added is acknowledged at once, and written a moment later."""

    def add(self, survey_id: str, reports: object) -> int:
        threading.Timer(0.05, super().add, (survey_id, reports)).start()
        return 0


async def send(store: Store, numbers: Iterator[int], acknowledge: Callable[[int], None]) -> None:
    """Send a report for each number, by several clients at once; each tries again until it is acknowledged."""
    async with Writer(store) as writer:

        async def client() -> None:
            for number in numbers:
                while True:
                    try:
                        await writer.add(ONE.id, [kept(number)])
                    except StorageError:
                        await asyncio.sleep(0.02)
                    else:
                        break
                acknowledge(number)

        await asyncio.gather(*(client() for _ in range(CLIENTS)))


def write(url: str, numbers: Iterator[int], acknowledge: Callable[[int], None], *, early: bool) -> None:
    with (EarlyStore if early else Store).open(url) as store:
        store.add_survey(ONE)
        asyncio.run(send(store, numbers, acknowledge))


def in_a_child(url: str, numbers: Iterable[int], *, early: bool) -> tuple[int, int]:
    """Start a process that writes; its id, and where it tells which numbers it sends and which are acknowledged."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    os.close(reading)

    def sent() -> Iterator[int]:
        for number in numbers:
            os.write(writing, struct.pack("<ci", b"s", number))
            yield number

    try:
        write(url, sent(), lambda number: os.write(writing, struct.pack("<ci", b"a", number)) and None, early=early)
    finally:
        os._exit(0)


def heard(reading: int) -> tuple[set[int], set[int]]:
    """The numbers that were sent, and those that were acknowledged, up to the end of a process."""
    with os.fdopen(reading, "rb") as stream:
        said = list(struct.iter_unpack("<ci", stream.read()))
    return {number for kind, number in said if kind == b"s"}, {number for kind, number in said if kind == b"a"}


def kill_many(url: str, kills: int, seed: int, *, early: bool) -> set[int]:
    """Start and kill; the numbers that were acknowledged."""
    moments = random.Random(seed)
    acknowledged: set[int] = set()
    open_ones: set[int] = set()
    fresh = 0
    for _ in range(kills):
        again = sorted(open_ones)
        child, reading = in_a_child(url, _chained(again, count(fresh)), early=early)
        if moments.random() < WHILE_WRITING:
            select.select([reading], [], [], 20)
        time.sleep(moments.random() * LONGEST)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        sent, done = heard(reading)
        fresh = max([fresh, *(number + 1 for number in sent)])
        acknowledged |= done
        open_ones = (open_ones | sent) - done
    if not early:
        child, reading = in_a_child(url, sorted(open_ones), early=False)
        os.waitpid(child, 0)
        acknowledged |= heard(reading)[1]
        assert open_ones <= acknowledged
    return acknowledged


def _chained(first: Iterable[int], then: Iterable[int]) -> Iterator[int]:
    yield from first
    yield from then


def load(url: str) -> None:
    """Write until the standard input ends; each acknowledged number is printed."""
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()

    def until_the_end() -> Iterator[int]:
        for number in count():
            if ended.is_set():
                return
            yield number

    write(url, until_the_end(), lambda number: print(number, flush=True), early=False)  # noqa: T201


if __name__ == "__main__":
    if sys.argv[2] == "load":
        load(sys.argv[1])
    else:
        print(*sorted(kill_many(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), early="early" in sys.argv)), sep="\n")  # noqa: T201
