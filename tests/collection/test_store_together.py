"""Several servers on one database: no report is doubled, lost or kept after the closing, and nobody waits for ever."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from random import Random

from ldiversity.collection.store import Store
from ldiversity.collection.survey import Kept
from ldiversity.errors import ParameterError
from tests.collection.stores import ONE, bodies, kept

SERVERS, TOKENS, BATCH = 4, 600, 12


def test_servers_that_get_the_same_reports_in_any_order_keep_each_once_while_one_tidies(database_url: str) -> None:
    with Store.open(database_url) as store:
        store.add_survey(ONE)
    ended = threading.Event()

    def serve(seed: int) -> int:
        numbers = list(range(TOKENS))
        Random(seed).shuffle(numbers)
        with Store.open(database_url) as store:
            batches = [numbers[at : at + BATCH] for at in range(0, TOKENS, BATCH)]
            return sum(store.add(ONE.id, [kept(number) for number in batch]) for batch in batches)

    def tidy() -> int:
        times = 0
        with Store.open(database_url) as store:
            while not ended.is_set():
                store.tidy()
                times += 1
                time.sleep(0.02)
        return times

    with ThreadPoolExecutor(SERVERS + 1) as threads:
        tidying = threads.submit(tidy)
        added = sum(threads.map(serve, range(SERVERS)))
        ended.set()

    assert tidying.result()
    assert added == TOKENS
    with Store.open(database_url) as store:
        assert sorted(bodies(store)) == list(range(TOKENS))


def test_nothing_is_acknowledged_after_the_closing_and_nothing_before_it_is_missing(database_url: str) -> None:
    with Store.open(database_url) as store:
        store.add_survey(ONE)
    closed = threading.Event()

    def serve(_: int) -> list[bytes]:
        done: list[bytes] = []
        with Store.open(database_url) as store:
            while True:
                report, after = Kept(0, os.urandom(16), os.urandom(8)), closed.is_set()
                try:
                    store.add(ONE.id, [report])
                except ParameterError:
                    return done
                assert not after
                done.append(report.body)

    with ThreadPoolExecutor(SERVERS) as threads, Store.open(database_url) as store:
        serving = [threads.submit(serve, number) for number in range(SERVERS)]
        time.sleep(0.3)
        store.close_survey(ONE.id)
        closed.set()
        joined = store.bodies(ONE.id)

    there = Counter(joined[at : at + 8] for at in range(0, len(joined), 8))
    assert there == Counter(body for done in serving for body in done.result())
    assert there
