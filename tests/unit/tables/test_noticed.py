"""What is advised about texts works when it is followed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from ldiversity.tables import notice_texts, open_source


@pytest.mark.parametrize("first", ["01067", "+1", "-07"])
def test_numbers_that_stay_texts_are_not_to_be_corrected(first: str, tmp_path: Path) -> None:
    texts = [first, *(str(number) for number in range(10000, 10060))]
    file = tmp_path / "corrected.csv"
    file.write_text("\n".join(["zip", *texts]), encoding="utf-8")

    assert open_source(file).columns == {"zip": pa.string()}
    assert notice_texts(pa.array([*texts, "NA", "-"])) is None


def test_numbers_with_a_few_words_are_to_be_corrected() -> None:
    texts = ["0", "0.5", "-3", *(str(number) for number in range(100, 160))]

    found = notice_texts(pa.array([*texts, "NA", "-"]))

    assert found is not None
    assert "correct the others" in str(found.text)
