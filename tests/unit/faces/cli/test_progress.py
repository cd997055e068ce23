from __future__ import annotations

import io
import sys

import pytest

from ldiversity.faces.cli._progress import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_how_much_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")

    with progress_bar() as progress:
        assert progress is not None
        progress(0.25, "grouping")

    assert "grouping" in screen.getvalue()
    assert "25%" in screen.getvalue()


def test_a_share_outside_its_range_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")

    with progress_bar() as progress:
        assert progress is not None
        progress(1.5, "writing")

    assert "100%" in screen.getvalue()


def test_a_file_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())

    with progress_bar() as progress:
        assert progress is None


def test_nothing_is_shown_when_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)

    with progress_bar(wanted=False) as progress:
        assert progress is None

    assert not screen.getvalue()
