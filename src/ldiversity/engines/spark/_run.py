"""Running a job on the cluster: with progress here, a way to stop it, and errors in one sentence."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from ldiversity.base.ending import heed_request_to_end
from ldiversity.base.progress import reading
from ldiversity.engines.spark._envelope import Seal
from ldiversity.engines.spark._own_files import not_readable
from ldiversity.engines.spark._program import OTHER_VERSION
from ldiversity.engines.spark._quiet import quiet
from ldiversity.engines.spark._session import Session, insist, is_connect, with_settings
from ldiversity.engines.spark._wire import fault_in
from ldiversity.errors import InternalError, LDiversityError, UnsupportedError

__all__ = ["run_job", "without_traceback"]

_Result = TypeVar("_Result")
_PAUSE: Final = 0.1
_ASK_AGAIN: Final = 0.5
_STEPS: Final = 1000


def run_job(
    session: Session, seal: Seal, action: Callable[[], _Result], *, foreign: bool = False, pieces: bool = False
) -> _Result:
    """Do something that makes Spark compute; report how far it is, and cancel it when this is interrupted.

    A `foreign` job computes a frame of the user, one of `pieces` only hands them on. The work is done by a second
    thread, so that this one hears of signals and of watchers that stop the run.
    """
    tag = f"ldiversity-{secrets.token_hex(8)}"
    outcome: list[_Result] = []
    failure: list[BaseException] = []
    watch = _Connected(session, tag) if is_connect(session) else _Classic(session, tag)
    done = threading.Event()  # an interrupted `Thread.join` of Python 3.11 takes a thread that works for one that ended

    def work() -> None:
        try:
            with quiet(), watch.tagged():
                outcome.append(action())
        except BaseException as error:  # noqa: BLE001 - raised again below
            failure.append(error)
        finally:
            done.set()

    step, told, due = reading(_STEPS), 0, 0.0
    with quiet(), with_settings(session, foreign=foreign, pieces=pieces), watch.listening():
        threading.Thread(target=work, daemon=True).start()
        try:
            while not done.is_set():
                done.wait(_PAUSE)
                heed_request_to_end()
                if time.monotonic() >= due:  # asking costs Java as much as a small task
                    now, due = int(_STEPS * watch.share()), time.monotonic() + _ASK_AGAIN
                    step(max(now - told, 0))
                    told = max(told, now)
        except BaseException:
            while not done.is_set():  # to cancel what has not begun yet, or is between two jobs, changes nothing
                insist(watch.cancel)
                done.wait(_ASK_AGAIN)
            raise
    if failure:
        raise _translated(failure[0], seal) from None
    return outcome[0]


@contextmanager
def without_traceback(seal: Seal) -> Iterator[None]:
    """Raise errors of Spark as one sentence of ours."""
    try:
        with quiet():
            yield
    except (LDiversityError, GeneratorExit):
        raise
    except Exception as error:  # noqa: BLE001 - Java, py4j and gRPC each have their own
        raise _translated(error, seal) from None


def _translated(error: BaseException, seal: Seal) -> BaseException:
    """Our error in the place of one of Spark, whose text holds a traceback and may quote a cell."""
    if isinstance(error, LDiversityError) or not isinstance(error, Exception):
        return error
    text = str(error)
    ours = fault_in(seal, text)
    if ours is not None:
        return ours
    if "No module named 'ldiversity" in text or OTHER_VERSION in text:
        return UnsupportedError(
            "spark", "workers must have ldiversity installed, in the version of this machine"
        ).with_hint("Install it in the Python that PYSPARK_PYTHON names on every worker.")
    if "PYTHON_VERSION_MISMATCH" in text:
        return UnsupportedError("spark", "workers must have the same version of Python as this machine").with_hint(
            "Let PYSPARK_PYTHON name it on every worker."
        )
    if "FAILED_READ_FILE" in text or "FileNotFoundException" in text:
        return not_readable()
    condition = getattr(error, "getCondition", None) or getattr(error, "getErrorClass", None)
    named = _said(condition) or type(error).__name__
    return InternalError("spark", f"a job failed ({named})").with_hint(
        "Spark's log says more; its text is left out here, because it may quote a cell."
    )


def _said(condition: Callable[[], str | None] | None) -> str | None:
    try:
        return None if condition is None else condition()
    except Exception:  # noqa: BLE001 - a gateway that is gone
        return None


class _Classic:
    """Watches the jobs of a group through Spark's status."""

    def __init__(self, session: Session, tag: str) -> None:
        self._context, self._tag = session.sparkContext, tag

    @contextmanager
    def tagged(self) -> Iterator[None]:
        # The group belongs to the thread that works, which ends with the job.
        self._context.setJobGroup(self._tag, "ldiversity", interruptOnCancel=True)
        yield

    @contextmanager
    def listening(self) -> Iterator[None]:
        yield

    def share(self) -> float:
        """The share of tasks of all stages that are known so far, never quite all."""
        try:
            status = self._context.statusTracker()
            done = total = 0
            for job in status.getJobIdsForGroup(self._tag):
                info = status.getJobInfo(job)
                for stage in [] if info is None else info.stageIds:
                    known = status.getStageInfo(stage)
                    if known is not None:
                        done, total = done + known.numCompletedTasks, total + known.numTasks
        except Exception:  # noqa: BLE001 - progress is never a reason to fail
            return 0.0
        return _share(done, total)

    def cancel(self) -> None:
        self._context.cancelJobGroup(self._tag)


class _Connected:
    """Watches the operations of a tag through Spark Connect."""

    def __init__(self, session: Session, tag: str) -> None:
        self._session, self._tag, self._share = session, tag, 0.0

    @contextmanager
    def tagged(self) -> Iterator[None]:
        self._session.addTag(self._tag)
        try:
            yield
        finally:
            self._session.removeTag(self._tag)

    @contextmanager
    def listening(self) -> Iterator[None]:
        self._session.registerProgressHandler(self._heard)
        try:
            yield
        finally:
            self._session.removeProgressHandler(self._heard)

    def _heard(self, stages: Any = (), **_: object) -> None:  # noqa: ANN401 - stages of pyspark
        known = list(stages or ())
        done = sum(stage.num_completed_tasks for stage in known)
        self._share = max(self._share, _share(done, sum(stage.num_tasks for stage in known)))

    def share(self) -> float:
        """The share of tasks, as the server said last."""
        return self._share

    def cancel(self) -> None:
        self._session.interruptTag(self._tag)


def _share(done: int, total: int) -> float:
    return 0.99 * done / total if total else 0.0
