"""Ending in order: what is not finished is removed first, even when the process is told to end."""

from __future__ import annotations

import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

__all__ = ["orderly_end", "remove_folder"]

_TRIES: Final = 100
_PAUSE: Final = 0.02


class _Terminated(BaseException):
    """Takes a process out of what it does, so that it cleans up."""


@contextmanager
def orderly_end() -> Iterator[None]:
    """Let a SIGTERM that would end the process at once end the block first, and then the process.

    So do worker processes end, as of `multiprocessing`. Whoever handles the signal in a way of their own is not
    disturbed; a thread other than the main one cannot handle signals, and is ended at once.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    told = False

    def leave(number: int, _: FrameType | None) -> None:
        nonlocal told
        told = True
        signal.signal(number, signal.SIG_IGN)  # once, undisturbed
        raise _Terminated

    signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if told:
            signal.raise_signal(signal.SIGTERM)


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it, though a thread may still write there, and whatever interrupts it."""
    for _ in range(_TRIES):
        try:
            shutil.rmtree(folder, ignore_errors=True)
        except BaseException:
            # Pressed keys and signals come more than once; what is half removed must go all the same.
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if not folder.exists():
            return
        time.sleep(_PAUSE)
