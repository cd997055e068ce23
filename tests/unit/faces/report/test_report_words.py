"""A report can be read: by eyes, by ears, on paper, and by people who know no jargon."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.colors import to_hex

import ldiversity as ld
from ldiversity.evaluation.attacks import AttackReport, AttackResult
from ldiversity.faces.report._pictures import attack_pictures
from ldiversity.pictures import Gauge, draw_gauges
from ldiversity.pictures._figures import BLUE, GRAY, INK, ORANGE, RUST, SKY, UNSURE, luminance, sequential, text_on
from ldiversity.pictures._heat import _PALE

TEXT, GRAPHICS = 4.5, 3.0
"""What the Web Content Accessibility Guidelines (AA) ask for."""


def attack_hatch(success: float) -> str | None:
    """How the bar is drawn of an attacker who expects so much where half is promised."""
    result = AttackResult(
        attack="order", knowledge="", attribute="x", targets=9, found=9, success=success, interval=None, certain=0,
        certain_success=None, mean_belief=success, claim=0.5, baseline=0.2, scored=False, broken=False,
    )  # fmt: skip
    (picture,) = attack_pictures(AttackReport((result,)))
    hatch: str | None = picture.draw().axes[0].patches[-1].get_hatch()
    return hatch


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    people = pa.table({"age": [30, 31, 32, 33] * 15, "disease": ["flu", "cold", "", "gout", "ache"] * 12})
    methods = {"sets": ld.RandomizedAddition(l=3), "classes": ld.Anatomy(l=3)}
    releases = {
        name: ld.anonymize(people, quasi="age", sensitive="disease", method=method) for name, method in methods.items()
    }
    return {name: ld.user_report(release, by="age:2", attacks=True).to_html() for name, release in releases.items()}


@pytest.mark.parametrize("step", range(0, 101, 5))
def test_numbers_of_a_map_are_read_on_every_color(step: int) -> None:
    color = to_hex(sequential()(step / 100))

    assert contrast(text_on(color), color) >= TEXT


@pytest.mark.parametrize("step", range(int(100 * _PALE) + 1))
def test_doubtful_numbers_of_a_map_are_read_where_they_stand(step: int) -> None:
    assert contrast(UNSURE, to_hex(sequential()(step / 100))) >= TEXT


@pytest.mark.parametrize("color", [INK, GRAY])
def test_texts_of_pictures_are_read_on_white(color: str) -> None:
    assert contrast(color, "white") >= TEXT


@pytest.mark.parametrize(
    ("mark", "ground"), [(BLUE, "white"), (BLUE, SKY), (RUST, SKY), (RUST, "white"), (ORANGE, "white"), (INK, SKY)]
)
def test_marks_are_seen_on_what_they_lie_on(mark: str, ground: str) -> None:
    assert contrast(mark, ground) >= GRAPHICS


def test_bars_have_an_outline_that_is_seen_on_white() -> None:
    figure = draw_gauges([Gauge("a", 0.5)], title="", value="value", above="above", threshold="threshold")

    assert contrast(to_hex(figure.axes[0].patches[-1].get_edgecolor()), "white") >= GRAPHICS


def test_expectations_above_the_promise_are_hatched() -> None:
    assert attack_hatch(0.6) == "//////"


def test_expectations_within_the_promise_are_not_hatched() -> None:
    assert attack_hatch(0.5) is None


def test_expectations_are_said_to_be_no_success(pages: dict[str, str]) -> None:
    assert "attackers can be surer than they are right" in pages["sets"]


def test_what_was_checked_is_said_of_each_class_on_its_own(pages: dict[str, str]) -> None:
    assert "every class on its own is as promised." in pages["classes"]
    assert "every set on its own is as promised." in pages["sets"]


@pytest.mark.usefixtures("undrawn")
def test_nothing_is_green_beside_a_warning() -> None:
    rng = np.random.default_rng(1)
    columns = {"age": [1, 2, 3, 4] * 6, **{name: rng.permutation(["a", "b", "c", "d"] * 6) for name in ("one", "two")}}
    with pytest.warns(ld.LDiversityWarning):
        release = ld.anonymize(
            pa.table(columns), quasi="age", sensitive=["one", "two"], method=ld.LLMSU(l=2, joint=False)
        )

    assert 'class="good"' not in ld.user_report(release, by=()).to_html()


def test_sets_have_no_classes_in_what_was_checked(pages: dict[str, str]) -> None:
    assert "reached by the worst set" in pages["sets"]
    assert "the worst class" not in pages["sets"]


@pytest.mark.parametrize("word", ["posterior:", "n_values", "int64", "(1 rows)", " 1 records", ">string<"])
def test_jargon_and_slips_are_gone(pages: dict[str, str], word: str) -> None:
    assert [name for name, page in pages.items() if word in page] == []


@pytest.mark.parametrize("word", ["quasi-identifier", "[20, 30)", "marginal"])
def test_words_that_remain_are_explained(pages: dict[str, str], word: str) -> None:
    assert [f"<dt><strong>{word}</strong></dt>" in page for page in pages.values()] == [True, True]


def test_a_text_without_letters_has_a_name(pages: dict[str, str]) -> None:
    assert "(empty text)" in pages["sets"]


def test_every_table_has_a_caption_and_heads_with_a_scope(pages: dict[str, str]) -> None:
    page = pages["classes"]

    assert page.count("<table>") == page.count("<caption>") > 5
    assert "<th>" not in page


def test_every_figure_has_a_heading(pages: dict[str, str]) -> None:
    assert len(re.findall(r"<figure><h3>[^<]+</h3>", pages["classes"])) == pages["classes"].count("<figure>")


def test_tables_are_printed_though_they_are_folded_up(pages: dict[str, str]) -> None:
    assert re.search(r"@media print\{.*details::details-content\{content-visibility:visible", pages["sets"])
