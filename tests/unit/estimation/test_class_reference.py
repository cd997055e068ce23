"""The fast way from classes to cells, against counting record by record and value by value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.estimation import bins, estimate
from ldiversity.models import count_classes
from ldiversity.release import ClassRelease, Form

N_CLASSES, LOW, HIGH, LABELS = 40, 10, 60, ("a", "b", "c", "d")


@pytest.fixture(params=[1, 2, 3])
def seed(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def generalized(generalize: Any, seed: int) -> ClassRelease:
    rng = np.random.default_rng(seed)
    class_of = np.concatenate([np.arange(N_CLASSES), rng.integers(0, N_CLASSES, 160)])
    low = rng.integers(LOW, HIGH, N_CLASSES)
    high = np.minimum(low + rng.integers(0, 25, N_CLASSES), HIGH)
    lists = [sorted(rng.choice(LABELS, rng.integers(1, 5), replace=False).tolist()) for _ in range(N_CLASSES)]
    ends = [{"low": int(a), "high": int(b)} for a, b in zip(low, high, strict=True)]
    return generalize(  # type: ignore[no-any-return]
        {"age": pa.array(ends), "zip": pa.array(lists)},
        class_of,
        {"why": rng.integers(0, 5, 200), "how": rng.integers(0, 3, 200)},
        columns=pa.table({"sex": rng.choice(["F", "M"], 200)}),
        kinds={"age": "int64", "zip": "string"},
        forms={"age": Form("interval", low=LOW, high=HIGH), "zip": Form("values", labels=LABELS)},
        n_values={"why": 5, "how": 3},
    )


def counted(release: ClassRelease, names: list[str]) -> dict[Any, Any]:
    """Per cell: records, counts, least and greatest, one class and one value after the other."""
    regions, sex = release.regions().to_pylist(), release.columns(["sex"])["sex"].to_pylist()
    class_of = release.class_of("why")
    tables = [release.classes(name).dense() for name in names]
    cells: dict[Any, Any] = {}
    for k, region in enumerate(regions):
        ages = range(region["age"]["low"], region["age"]["high"] + 1)
        s = int((class_of == k).sum())
        for gender in ("F", "M"):
            a = sum(class_of[row] == k and sex[row] == gender for row in range(len(sex)))
            places = [(age // 20, place) for age in ages for place in region["zip"] if age >= 15]
            for cell in sorted(set(places)) if a else ():
                w = places.count(cell) / (len(ages) * len(region["zip"]))
                sums = cells.setdefault((gender, *cell), np.zeros((4, *[table.shape[1] for table in tables])))
                sums[0] += a * w
                for code in np.ndindex(*sums.shape[1:]):
                    m = [table[k, v] for table, v in zip(tables, code, strict=True)]
                    mean = a * w * np.prod([count / s for count in m])
                    sums[(1, *code)] += mean
                    sums[(2, *code)] += max(0, a - sum(s - count for count in m)) if w == 1 else 0
                    sums[(3, *code)] += min(a, *m)
    return cells


@pytest.mark.parametrize("names", [["why"], ["why", "how"]])
def test_classes_spread_as_if_counted_one_by_one(generalized: ClassRelease, names: list[str]) -> None:
    result = estimate(generalized, ["sex", bins("age", width=20), "zip"], sensitive=names, where="age >= 15")
    cells = counted(generalized, names)
    expected = np.array([cells[key].reshape(4, -1) for key in sorted(cells)])

    assert result.n_cells == len(cells)
    np.testing.assert_allclose(result.records, expected[:, 0, 0])
    np.testing.assert_allclose(result.count, expected[:, 1], atol=1e-12)
    np.testing.assert_allclose(result.low, expected[:, 2])
    np.testing.assert_allclose(result.high, expected[:, 3])


def test_buckets_are_counted_as_if_record_by_record(bucketize: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    class_of = np.concatenate([np.arange(N_CLASSES), rng.integers(0, N_CLASSES, 160)])
    codes, cells = rng.integers(0, 5, 200), rng.integers(0, 7, 200)
    release = bucketize({"g": cells}, class_of, {"why": codes}, n_values={"why": 5})
    m = count_classes(class_of, codes.astype(np.int32), N_CLASSES, release.domain("why")).dense()
    shares = m / m.sum(axis=1, keepdims=True)

    result = estimate(release, "g", estimator="classes")

    expected = [shares[class_of[cells == cell]].sum(axis=0) for cell in range(7)]
    np.testing.assert_allclose(result.count, expected)


def test_the_order_of_columns_is_the_order_of_cells(generalized: ClassRelease) -> None:
    result = estimate(generalized, ["zip", "sex"], sensitive="why")

    rows = list(zip(*(result.labels.column(name).to_pylist() for name in ("zip", "sex")), strict=True))
    assert rows == sorted(rows)


@pytest.mark.parametrize("by", [None, "zip", "sex", "age", ["age", "zip"]])
def test_every_division_adds_up_to_the_whole(generalized: ClassRelease, by: Any) -> None:
    result = estimate(generalized, by, sensitive="why")
    whole = estimate(generalized, sensitive="why")

    np.testing.assert_allclose(result.count.sum(axis=0), whole.count[0])
    assert result.n_records == 200
