"""The table of methods and engines says what the methods say."""

from __future__ import annotations

from ldiversity.methods import METHODS
from tools.engines_table import BEGIN, FILE, engines_table, with_table


def test_the_page_has_the_table_as_it_is_now() -> None:
    text = FILE.read_text(encoding="utf-8")

    assert BEGIN in text
    assert with_table(text) == text, "run: python tools/engines_table.py"


def test_every_method_has_a_row_and_a_page_with_another_table_would_be_found() -> None:
    assert engines_table().count("\n") == len(METHODS) + 2
    assert with_table(f"{BEGIN}| bsgi | no |\n<!-- end -->\n") == f"{BEGIN}{engines_table()}<!-- end -->\n"
