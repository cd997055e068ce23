"""Processes that share independent work: the papers, and then their pictures."""

from __future__ import annotations

import pickle
import signal
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing import connection, get_context
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

from ldiversity.errors import InternalError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

__all__ = ["Crew", "Job"]

Report: TypeAlias = Callable[[float, str], None]
Job: TypeAlias = Callable[[Report], Any]
"""A piece of work, told whom to report its progress to; it and what it gives can be pickled."""

_PROGRESS: Final = "progress"
_DONE: Final = "done"
_FAILED: Final = "failed"


class Crew:
    """Runs jobs in some processes, or one after the other in this one; what they give is the same.

    Parameters
    ----------
    workers
        How many processes. With one, nothing leaves this process.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._hired: dict[Connection[Any, Any], SpawnProcess] = {}

    def __enter__(self) -> Self:
        """Start nothing yet: processes are started with the first jobs."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes, whatever they do."""
        for pipe, process in self._hired.items():
            process.terminate()
            process.join()
            pipe.close()
        self._hired.clear()

    def run(self, jobs: Sequence[Job], tell: Callable[[int, float, str], None]) -> list[Any]:
        """Give what each job gives, in the order of the jobs.

        Parameters
        ----------
        jobs
            What is to be done.
        tell
            Called with the place of a job, the share of it that is done, and a word for what is being done.

        Raises
        ------
        InternalError
            When a process ends before its job does; what a job raises is raised here.
        """
        if self._workers == 1 or len(jobs) == 1:
            return [job(partial(tell, place)) for place, job in enumerate(jobs)]
        while len(self._hired) < min(self._workers, len(jobs)):
            self._hire()
        idle: list[Any] = list(self._hired)
        busy: dict[Any, int] = {}
        found: dict[int, Any] = {}
        waiting = deque(enumerate(jobs))
        while waiting or busy:
            while waiting and idle:
                place, job = waiting.popleft()
                busy[idle[-1]] = place
                idle.pop().send(job)
            for ready in connection.wait(list(busy)):
                pipe: Any = ready
                kind, content = _receive(pipe)
                if kind == _PROGRESS:
                    tell(busy[pipe], *content)
                elif kind == _FAILED:
                    raise content
                else:
                    found[busy.pop(pipe)] = content
                    idle.append(pipe)
        return [found[place] for place in range(len(jobs))]

    def _hire(self) -> None:
        context = get_context("spawn")  # a fork would copy locks of threads that it does not copy
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        self._hired[ours] = process


def _receive(pipe: Any) -> tuple[str, Any]:  # noqa: ANN401 - a connection or a socket, as typed
    try:
        kind, content = pipe.recv()
    except (EOFError, OSError):
        raise InternalError(
            "reproduce", "a process of the rerun ended early", hint="Memory may have run out; try one worker."
        ) from None
    return kind, content


def serve(pipe: Connection[Any, Any]) -> None:
    """Do the jobs that come, until there is nobody to give them; the main of a process of a crew."""
    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process is told, and ends the others
    warnings.simplefilter("ignore")
    with suppress(EOFError, OSError):
        while True:
            _answer(pipe, _done(pipe, pipe.recv_bytes()))


def _done(pipe: Connection[Any, Any], message: bytes) -> tuple[str, Any]:
    try:
        job: Job = pickle.loads(message)  # noqa: S301 - from the process that started this one
        return _DONE, job(lambda share, what: pipe.send((_PROGRESS, (share, what))))
    except Exception as error:  # noqa: BLE001 - raised in the first process
        return _FAILED, error


def _answer(pipe: Connection[Any, Any], answer: tuple[str, Any]) -> None:
    try:
        pipe.send(answer)
    except (AttributeError, TypeError, ValueError, pickle.PicklingError) as error:
        pipe.send((_FAILED, InternalError("reproduce", f"a result cannot be handed over ({type(error).__name__})")))
