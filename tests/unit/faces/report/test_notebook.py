"""What notebooks show: the report's pictures, every text escaped, nothing but HTML."""

from __future__ import annotations

import base64
import re
from html import escape
from pathlib import Path

import pyarrow as pa
import pytest

import ldiversity as ld

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def people() -> pa.Table:
    values = [HOSTILE, "$x_1$", "=1+1", "flu"] * 30
    return pa.table({f"sex{HOSTILE}": ["F", "M"] * 60, "disease": values})


@pytest.fixture(scope="module", params=["sets", "generalized", "bucketized"])
def release(people: pa.Table, request: pytest.FixtureRequest) -> ld.Release:
    methods = {"sets": ld.RandomizedAddition(l=2), "generalized": ld.Mondrian(l=2), "bucketized": ld.Anatomy(l=2)}
    quasi = [people.column_names[0]]
    return ld.anonymize(people, quasi=quasi, sensitive="disease", method=methods[request.param])


def pictures(html: str) -> list[str]:
    found = re.findall(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)", html)
    return [base64.b64decode(one).decode("utf-8") for one in found]


def test_an_estimate_is_shown_as_picture_and_table(release: ld.Release) -> None:
    html = ld.estimate(release)._repr_html_()

    assert len(pictures(html)) == 1
    assert "<td>flu</td>" in html


def test_attacks_are_shown_with_their_picture(release: ld.Release, people: pa.Table) -> None:
    html = ld.attack(release, people, attacks="skewness")._repr_html_()

    assert len(pictures(html)) == 1
    assert "skewness on" in html


def test_a_release_is_shown_with_its_claim_and_what_is_not_protected(release: ld.Release) -> None:
    html = release._repr_html_()

    assert escape(release.claims[0].statement) in html
    assert "What is not protected" in html
    assert "120 records" in html


def test_an_audit_is_shown_with_its_pictures(release: ld.Release) -> None:
    html = ld.audit(release)._repr_html_()

    assert len(pictures(html)) == 2
    assert "First:" in html


def test_an_audit_without_quasi_identifiers_has_no_classes_to_draw(people: pa.Table) -> None:
    table = people.select(["disease"])

    assert len(pictures(ld.audit(table, quasi=[], sensitive="disease")._repr_html_())) == 1


def test_the_holder_is_warned_in_red_in_notebooks(release: ld.Release, people: pa.Table) -> None:
    html = ld.holder_report(release, people, by=())._repr_html_()

    assert re.search(r'<p [^>]*style="[^"]*color:#a40000[^"]*">Do not hand out', html)


def test_names_and_cells_are_escaped(release: ld.Release, people: pa.Table) -> None:
    by = people.column_names[0]
    made = [
        release._repr_html_(),
        ld.estimate(release, by=by)._repr_html_(),
        ld.attack(release, people, attacks="skewness")._repr_html_(),
        ld.audit(release)._repr_html_(),
    ]

    assert [html for html in made if "<script" in html] == []
    assert [svg for html in made for svg in pictures(html) if "<script" in svg] == []


def test_an_estimate_draws_itself(release: ld.Release, tmp_path: Path) -> None:
    ld.estimate(release).plot(tmp_path / "e.svg")

    assert (tmp_path / "e.svg").read_text().startswith("<?xml")


def test_estimates_of_no_records_are_shown(people: pa.Table) -> None:
    release = ld.anonymize(people.slice(0, 8), quasi=[], sensitive="disease", method=ld.RandomizedAddition(l=2))

    assert "8 records" in ld.estimate(release)._repr_html_()


def test_many_rows_are_cut_with_a_word(people: pa.Table) -> None:
    many = pa.table({"ward": [str(i // 4) for i in range(120)], "disease": people["disease"]})
    release = ld.anonymize(many, quasi=["ward"], sensitive="disease", method=ld.RandomizedAddition(l=2))

    assert "The first 60 of 120 rows" in ld.estimate(release, by="ward")._repr_html_()
