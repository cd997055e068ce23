"""Pages show every character of a name: none can hide, or turn the text after it around."""

from __future__ import annotations

import unicodedata

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.base.html import bullets, document, escape, table

TURNED = "zip\u202e\u2066age"
TABLE = pa.table({TURNED: [1, 1, 2, 2], "s": ["a", "b", "a", "b"]})


def hidden(page: str) -> set[str]:
    return {one for one in page if unicodedata.category(one) in {"Cc", "Cf", "Cs", "Zl", "Zp"}} - {"\n"}


@pytest.fixture(scope="module")
def release() -> ld.Release:
    return ld.anonymize(TABLE, quasi=TURNED, sensitive="s", method=ld.Anatomy(l=2))


@pytest.mark.parametrize("character", ["\u202e", "\u2066", "\u200b", "\u2028", "\x1b", "\x00", "\n", "\ud800"])
def test_a_character_that_cannot_be_seen_is_written_out(character: str) -> None:
    assert escape(f"a{character}b") == f"a{character.encode('unicode_escape').decode()}b"


def test_what_html_reads_is_escaped() -> None:
    assert escape("<b title='x'>&\"") == "&lt;b title=&#x27;x&#x27;&gt;&amp;&quot;"


def test_other_alphabets_stay_as_they_are() -> None:
    assert escape("größe 年齢 العمر") == "größe 年齢 العمر"


@pytest.mark.parametrize("part", [bullets([TURNED]), table([TURNED], [[TURNED]]), document(TURNED, "")])
def test_the_parts_of_pages_escape_what_they_are_given(part: str) -> None:
    assert hidden(part) == set()


def test_the_page_of_an_audit_shows_its_command_forwards() -> None:
    page = ld.audit(TABLE, quasi=TURNED, sensitive="s", models="k-anonymity:3").to_html()

    assert hidden(page) == set()
    assert "zip\\u202e\\u2066age" in page


def test_a_report_shows_every_character_of_a_name(release: ld.Release) -> None:
    assert hidden(ld.user_report(release).to_html()) == set()


def test_a_notebook_shows_every_character_of_a_name(release: ld.Release) -> None:
    assert hidden(release._repr_html_()) == set()
