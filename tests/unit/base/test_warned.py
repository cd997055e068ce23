"""A warning names the line that called the package, however deep it arises."""

from __future__ import annotations

from pathlib import Path

import pytest

import ldiversity as ld
from ldiversity.datasets import patients


@pytest.mark.parametrize("method", [ld.RandomizedAddition(l=2), ld.Anatomy(l=2)], ids=["sets", "classes"])
def test_a_warning_names_the_line_of_the_caller(method: ld.RandomizedAddition | ld.Anatomy, tmp_path: Path) -> None:
    def publish() -> None:
        ld.anonymize(
            patients(200, seed=1), sensitive="disease", method=method, output=tmp_path / "release", overwrite=True
        )

    publish()
    with pytest.warns(ld.LDiversityWarning, match="The release that is replaced") as seen:
        publish()

    assert {warning.filename for warning in seen} == {__file__}
