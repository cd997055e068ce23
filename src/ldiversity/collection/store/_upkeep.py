"""When a store is tidied while reports come in."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from ldiversity.collection.store._database import PATIENCE
from ldiversity.collection.store._store import Store
from ldiversity.errors import InternalError, LDiversityError

__all__ = ["Upkeep"]

_CHECKPOINT_SECONDS: Final = 5.0
_FIRST_REWRITE: Final = 32
"""So many reports are rewritten together at least, unless time brings it about."""

_PATIENCE: Final = 1.0
"""So many seconds a server waits for others, because reports wait too; it is more patient at its end."""

_LONGEST_PAUSE: Final = 300.0
"""A rewrite that failed is tried again after five seconds, then after twice as long each time, up to this."""

_REST_SECONDS: Final = 60.0
_REST_SHARE: Final = 200.0
"""With new reports, a rewrite comes at the latest after so many times its own duration: half a percent of the time."""


class Upkeep:
    """Tidies a store: at the start, at the end, when its reports have doubled, and when it has rested long enough.

    Doubling keeps the price near-linear in the number of reports. The rest keeps small and quiet surveys tidy.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._clock = store, clock
        self.fault: LDiversityError | None = None
        self._new = self._at_rewrite = 0
        self._tried = self._rewritten = clock()
        self._duration = 0.0
        self._failures = 0
        self._in_log = False

    @property
    def pause(self) -> float | None:
        """How long nothing has to be done unless reports come; None: forever."""
        return _CHECKPOINT_SECONDS if self._in_log or self._new else None

    def begin(self) -> None:
        """Tidy what an earlier process left."""
        self._rewrite()

    def count(self, added: int) -> None:
        """Note that reports were written. Also when none was new, the log may tell that something came."""
        self._new += added
        self._in_log = True

    def work(self) -> None:
        """Do what is due."""
        now = self._clock()
        waited = now - self._tried > _CHECKPOINT_SECONDS
        if self._failures and now - self._tried < min(_CHECKPOINT_SECONDS * 2.0**self._failures / 2, _LONGEST_PAUSE):
            return
        rested = now - self._rewritten > max(_REST_SECONDS, _REST_SHARE * self._duration)
        if self._new and (self._new >= max(_FIRST_REWRITE, self._at_rewrite) or rested):
            self._rewrite()
        elif self._in_log and waited:
            self._try(lambda: self._store.checkpoint(patience=_PATIENCE))

    def end(self) -> None:
        """Tidy for the last time, also without new reports: blind tokens may have been issued."""
        self._rewrite(PATIENCE)

    def _rewrite(self, patience: float = _PATIENCE) -> None:
        started = self._clock()
        self._try(lambda: self._tidy(patience))
        self._rewritten = self._clock()
        self._duration = self._rewritten - started

    def _tidy(self, patience: float) -> None:
        self._store.tidy(patience=patience)
        self._new, self._at_rewrite = 0, self._store.total()

    def _try(self, work: Callable[[], None]) -> None:
        self.fault = None
        try:
            work()
        except LDiversityError as error:  # reports come first: it is tried again later
            self.fault = error
        except Exception as error:  # noqa: BLE001 - the thread that writes must live on
            self.fault = InternalError("storage", f"cannot be tidied ({type(error).__name__})")
        if self.fault is None:
            self._failures, self._in_log = 0, False
        else:
            self._failures += 1
        self._tried = self._clock()
