"""An original whose cells are not of the published type is refused in one sentence that shows no cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pytest

import ldiversity as ld

MARK: Final = "sEcRet"
NUMBER: Final = 987654321.5
VALUES: Final = ["a", "b", "c", "d"]

PUBLISHED: Final[dict[str, Any]] = {
    "integer": [1, 2, 3, 4],
    "number": [1.5, 2.0, 3.0, 4.0],
    "date": pa.array([1, 2, 3, 4], pa.date32()),
    "text": ["w", "x", "y", "z"],
    "boolean": [True, False, True, False],
}
FOREIGN: Final[dict[str, Any]] = {
    "text": [MARK, "2", "3", "4"],
    "number": [NUMBER, 2.0, 3.0, 4.0],
    "instant": pa.array([987654321, 2, 3, 4], pa.timestamp("s")),
}
METHODS: Final = [ld.BSGI(l=2), ld.Anatomy(l=2), ld.RandomizedAddition(l=2)]
READERS: Final[dict[str, Callable[[ld.Release, pa.Table], object]]] = {
    "ncp": lambda release, table: ld.ncp(table, release),
    "workload": lambda release, table: ld.QueryWorkload.random(table, ["q"], "s", qd=1, n_queries=2).estimates(release),
    "distributions": lambda release, table: ld.kl_divergence(table, release, by="q"),
    "attack": ld.attack,
    "holder_report": ld.holder_report,
}


def refusal_of(reader: Callable[[ld.Release, pa.Table], object], release: ld.Release, table: pa.Table) -> str:
    """What is said against a table; nothing where it can be read. Any exception that is not ours ends the test."""
    try:
        reader(release, table)
    except ld.LDiversityError as refusal:
        return f"{refusal} {refusal.__cause__}"
    return ""


@pytest.mark.filterwarnings("ignore::ldiversity.errors.LDiversityWarning")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("foreign", FOREIGN)
@pytest.mark.parametrize("published", PUBLISHED)
def test_no_message_shows_a_cell(published: str, foreign: str, reader: str) -> None:
    table = pa.table({"q": PUBLISHED[published], "s": VALUES})
    other = pa.table({"q": FOREIGN[foreign], "s": VALUES})

    for method in METHODS:
        release = ld.anonymize(table, quasi="q", sensitive="s", method=method)
        said = refusal_of(READERS[reader], release, other)
        assert MARK not in said
        assert str(int(NUMBER)) not in said
