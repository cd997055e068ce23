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


@pytest.mark.parametrize(
    "texts", [["40,490", "15,510", "950"], ["1,000", "2,500", "3,750"], ["-1,250", "999", "12,000"]]
)
def test_commas_before_three_digits_may_mark_thousands(texts: list[str]) -> None:
    found = notice_texts(pa.array(texts))

    assert found is not None
    assert found.value is None  # no command advises to read 40,490 as 40.49
    assert "decimals or thousands" in str(found.text)


@pytest.mark.parametrize("texts", [["1,234,567", "40,490", "12"], ["1,234.50", "40,490", "12.5"]])
def test_several_commas_or_a_point_behind_one_mark_thousands(texts: list[str]) -> None:
    found = notice_texts(pa.array(texts))

    assert found is not None
    assert found.option is None
    assert "commas between thousands" in str(found.text)


@pytest.mark.parametrize("texts", [["0,250", "1,500", "2,125"], ["1,5", "2,250", "3"], ["1500", "2,250", "3,125"]])
def test_commas_that_cannot_mark_thousands_mark_decimals(texts: list[str]) -> None:
    found = notice_texts(pa.array(texts))

    assert found is not None
    assert (found.option, found.value) == ("decimal", ",")
