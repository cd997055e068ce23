"""A report stays below a megabyte, however large the table and its domains are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.report import _report_html

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


def test_large_domains_are_cut_to_the_most_frequent_values() -> None:
    report = ld.user_report(large(3_000, 200))

    facts = report.to_dict()["distributions"][0]
    assert (len(facts["values"]), facts["left_out"]["values"]) == (30, 170)
    assert len(report.to_html().encode("utf-8")) < MEGABYTE


def test_pictures_for_which_there_is_no_room_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_report_html, "_MOST_BYTES", 100_000)

    page = ld.user_report(large(500, 40)).to_html()
    assert "left out to keep this page small" in page
    assert len(page.encode("utf-8")) < 200_000


@pytest.mark.usefixtures("public_data")
def test_a_report_on_adult_is_below_a_megabyte() -> None:
    adult = ld.datasets.adult("all")
    quasi, sensitive = ["age", "sex", "education"], ["occupation", "native-country"]
    table = adult.select([*quasi, *sensitive])
    release = ld.anonymize(table, quasi=quasi, sensitive=sensitive, method=ld.RandomizedAddition(l=3))

    page = ld.holder_report(release, adult, attacks=True).to_html()
    assert len(page.encode("utf-8")) < MEGABYTE
    assert "left out to keep this page small" not in page
