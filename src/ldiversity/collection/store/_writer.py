"""Group commit: reports that come within a few milliseconds share one transaction."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from ldiversity.collection.store._store import Store
from ldiversity.collection.store._upkeep import Upkeep
from ldiversity.errors import BusyError, InternalError, LDiversityError

if TYPE_CHECKING:  # the form of surveys takes longer to load than this room
    from ldiversity.collection.survey import Kept

__all__ = ["Writer"]

_GATHER_SECONDS: Final = 0.004
_MOST_WAITING: Final = 20_000


class _Waiting(NamedTuple):
    survey_id: str
    kept: Sequence[Kept]
    future: asyncio.Future[None]
    loop: asyncio.AbstractEventLoop


class Writer:
    """A thread that writes what comes from an event loop, many reports to a transaction, and tidies the store.

    Parameters
    ----------
    store
        Where to write.
    gather_seconds
        How long the first report of a transaction waits for others.
    most_waiting
        How many reports may wait; more are refused with `BusyError`.

    Examples
    --------
    ::

        async with Writer(store) as writer:
            await writer.add(survey_id, [kept])  # returns when it is on disk
    """

    def __init__(
        self, store: Store, *, gather_seconds: float = _GATHER_SECONDS, most_waiting: int = _MOST_WAITING
    ) -> None:
        self._store, self._upkeep = store, Upkeep(store)
        self._gather_seconds, self._most_waiting = gather_seconds, most_waiting
        self._queue: list[_Waiting] = []
        self._waiting = 0
        self._stopping = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="ldiversity-writer", daemon=True)

    @property
    def fault(self) -> LDiversityError | None:
        """Why the store could not be tidied the last time; None if it could."""
        return self._upkeep.fault

    def start(self) -> None:
        """Start the thread. It tidies first, in case an earlier process was killed."""
        self._thread.start()

    async def stop(self) -> None:
        """Take nothing more, write what waits, tidy, and end the thread."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if self._thread.ident is not None:
            await asyncio.to_thread(self._thread.join)

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def add(self, survey_id: str, kept: Sequence[Kept]) -> None:
        """Keep reports; those whose token was spent before are skipped, and the caller does not learn which.

        It returns when all are on disk. A caller that is canceled does not undo them. `BusyError` if too many wait,
        `ParameterError` if the survey is unknown or closed, `StorageError` if the database failed: then the same may
        be sent again, and counts once.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        with self._changed:
            if self._stopping:
                raise BusyError("storage", "is being closed", hint="Try again later.")
            if self._waiting + len(kept) > self._most_waiting:
                raise BusyError("storage", "has too many reports waiting", hint="Try again in a moment.")
            self._waiting += len(kept)
            self._queue.append(_Waiting(survey_id, kept, future, loop))
            if len(self._queue) == 1:
                self._changed.notify()
        await future

    def _run(self) -> None:
        self._upkeep.begin()
        while True:
            with self._changed:
                if not self._queue and not self._stopping:
                    self._changed.wait(self._upkeep.pause)
                found, ending = bool(self._queue), self._stopping
            if found:
                if not ending:
                    time.sleep(self._gather_seconds)
                self._write()
            elif ending:
                break
            self._upkeep.work()
        self._upkeep.end()

    def _write(self) -> None:
        with self._changed:
            group, self._queue = self._queue, []
        by_survey: dict[str, list[_Waiting]] = {}
        for one in group:
            by_survey.setdefault(one.survey_id, []).append(one)
        for survey_id, waiting in by_survey.items():
            fault: LDiversityError | None = None
            kept = [report for one in waiting for report in one.kept]
            try:
                self._upkeep.count(self._store.add(survey_id, kept))
            except LDiversityError as error:
                fault = error
            except Exception as error:  # noqa: BLE001 - the thread must live on, and nobody may wait forever
                fault = InternalError("storage", f"failed ({type(error).__name__})")
            with self._changed:
                self._waiting -= len(kept)
            _answer(waiting, fault)


def _answer(waiting: Sequence[_Waiting], fault: LDiversityError | None) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for one in waiting:
        by_loop.setdefault(one.loop, []).append(one.future)
    for loop, futures in by_loop.items():
        with contextlib.suppress(RuntimeError):  # a loop that was closed: its callers are gone, their reports are kept
            loop.call_soon_threadsafe(_settle, futures, fault)


def _settle(futures: Sequence[asyncio.Future[None]], fault: LDiversityError | None) -> None:
    for future in futures:
        if future.done():  # its caller was canceled
            continue
        if fault is None:
            future.set_result(None)
        else:
            future.set_exception(copy.copy(fault))
