"""Signals that come while Python looks up a module: what is raised there would lock up other threads."""

from __future__ import annotations

import importlib
import signal
import sys
import time
from types import FrameType

import pytest

from ldiversity.base.ending import interrupt, orderly_end, put_off


class _Looker:
    """Calls the handler of a signal as if it came while a module is looked up."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.frame: FrameType | None = None

    def find_spec(self, name: str, *_: object) -> None:
        if name == "a_module_that_nobody_has":
            self.frame = sys._getframe(1)
            handler = signal.getsignal(self.number)
            assert callable(handler)
            handler(self.number, self.frame)


def test_an_interrupt_waits_until_python_has_looked_a_module_up(monkeypatch: pytest.MonkeyPatch) -> None:
    looker = _Looker(signal.SIGINT)
    monkeypatch.setattr(sys, "meta_path", [looker, *sys.meta_path])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with orderly_end():
            with pytest.raises(ModuleNotFoundError):  # and not the interrupt
                importlib.import_module("a_module_that_nobody_has")
            assert looker.frame is not None
            with pytest.raises(KeyboardInterrupt):
                time.sleep(10)
    finally:
        signal.signal(signal.SIGINT, before)


def test_elsewhere_an_interrupt_comes_at_once() -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupt(signal.SIGINT, sys._getframe())
    assert not put_off(signal.SIGINT, sys._getframe())
    assert not put_off(signal.SIGINT, None)


def test_the_usual_handler_is_back_after_the_block() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with orderly_end():
            assert signal.getsignal(signal.SIGINT) is interrupt
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with orderly_end():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
