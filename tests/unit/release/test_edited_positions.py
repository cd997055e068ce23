"""Positions that were changed after publishing: what is claimed and estimated is about the values themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ldiversity as ld

PAY = [20, 22, 30, 40, 50, 61, 70, 83] * 5


def publish(folder: Path, method: Any, sensitive: Any = "pay") -> None:
    table = pa.table({"age": list(range(40)), "pay": PAY})
    ld.anonymize(table, quasi="age", sensitive=sensitive, method=method, output=folder)


def edit(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    said = json.loads((folder / "release.json").read_text())
    change(said["sensitive"][0])
    (folder / "release.json").write_text(json.dumps(said))


def stretch(entry: dict[str, Any]) -> None:
    entry["domain"]["positions"] = [100 * place for place in entry["domain"]["positions"]]


@pytest.mark.parametrize("method", [ld.Anatomy(l=2, gap={"pay": 5}), ld.RandomizedAddition(l=2)])
@pytest.mark.parametrize("sensitive", ["pay", ld.Sensitive("pay", width=10)])
def test_positions_that_are_not_those_of_the_values_are_refused(tmp_path: Path, method: Any, sensitive: Any) -> None:
    publish(tmp_path / "release", method, sensitive)
    ld.load_release(tmp_path / "release").verify()
    edit(tmp_path / "release", stretch)

    with pytest.raises(ld.ReleaseFormatError, match="'pay': Domain: positions must be the numbers themselves"):
        ld.load_release(tmp_path / "release")


def test_a_claim_of_a_gap_between_texts_is_refused(tmp_path: Path) -> None:
    publish(tmp_path / "release", ld.Anatomy(l=2, gap={"pay": 5}))
    edit(tmp_path / "release", lambda entry: entry["domain"].pop("positions"))

    with pytest.raises(ld.ReleaseFormatError, match="one that its values can keep"):
        ld.load_release(tmp_path / "release")


def test_numbers_whose_differences_are_not_exact_have_no_gap() -> None:
    table = pa.table({"age": list(range(4)), "pay": [2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3]})

    with pytest.raises(ld.SchemaError, match="'pay' must hold numbers from"):
        ld.anonymize(table, quasi="age", sensitive="pay", method=ld.Anatomy(l=2, gap={"pay": 2}))


def test_every_digit_of_a_gap_is_written() -> None:
    assert "shorter than 1234567 holds" in ld.GapDiversity(2, 1234567).statement("pay")
    assert "shorter than 1234567 has" in ld.GapDiversity(2, 1234567).phrase


@pytest.mark.parametrize("method", [ld.Anatomy(l=2, gap={"disease": 5}), ld.BSGI(l=2, gap={"disease": 5})])
def test_a_column_of_texts_has_no_gap(method: Any) -> None:
    table = pa.table({"age": list(range(8)), "disease": ["flu", "cut", "pox", "gout"] * 2})

    with pytest.raises(ld.SchemaError, match="'disease' must be a column of numbers to have a gap"):
        ld.anonymize(table, quasi="age", sensitive="disease", method=method)
    with pytest.raises(ld.LDiversityError, match="must be numbers or bins of numbers"):
        ld.audit(table, quasi="age", sensitive="disease", models="gap:2:5")
