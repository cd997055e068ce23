"""Paper 000: randomized addition of sensitive attributes for l-diversity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ldiversity.reproduction._base import Exhibit, Setting, Study
from ldiversity.reproduction._paper_000_census import Census
from ldiversity.reproduction._paper_000_formulas import estimators_exhibit, formulas_exhibit, simulate

__all__ = ["Paper000"]


class Paper000(Study):
    """Sei and Ohsuga: randomized addition, its expected error, and its comparison with Anatomy and TP."""

    paper: ClassVar[str] = "000"
    title: ClassVar[str] = "Sei, Ohsuga, Randomized Addition of Sensitive Attributes for l-diversity, SECRYPT 2014"

    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        """Rerun the evaluation, in the paper's order."""
        simulated = simulate(setting)
        yield formulas_exhibit(simulated)
        yield estimators_exhibit(simulated)
        census = Census(setting)
        yield from census.dimensions()
        yield census.diversity()
        yield census.selectivity()
