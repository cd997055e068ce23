"""What classes must keep holds after records have changed places, for every combination that BSGI can be asked."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from ldiversity.methods import BSGI, CodedTable, GroupingRun, NumberColumn, Partition, SensitiveColumn
from ldiversity.methods import _bsgi_anneal as annealing
from ldiversity.schema import Domain

N = 240
RUN = GroupingRun(workers=2)
LEVELS: list[Any] = [3, {"pay": 3, "debt": 3}, {"pay": 2, "debt": 4}]
GAPS: list[Any] = [None, {"pay": 25}, {"pay": 25, "debt": 15}]
ASKED = [
    pytest.param(columns, person, level, gap, id=f"{columns}-{person}-{level}-{gap}")
    for columns, person, level, gap in product((("pay",), ("pay", "debt")), (None, 190), LEVELS, GAPS)
    if (len(columns) == 2 or not isinstance(level, dict)) and (len(columns) == 2 or gap is None or len(gap) == 1)
]


def table(columns: tuple[str, ...], n_people: int | None) -> CodedTable:
    rng = np.random.default_rng(3)
    values = tuple(10 * i for i in range(16))
    domain = Domain(values, ordered=True, positions=tuple(map(float, values)))
    quasi = (
        NumberColumn("age", rng.integers(0, 80, N), 0, 80),
        NumberColumn("height", rng.integers(0, 80, N), 0, 80),
    )
    sensitive = tuple(SensitiveColumn(name, rng.permutation(N).astype(np.int32) % 16, domain) for name in columns)
    return CodedTable(quasi, sensitive, None if n_people is None else rng.permutation(np.arange(N) % n_people))


def broken(method: BSGI, given: CodedTable, partition: Partition) -> list[str]:
    """The promises that some class does not keep, recounted from its rows."""
    kept = partition.class_of >= 0
    found = []
    for column in given.sensitive:
        counts = np.zeros((partition.n_classes, len(column.domain)), dtype=np.int64)
        np.add.at(counts, (partition.class_of[kept], column.codes[kept]), 1)
        found += [
            rule.statement(column.name)
            for rule in method.promises_of(column.name, column.domain)
            if not rule.holds(counts, column.population).all()
        ]
    if given.person is not None:
        pairs = set(zip(partition.class_of[kept].tolist(), given.person[kept].tolist(), strict=True))
        found += ["people"] * int(len(pairs) < np.count_nonzero(kept))
    return found


def spread(given: CodedTable, partition: Partition) -> float:
    rows = [np.flatnonzero(partition.class_of == g) for g in range(partition.n_classes)]
    return float(sum(len(own) * np.ptp(column.values[own]) for own in rows for column in given.numbers))


@pytest.mark.parametrize(("columns", "person", "level", "gap"), ASKED)
def test_every_claim_holds_after_annealing(
    columns: tuple[str, ...], person: int | None, level: Any, gap: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(annealing, "_BLOCK", 100)
    given = table(columns, person)

    before, after = (BSGI(level, effort=effort, gap=gap).group(given, RUN).partitions[0] for effort in (0, 20))

    assert broken(BSGI(level, gap=gap), given, after) == []
    assert after.suppressed == before.suppressed
    assert after.class_of.tolist() != before.class_of.tolist()
    # Cuts may leave nothing to win.
    assert spread(given, after) <= spread(given, before) - (gap is None)


@pytest.mark.parametrize("gap", [None, {"pay": 25}])
def test_a_planted_swap_is_found(gap: Any) -> None:
    given = table(("pay",), 190)
    method = BSGI(3, gap=gap)
    partition = method.group(given, RUN).partitions[0]
    class_of = partition.class_of.copy()
    codes, people = given.sensitive[0].codes, given.person
    assert people is not None
    twin = next(row for row in range(1, N) if codes[row] == codes[0] and class_of[row] != class_of[0])
    partner = next(row for row in range(1, N) if class_of[row] == class_of[0])

    class_of[[twin, partner]] = class_of[[partner, twin]]

    assert broken(method, given, partition) == []
    assert broken(method, given, Partition(class_of, partition.n_classes))
