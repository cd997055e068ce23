"""End in an orderly way: remove what is unfinished first, even if the process gets a signal to end."""

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
    """Interrupts the work of a process, so that it cleans up."""


@contextmanager
def orderly_end() -> Iterator[None]:
    """Let a SIGTERM that would end the process at once end the block first, and then the process.

    This is how worker processes end, such as those of `multiprocessing`. If the program handles the signal itself, its
    handler is kept. Only the main thread can handle signals; in other threads this does nothing.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    terminated = False

    def leave(number: int, _: FrameType | None) -> None:
        nonlocal terminated
        terminated = True
        signal.signal(number, signal.SIG_IGN)  # a second signal must not interrupt the cleaning up
        raise _Terminated

    signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if terminated:
            signal.raise_signal(signal.SIGTERM)


def remove_folder(folder: Path) -> None:
    """Remove a folder and its contents, even if a thread still writes there or the removal is interrupted."""
    for _ in range(_TRIES):
        try:
            shutil.rmtree(folder, ignore_errors=True)
        except BaseException:
            # Interrupts may come more than once; a half-removed folder must still go.
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if not folder.exists():
            return
        time.sleep(_PAUSE)
