"""How well columns tell people apart, against slow counts by hand, and what texts look like."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.tables import SampledRows, notice_texts, open_source, separate, smallest_combinations

RNG = np.random.default_rng(7)
TABLE = pa.table(
    {
        "sex": RNG.choice(["f", "m"], 60).tolist(),
        "zip": [None if code == 0 else f"{code:05}" for code in RNG.integers(0, 9, 60).tolist()],
        "age": RNG.integers(20, 60, 60).tolist(),
        "born": pa.array(RNG.integers(0, 20_000, 60).tolist(), pa.int32()).cast(pa.date32()),
    }
)


def by_hand(names: tuple[str, ...]) -> tuple[float, float, float]:
    rows = list(zip(*(TABLE[name].to_pylist() for name in names), strict=True))
    counts = Counter(rows)
    different = sum(first != second for first, second in combinations(rows, 2))
    n = len(rows)
    return sum(count == 1 for count in counts.values()) / n, len(counts) / n, different / (n * (n - 1) / 2)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_every_combination_is_counted_as_by_hand(size: int) -> None:
    rows = SampledRows.of(open_source(TABLE), TABLE.column_names, TABLE.num_rows)

    assert rows.whole
    for names in combinations(TABLE.column_names, size):
        found = separate(rows, names)
        assert (found.unique, found.distinction, found.separation) == pytest.approx(by_hand(names))


def test_the_smallest_combinations_that_single_out_most_people_are_found() -> None:
    rows = SampledRows.of(open_source(TABLE), TABLE.column_names, TABLE.num_rows)
    known = [separate(rows, [name]) for name in ("sex", "zip", "age")]

    found = smallest_combinations(rows, known)

    pairs = [names for names in combinations(("sex", "zip", "age"), 2) if by_hand(names)[0] > 0.5]
    assert pairs, "the table is meant to have such a pair"
    assert sorted(one.columns for one in found) == sorted(pairs)


def test_without_such_a_combination_the_best_of_each_size_is_told() -> None:
    table = pa.table({"a": [1, 1, 1, 1, 2], "b": [1, 1, 2, 2, 2]})
    rows = SampledRows.of(open_source(table), ["a", "b"], 5)

    found = smallest_combinations(rows, [separate(rows, ["a"]), separate(rows, ["b"])])

    assert [(one.columns, one.unique) for one in found] == [(("a",), 0.2), (("a", "b"), 0.2)]


def test_a_large_table_is_sampled_always_in_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldiversity.tables._separation._MOST_ROWS", 500)
    table = pa.table({"n": np.arange(5000), "one": np.ones(5000, dtype=int)})

    first, again = (SampledRows.of(open_source(table), ["n", "one"], 5000) for _ in range(2))

    assert (first.n_rows, first.whole) == (500, False)
    assert first.cells["n"][0].equals(again.cells["n"][0])
    drawn = first.cells["n"][0].to_numpy()
    # The mean of 500 of the numbers below 5000 has a standard error of 61; 6 of them are exceeded once in 10**8 runs.
    assert abs(drawn.mean() - 2500) < 6 * 61


@pytest.mark.parametrize(
    ("texts", "option", "value"),
    [
        (["31.12.2020", "1.2.2021", "5.6.2022"], "date_format", "dmy"),
        (["12/31/2020", "1/2/2021", "5/6/2022"], "date_format", "mdy"),
        (["12-31-2020 10:30", "1-2-2021", "5-6-2022"], "date_format", "mdy"),
        (["31.12.20", "01.02.21", "05.06.22"], "date_format", "%d.%m.%y"),
        (["2020/12/31", "2021/1/2", "2022/5/6"], "date_format", "ymd"),
        (["1/2/2020", "3/4/2021", "5/6/2022"], "date_format", None),
        (["1,5", "2", "-3,25"], "decimal", ","),
    ],
)
def test_dates_and_decimal_commas_are_noticed(texts: list[str], option: str, value: str | None) -> None:
    found = notice_texts(pa.array([*texts, None]))

    assert found is not None
    assert (found.option, found.value) == (option, value)
    assert not any(text in found.text for text in texts if len(text) > 1)


@pytest.mark.parametrize("mark", [".", ","])
@pytest.mark.parametrize("other", ["n/a", "unknown", "12 kg"])
def test_numbers_with_a_few_words_among_them_are_noticed(mark: str, other: str) -> None:
    numbers = [f"{one}{mark}5" for one in range(20)]

    found = notice_texts(pa.array([*numbers, other]))

    assert found is not None
    assert (found.option, found.value) == (None, None)
    assert "numbers, 20 of 21 different ones:" in found.text
    assert other not in found.text
    assert notice_texts(pa.array([*numbers[:8], other])) is None  # too many words


@pytest.mark.parametrize(
    "texts",
    [
        ["flu", "cold", "cut"],
        ["01.02", "03.04", "05.06"],
        ["1", "2", "3"],
        ["31.31.2020", "1.2.2021", "5.16.2022"],
        ["1,5", "n/a", "2,5"],
        ["2020-12-31", "2021-01-02", "2022-05-06"],
        [],
        ["31.12.2020"],
    ],
)
def test_other_texts_are_left_alone(texts: list[Any]) -> None:
    assert notice_texts(pa.array(texts, pa.string())) is None
