from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass

import pytest

from ldiversity.base.answers import Answer
from ldiversity.faces.cli._show import Page, show


@dataclass(frozen=True)
class Titled(Answer, schema="titled", version=1):
    """An answer of its own."""

    title: str
    numbers: tuple[float, ...] = ()


def render_title(answer: Titled, page: Page) -> None:
    page.title(answer.title)


def full_page() -> Page:
    page = Page()
    page.title("A title")
    page.text("A sentence.")
    page.bullets(["first", "second"])
    page.command("ldiversity demo")
    page.table(["value", "n"], [["[red]flu[/red]", "10"], ["病", "2"]], right={1})
    return page


def test_plain_text_lines_up_wide_characters() -> None:
    page = Page()
    page.table(["value", "n"], [["病気", "1"], ["flu", "2"]])

    assert page.plain().splitlines()[2:] == ["病気   1", "flu    2"]


def test_plain_text_shows_every_part() -> None:
    expected = ["A title", "A sentence.", "- first", "- second", "  $ ldiversity demo", "[red]flu[/red]  10"]

    lines = full_page().plain().splitlines()

    assert [line for line in expected if line not in lines] == []


def test_a_terminal_shows_every_part_and_reads_no_markup(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "100")

    full_page().print()

    shown = capsys.readouterr().out
    assert [
        part for part in ("A title", "- second", "$ ldiversity demo", "[red]flu[/red]", "病") if part not in shown
    ] == []


def test_a_warning_is_red_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    page = Page()
    page.warning("Do not publish.")

    page.print()

    assert "\x1b[1;31mDo not publish." in screen.getvalue()


def test_a_warning_is_plain_text_elsewhere() -> None:
    page = Page()
    page.warning("Do not publish.")

    assert page.plain() == "Do not publish."


def test_a_cell_cannot_steer_the_terminal() -> None:
    page = Page()
    page.table(["value"], [["\x1b[2J"]])

    assert "\x1b" not in page.plain()


def test_json_has_null_for_numbers_that_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    show(Titled("x", (1.5, float("nan"), float("inf"))), render_title, as_json=True)

    assert json.loads(capsys.readouterr().out)["numbers"] == [1.5, None, None]


def test_text_is_rendered_from_the_same_facts(capsys: pytest.CaptureFixture[str]) -> None:
    show(Titled("x"), render_title, as_json=False)

    assert capsys.readouterr().out == "x\n=\n"


def test_characters_that_stdout_does_not_know_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)

    show(Titled("病"), render_title, as_json=False)
    show(Titled("病"), render_title, as_json=True)

    shown = stream.buffer.getvalue().decode("ascii").split()
    assert shown[:2] == ["\\u75c5", "=="]
    assert '"\\u75c5",' in shown
