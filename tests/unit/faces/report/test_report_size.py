"""A report stays below a megabyte, however large the table and its domains are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.faces.report import _tables

MEGABYTE = 1_000_000


def large(n: int, n_values: int) -> ld.Release:
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "age": rng.integers(0, 100, n),
            "place": [f"a place with a long name {i % 24}" for i in range(n)],
            "illness": [f"a value with a rather long name {code}" for code in rng.integers(0, n_values, n)],
        }
    )
    return ld.anonymize(table, quasi=["age", "place"], sensitive="illness", method=ld.RandomizedAddition(l=3))


@pytest.fixture(scope="module")
def crowded() -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_tables, "_MOST_BYTES", 100_000)
        return ld.user_report(large(500, 40)).to_html()


def test_large_domains_are_cut_to_the_most_frequent_values() -> None:
    report = ld.user_report(large(3_000, 200))

    facts = report.to_dict()["distributions"][0]
    assert (len(facts["values"]), facts["left_out"]["values"]) == (30, 170)
    assert len(report.to_html().encode("utf-8")) < MEGABYTE


def test_pictures_for_which_there_is_no_room_are_named(crowded: str) -> None:
    assert "left out to keep this page small: <code>ldiversity report --pictures FOLDER</code>" in crowded
    assert len(crowded.encode("utf-8")) < 200_000


def test_risks_are_drawn_before_anything_else(crowded: str) -> None:
    assert '<img alt="' in crowded.partition("<h3>Risks and thresholds</h3>")[2][:40]


def test_the_table_stays_when_its_picture_goes(crowded: str) -> None:
    gone = crowded.partition("<h3>illness by age</h3>")[2].partition("</figure>")[0]

    assert "The picture is left out" in gone
    assert "The numbers of this picture" in gone


def test_tables_that_are_cut_say_where_the_rest_is() -> None:
    page = ld.user_report(large(500, 30), by="place").to_html()

    assert "The first 120 of 720 rows; <code>ldiversity report --pictures FOLDER</code>" in page


def test_many_risks_are_drawn_in_several_pictures() -> None:
    drawn = np.random.default_rng(1).choice(["a", "b", "c"], (8, 60))
    columns = {f"s{i}": values for i, values in enumerate(drawn.tolist())}
    release = ld.anonymize(pa.table(columns), quasi=[], sensitive=list(columns), method=ld.RandomizedAddition(l=2))

    page = ld.user_report(release).to_html()
    assert [f"<h3>Risks and thresholds ({number} of 2)</h3>" in page for number in (1, 2)] == [True, True]


@pytest.mark.usefixtures("public_data")
def test_a_report_on_adult_is_below_a_megabyte() -> None:
    adult = ld.datasets.adult("all").slice(0, 5_000)  # all occupations, and most countries
    quasi, sensitive = ["age", "sex", "education"], ["occupation", "native-country"]
    table = adult.select([*quasi, *sensitive])
    release = ld.anonymize(table, quasi=quasi, sensitive=sensitive, method=ld.RandomizedAddition(l=3))

    page = ld.holder_report(release, adult, attacks=True).to_html()
    assert len(page.encode("utf-8")) < MEGABYTE
    assert "left out to keep this page small" not in page
