"""End in an orderly way: remove what is unfinished first, even if the process gets a signal to end."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

__all__ = ["end_with", "heed_request_to_end", "interrupt", "orderly_end", "put_off", "remove_folder"]

_TRIES: Final = 100
_PAUSE: Final = 0.02
_IMPORTING: Final = "<frozen importlib._bootstrap>"
"""Where Python itself looks a module up."""


_request: BaseException | None = None


class _Terminated(BaseException):
    """Interrupts the work of a process, so that it cleans up."""


def end_with(request: BaseException) -> NoReturn:
    """Raise `request` from the handler of a signal, and again at the next step if it was lost.

    Python drops what is raised while it calls a finalizer or the callback of a weak reference. A signal may come just
    then, so the request is also kept for `heed_request_to_end`.
    """
    global _request  # noqa: PLW0603 - signals belong to the process, too
    _request = request
    raise request


def heed_request_to_end() -> None:
    """Raise what a signal asked the main thread to end with, if it did."""
    if _request is not None and threading.current_thread() is threading.main_thread():
        raise _request


def put_off(number: int, frame: FrameType | None) -> bool:
    """Send a signal once more, a little later, if it came while Python looks up a module; whether it did.

    What is raised there can leave the lock of all imports locked, and other threads would wait for it for ever.
    """
    if frame is None or frame.f_code.co_filename != _IMPORTING:
        return False
    later = threading.Timer(_PAUSE, os.kill, (os.getpid(), number))
    later.daemon = True
    later.start()
    return True


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raise `KeyboardInterrupt` for a signal, as Python does, but not where that would lock up other threads."""
    if not put_off(number, frame):
        signal.default_int_handler(number, frame)


@contextmanager
def orderly_end(clean_up: Callable[[], object] | None = None) -> Iterator[None]:
    """Let a SIGTERM that would end the process at once end the block first, and then the process.

    `clean_up` is called in between: for what outlives the block, and would go when the process ends by itself.

    This is how worker processes end, such as those of `multiprocessing`. If the program handles the signal itself, its
    handler is kept. Only the main thread can handle signals; in other threads this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with _interruptible():
        if signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
            yield
            return
        with _terminable(clean_up):
            yield


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let SIGINT wait for imports, unless the program handles it itself."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is interrupt:  # another handler may have come since, and stays
            signal.signal(signal.SIGINT, usual)


@contextmanager
def _terminable(clean_up: Callable[[], object] | None) -> Iterator[None]:
    terminated = False

    def leave(number: int, frame: FrameType | None) -> None:
        nonlocal terminated
        if put_off(number, frame):
            return
        terminated = True
        signal.signal(number, signal.SIG_IGN)  # a second signal must not interrupt the cleaning up
        end_with(_Terminated())

    signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        try:
            if terminated and clean_up is not None:
                clean_up()
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
