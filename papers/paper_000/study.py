"""Paper 000: randomized addition of sensitive attributes for l-diversity."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

import ldiversity as ld
from papers.exhibits import Exhibit, Setting, Study, attempt
from papers.paper_000.adult import measure_adult, overview_exhibit
from papers.paper_000.cells import cells_exhibit, measure_cells
from papers.paper_000.census import Census
from papers.paper_000.formulas import estimators_exhibit, formulas_exhibit, simulate, table_exhibit
from papers.paper_000.relationship import Relationship

__all__ = ["Paper000"]


class Paper000(Study):
    """Sei and Ohsuga: randomized addition, its expected error, and its comparison with Anatomy and TP."""

    paper: ClassVar[str] = "000"
    title: ClassVar[str] = "Sei, Ohsuga, Randomized Addition of Sensitive Attributes for l-diversity"

    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        """Rerun the evaluation, in the paper's order. An exhibit whose data are missing says so."""
        simulated = simulate(setting)
        yield formulas_exhibit(simulated)
        yield table_exhibit(simulated)
        yield estimators_exhibit(simulated)
        yield from _census(setting)
        yield _adult("Fig. 5", "Adult(1) to Adult(15)", lambda: overview_exhibit(measure_adult(setting)))
        yield _adult("Fig. 6", "Relationship by sex in Adult", lambda: Relationship(setting).distributions())
        yield _adult("Execution time", "Time to publish Adult", lambda: Relationship(setting).times())
        yield _adult("Small cells", "The error in small cells", lambda: cells_exhibit(measure_cells(setting)))


def _census(setting: Setting) -> Iterator[Exhibit]:
    try:
        census = Census(setting)
    except ld.UnsupportedError as error:
        reason = error

        def refuse() -> Exhibit:
            raise reason

        claim = "The proposal has the smallest error of the compared methods."
        yield attempt(refuse, paper="000", item="Fig. 2 to 4", title="Errors of queries on OCC and SAL", claim=claim)
        return
    yield from census.dimensions()
    yield census.diversity()
    yield census.records()
    yield census.selectivity()


def _adult(item: str, title: str, make: Callable[[], Exhibit]) -> Exhibit:
    claim = "See the paper's evaluation on Adult."
    return attempt(make, paper="000", item=item, title=title, claim=claim)
