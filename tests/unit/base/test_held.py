"""Within a limit, memory that was freed goes back to the system; without one, nothing changes."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.base import held
from ldiversity.base.budget import Budget
from ldiversity.base.held import give_back, held_to, resident_bytes, used_again

needs_trimming = pytest.mark.skipif(
    held._trim() is None or resident_bytes() is None, reason="this system does not take free pages back"
)


@pytest.fixture(autouse=True)
def always_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the process were near every limit."""
    monkeypatch.setattr(held, "_NEAR", 10**12)


def with_holes() -> list[np.ndarray]:
    """Half of 200 MB in pieces that allocators keep when they are freed, because others lie between them."""
    pieces = [np.ones(100_000, dtype=np.uint8) for _ in range(2000)]
    return pieces[::2]


@needs_trimming
def test_free_pages_go_back_within_a_limit_alone() -> None:
    before = resident_bytes()
    kept = with_holes()
    give_back()
    without = resident_bytes()
    with held_to(Budget("500MB")):
        give_back()
    within = resident_bytes()

    assert before is not None
    assert without is not None
    assert within is not None
    assert sum(len(piece) for piece in kept) == 100_000_000
    assert without - within > 50_000_000  # a hundred were free; pages that are shared with pieces stay


@needs_trimming
def test_arrow_takes_memory_where_arrays_do_until_the_last_run_has_ended() -> None:
    usual = pa.default_memory_pool().backend_name
    with held_to(None):
        assert pa.default_memory_pool().backend_name == usual
    with held_to(Budget("500MB")):
        with held_to(Budget("400MB")):
            assert pa.default_memory_pool().backend_name == "system"
        assert pa.default_memory_pool().backend_name == "system"
        made = pa.array(range(1000))
    assert pa.default_memory_pool().backend_name == usual
    assert made.to_pylist() == list(range(1000))


def test_a_run_that_fails_leaves_no_limit_behind() -> None:
    usual = pa.default_memory_pool().backend_name
    with pytest.raises(ValueError, match="wrong"), held_to(Budget("500MB")):
        raise ValueError("wrong")
    assert pa.default_memory_pool().backend_name == usual
    assert not held._holder._limits


def test_threads_give_back_while_runs_begin_and_end() -> None:
    faults: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(50):
                with held_to(Budget("500MB")):
                    give_back()
        except BaseException as fault:  # noqa: BLE001 - told by the assertion
            faults.append(fault)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not faults
    assert not held._holder._limits


def test_where_the_system_has_no_such_function_arrow_alone_gives_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "_trim", lambda: None)
    usual = pa.default_memory_pool().backend_name
    with held_to(Budget("500MB")):
        give_back()
        assert pa.default_memory_pool().backend_name == usual


@needs_trimming
def test_what_is_freed_stays_a_while_after_the_last_run_that_uses_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def take_and_free() -> None:
        np.ones(100_000_000, dtype=np.uint8)

    monkeypatch.setattr(held, "_KEPT_SECONDS", 0.2)
    with used_again():
        with used_again():
            take_and_free()
        within = resident_bytes()
    with used_again():  # in time, so that nothing goes back
        time.sleep(0.4)
        again = resident_bytes()
    later = held._holder._later
    assert later is not None
    later.join()
    after = resident_bytes()

    assert within is not None
    assert again is not None
    assert after is not None
    assert again - after > 90_000_000  # not compared with before: the process may have had free memory to take it from
    assert held._holder._later is None


@needs_trimming
def test_a_run_within_a_limit_gets_what_the_last_one_left() -> None:
    with used_again():
        np.ones(100_000_000, dtype=np.uint8)
    left = resident_bytes()
    with held_to(Budget("500MB")):
        within = resident_bytes()

    assert left is not None
    assert within is not None
    assert left - within > 90_000_000
    assert held._holder._later is None


@needs_trimming
def test_a_process_that_ends_does_not_wait_until_memory_goes_back() -> None:
    code = "from ldiversity.base.held import used_again\nwith used_again(): pass"
    begun = time.monotonic()
    subprocess.run([sys.executable, "-c", code], check=True)

    assert time.monotonic() - begun < held._KEPT_SECONDS


@needs_trimming
def test_where_no_thread_can_begin_nothing_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Timer) -> None:
        raise RuntimeError("can't start new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Timer, "start", refuse)
    with used_again():
        pass
    assert held._holder._later is None


@needs_trimming
def test_a_limit_holds_beside_runs_that_use_memory_again() -> None:
    usual = pa.default_memory_pool().backend_name
    with used_again():
        assert pa.default_memory_pool().backend_name == "system"
        with held_to(Budget("500MB")):
            freed = np.ones(100_000_000, dtype=np.uint8)
            before = resident_bytes()
            del freed
            give_back()
            after = resident_bytes()
        assert pa.default_memory_pool().backend_name == "system"
    assert pa.default_memory_pool().backend_name == usual
    assert before is not None
    assert after is not None
    assert before - after > 90_000_000


def test_a_run_that_fails_keeps_nothing() -> None:
    usual = pa.default_memory_pool().backend_name
    with pytest.raises(ValueError, match="wrong"), used_again():
        raise ValueError("wrong")
    assert pa.default_memory_pool().backend_name == usual
    assert not held._holder._using_again


def test_where_the_system_has_no_such_functions_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "_trim", lambda: None)
    monkeypatch.setattr(held, "_mallopt", lambda: None)
    usual = pa.default_memory_pool().backend_name
    with used_again():
        assert pa.default_memory_pool().backend_name == usual


@needs_trimming
def test_no_lock_is_held_while_memory_goes_back_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is forked then has a lock that nobody opens: its own runs never began."""
    locked: list[bool] = []
    monkeypatch.setattr(held, "_KEPT_SECONDS", 0.2)
    monkeypatch.setattr(held, "_give_all_back", lambda: locked.append(held._holder._lock.locked()))
    with used_again():
        pass
    later = held._holder._later
    assert later is not None
    later.join()

    assert locked == [False]
