"""A pool of processes for independent work: the papers, and then their pictures."""

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

import ldiversity as ld

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

__all__ = ["Job", "ProcessPool"]

Report: TypeAlias = Callable[[float, str], None]
Job: TypeAlias = Callable[[Report], Any]
"""A piece of work. It gets a function for its progress. The job and its result can be pickled."""

_PROGRESS: Final = "progress"
_DONE: Final = "done"
_FAILED: Final = "failed"


class ProcessPool:
    """Runs jobs in several processes, or one after the other in this one. The results are the same.

    Parameters
    ----------
    workers
        How many processes. With one, everything runs in this process.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._processes: dict[Connection[Any, Any], SpawnProcess] = {}

    def __enter__(self) -> Self:
        """Start nothing yet: the first jobs start the processes."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes, whatever they do."""
        self._end()

    def run(self, jobs: Sequence[Job], tell: Callable[[int, float, str], None]) -> list[Any]:
        """Return the results of the jobs, in the order of the jobs.

        Parameters
        ----------
        jobs
            The work to do.
        tell
            Called with the position of a job, the share of it that is done, and a word for what is being done.

        Raises
        ------
        InternalError
            When a process ends before its job does. An error that a job raises is raised here.
        """
        if self._workers == 1 or len(jobs) == 1:
            return [job(partial(tell, place)) for place, job in enumerate(jobs)]
        try:
            return self._share(jobs, tell)
        except BaseException:
            self._end()  # first of all: the caller removes the folder into which the processes may still be writing
            raise

    def _share(self, jobs: Sequence[Job], tell: Callable[[int, float, str], None]) -> list[Any]:
        while len(self._processes) < min(self._workers, len(jobs)):
            self._start()
        idle: list[Any] = list(self._processes)
        busy: dict[Any, int] = {}
        results: dict[int, Any] = {}
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
                    results[busy.pop(pipe)] = content
                    idle.append(pipe)
        return [results[place] for place in range(len(jobs))]

    def _start(self) -> None:
        context = get_context("spawn")  # a fork would copy locks of threads that it does not copy
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        self._processes[ours] = process

    def _end(self) -> None:
        for pipe, process in self._processes.items():
            process.terminate()
            process.join()
            pipe.close()
        self._processes.clear()


def _receive(pipe: Any) -> tuple[str, Any]:  # noqa: ANN401 - a connection or a socket, as typed
    try:
        kind, content = pipe.recv()
    except (EOFError, OSError):
        raise ld.InternalError(
            "papers", "a process of the rerun ended early.", hint="Memory may have run out; try --workers 1."
        ) from None
    return kind, content


def serve(pipe: Connection[Any, Any]) -> None:
    """Do the jobs that arrive until the pipe is closed: the main function of a process of the pool."""
    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process gets it too, and ends the others
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
        pipe.send((_FAILED, ld.InternalError("papers", f"a result cannot be handed over ({type(error).__name__}).")))
