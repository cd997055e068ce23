"""Results while the server runs: read from the store, at most every few seconds."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ldiversity.collection.results import LiveResults, ResultsAnswer
from ldiversity.collection.store import Store
from ldiversity.collection.survey import Reports, SignedSurvey

__all__ = ["LiveBoard", "Shown"]

_REST_SECONDS: Final = 2.0


@dataclass(frozen=True)
class Shown:
    """Results, and the same as JSON."""

    results: ResultsAnswer
    document: bytes

    @classmethod
    def of(cls, results: ResultsAnswer) -> Shown:
        """The results that are shown now."""
        return cls(results, json.dumps(results.to_dict(), allow_nan=False).encode())


class LiveBoard:
    """What may be shown now.

    The store does not tell which reports are new, and they have no names. What it holds more than was counted is new.
    """

    def __init__(
        self,
        store: Store,
        signed: SignedSurvey,
        remembered: Path | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._id, self._clock = store, signed.id, clock
        self._live = LiveResults(signed, remembered=remembered)
        self._step = signed.survey.results.step
        self._sizes = [2 * codes for codes in Reports(signed.survey, signed.id).body_codes]
        self._counted: list[Counter[bytes]] = [Counter() for _ in self._sizes]
        self._lock = asyncio.Lock()
        self._read_at = float("-inf")
        self._shown = Shown.of(self._live.snapshot())

    async def shown(self) -> Shown:
        """The results."""
        async with self._lock:
            if self._clock() - self._read_at > _REST_SECONDS:
                await asyncio.to_thread(self._refresh)
                self._read_at = self._clock()
            return self._shown

    def _refresh(self) -> None:
        for part, size in enumerate(self._sizes):
            counted = self._counted[part]
            if self._store.count(self._id, part) - counted.total() < self._step:
                continue
            bodies = self._store.bodies(self._id, part)
            found = Counter(bodies[at : at + size] for at in range(0, len(bodies), size))
            self._live.add(part, b"".join((found - counted).elements()))
            self._counted[part] = found
        results = self._live.snapshot()
        if results is not self._shown.results:
            self._shown = Shown.of(results)
