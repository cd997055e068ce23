"""What is advised about texts works when it is followed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from ldiversity.tables import notice_texts, open_source, refuses_dates


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


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["31.01.2020", "2020-02-01", "5/6/2021", "2020-03-04 10:00"], "dmy"),
        (["1/31/2020", "2020-02-01", "2020-02-03", "2020-02-04"], "mdy"),
        (["2020/01/31", "2020-02-01", "2020.03.04"], "ymd"),
        (["31.12.20", "2020-02-01", "1.2.21"], "%d.%m.%y"),
        ([*(f"2020-01-{day:02}" for day in range(1, 29)), "31.01.2020"], "dmy"),
    ],
)
def test_dates_in_several_forms_that_one_option_reads_are_advised(texts: list[str], form: str) -> None:
    found = notice_texts(pa.array(texts))

    assert found is not None
    assert (found.option, found.value) == ("date_format", form)
    table = pa.table({"seen": texts})
    assert pa.types.is_temporal(open_source(table, read={"date_format": form}).columns["seen"])


@pytest.mark.parametrize("wrong", ["unbekannt", "30.02.2020", "2020-02-30"])
def test_no_form_is_advised_that_would_be_refused(wrong: str) -> None:
    texts = [*(f"{day:02}.01.2020" for day in range(1, 29)), wrong]

    found = notice_texts(pa.array(texts))

    assert found is not None
    assert (found.option, found.value) == ("date_format", None)
    assert "28 of 29 different ones: correct the others" in str(found.text)
    assert wrong not in str(found.text)
    assert refuses_dates(pa.array(texts), "dmy")
    assert not refuses_dates(pa.array(texts[:-1]), "dmy")


def test_iso_dates_with_a_few_words_are_to_be_corrected() -> None:
    texts = [f"2020-01-{day:02}" for day in range(1, 29)]

    found = notice_texts(pa.array([*texts, "unknown"]))

    assert found is not None
    assert (found.option, found.value) == ("date_format", None)
    assert "28 of 29 different ones: correct the others" in str(found.text)
    assert notice_texts(pa.array(texts)) is None
