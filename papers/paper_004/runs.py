"""Anonymizing and analyzing once: the combinations of Table 12 of paper 004, and ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

import ldiversity as ld
from ldiversity.base.arrays import CodeArray, FloatArray, SetArray
from ldiversity.base.randomness import FreshWords, random_order
from ldiversity.estimation import ESTIMATORS, CellData, MatrixEstimator
from ldiversity.mechanisms import BalancedSelection, RingSelection, SetMechanism, SimpleSelection
from papers.paper_004.data import EDUCATION_TREE

if TYPE_CHECKING:
    from papers.paper_004.data import Survey

__all__ = [
    "COMBINATIONS",
    "LE",
    "OURS",
    "PAPER",
    "Combination",
    "Fitted",
    "Outcomes",
    "draw_sets",
    "fit",
    "prepare",
    "run_le",
    "run_once",
    "selections",
]

Selection = Literal["simple", "ring", "balanced"]

_KINDS: Final[Mapping[str, Any]] = {"simple": SimpleSelection, "ring": RingSelection, "balanced": BalancedSelection}


@dataclass(frozen=True)
class Combination:
    """An anonymizing algorithm with an analysis of its output; no analysis takes published counts as true ones."""

    name: str
    selection: Selection
    estimator: str | None
    words: str


COMBINATIONS: Final = (
    Combination("N-Proposal", "ring", "paper", "duplicate-processing (ring), Eq. 2"),
    Combination("N-Existing", "ring", "existing", "duplicate-processing (ring), Eq. 21"),
    Combination("N-Simple", "ring", "naive", "duplicate-processing (ring), Eq. 20"),
    Combination("N-Anonymity", "ring", None, "duplicate-processing (ring), no analysis"),
    Combination("Ex-Proposal", "simple", "paper", "simple selection, Eq. 2"),
    Combination("Ex-Existing", "simple", "existing", "simple selection, Eq. 21"),
    Combination("Ex-Simple", "simple", "naive", "simple selection, Eq. 20"),
    Combination("Simple, exact Q", "simple", "linear", "simple selection, exact probabilities (ours)"),
    Combination("Balanced, exact Q", "balanced", "linear", "balanced selection, exact probabilities (ours)"),
    Combination("Balanced, MLE", "balanced", "mle", "balanced selection, maximum likelihood (ours)"),
)
"""Table 12 but for LE, then ours."""

OURS: Final = ("Simple, exact Q", "Balanced, exact Q", "Balanced, MLE")
PAPER: Final = tuple(each.name for each in COMBINATIONS if each.name not in OURS)
LE: Final = "LE"
"""(l, e)-diversity by Anatomy, analyzed by counting every record with the shares of its class."""

_ROUNDS: Final = 50


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Estimated counts of one draw.

    Parameters
    ----------
    cells
        Shape (cells, F), by combination.
    whole
        Shape (F,), by combination.
    refused
        Why a combination has none.
    """

    cells: dict[str, FloatArray]
    whole: dict[str, FloatArray]
    refused: dict[str, str]

    def mse(self, survey: Survey, name: str) -> tuple[float, float]:
        """Eq. 18 over the cells by age and gender, and over the values of the whole table."""
        by_cell = float(((self.cells[name] - survey.truth) ** 2).mean()) / survey.n**2
        in_all = float(((self.whole[name] / survey.n - survey.shares) ** 2).mean())
        return by_cell, in_all


def selections(survey: Survey) -> tuple[Selection, ...]:
    """The anonymizing algorithms for a table: rings need an order."""
    return ("ring", "simple", "balanced") if survey.domain.ordered else ("simple", "balanced")


def fit(survey: Survey, selection: Selection, l: int, d: int) -> SetMechanism | str:
    """Fit a mechanism, or say in one sentence why there is none."""
    try:
        mechanism: SetMechanism = _KINDS[selection].fit(survey.domain, survey.distance, l, d)
    except ld.InfeasibleError as error:
        return error.message
    except ld.LDiversityError as error:
        return str(error).split("\n", maxsplit=1)[0]
    return mechanism


def draw_sets(mechanism: SetMechanism, codes: CodeArray, words: FreshWords) -> SetArray:
    """Draw a set for every record, again where its words did not suffice."""
    sets, short = mechanism.sample(codes, words.draw(len(codes), mechanism.words_per_record))
    for round_ in range(_ROUNDS):
        rows = np.flatnonzero(short)
        if not len(rows):
            return sets
        again, still = mechanism.sample(codes[rows], words.draw(len(rows), mechanism.words_per_record << round_))
        sets[rows] = again
        short = np.zeros(len(codes), dtype=np.bool_)
        short[rows[still]] = True
    raise ld.InternalError("papers", "a record found no words for its set.")


@dataclass(frozen=True, eq=False)
class Fitted:
    """A mechanism with the matrices of all analyses that multiply published counts."""

    mechanism: SetMechanism

    @cached_property
    def matrices(self) -> dict[str, FloatArray]:
        """By estimator; without those that would need the inverse of a singular matrix."""
        made = {name: kind() for name, kind in ESTIMATORS.items()}
        found = {name: each for name, each in made.items() if isinstance(each, MatrixEstimator)}
        return {name: each.matrix(self.mechanism) for name, each in found.items() if each.supports(self.mechanism)}

    def analyze(
        self, cell_of: NDArray[np.int64], n_cells: int, sets: SetArray, estimator: str | None
    ) -> FloatArray | None:
        """Estimated counts by cell; None where the analysis is not possible."""
        size = self.mechanism.n_values
        counts = np.bincount((cell_of[:, None] * size + sets).ravel(), minlength=n_cells * size)
        counts = counts.reshape(n_cells, size).astype(np.int64)
        if estimator is None:
            return counts.astype(np.float64)
        if estimator != "mle":
            matrix = self.matrices.get(estimator)
            return None if matrix is None else np.asarray(counts @ matrix.T)
        records = np.bincount(cell_of, minlength=n_cells).astype(np.int64)
        flat = np.full(size, 1.0 / size)
        cells = CellData((self.mechanism,), records, counts, cell_of, (sets,), lambda: flat)
        return ESTIMATORS[estimator]().solve(cells).counts


def prepare(survey: Survey, l: int, d: int) -> dict[Selection, Fitted | str]:
    """Fit every anonymizing algorithm that suits the table, or say why there is none."""
    fitted = {selection: fit(survey, selection, l, d) for selection in selections(survey)}
    return {name: each if isinstance(each, str) else Fitted(each) for name, each in fitted.items()}


def run_once(
    survey: Survey, fitted: Mapping[Selection, Fitted | str], words: FreshWords, wanted: Iterable[str]
) -> Outcomes:
    """Draw one release with every mechanism, and analyze it in every wanted way."""
    found = Outcomes({}, {}, {})
    chosen = [each for each in COMBINATIONS if each.name in set(wanted)]
    for selection, own in fitted.items():
        mine = [each for each in chosen if each.selection == selection]
        if isinstance(own, str):
            found.refused.update({each.name: own for each in mine})
        elif mine:
            sets = draw_sets(own.mechanism, survey.codes, words)
            for each in mine:
                _analyze(survey, own, sets, each, found)
    return found


def _analyze(survey: Survey, fitted: Fitted, sets: SetArray, each: Combination, found: Outcomes) -> None:
    by_cell = fitted.analyze(survey.cell_of, len(survey.cells), sets, each.estimator)
    whole = fitted.analyze(np.zeros(survey.n, dtype=np.int64), 1, sets, each.estimator)
    if by_cell is None or whole is None:
        found.refused[each.name] = "its matrix is singular"
    else:
        found.cells[each.name], found.whole[each.name] = by_cell, whole[0]


def run_le(survey: Survey, l: int, d: int, words: FreshWords) -> tuple[Outcomes, int]:
    """Group by (l, e)-Anatomy with e = 5 - d, and count every record with the shares of its class.

    Also gives how many records could not be published: with education, HS-grad and its neighbors are too many.
    """
    from ldiversity.methods import CodedTable, GroupingRun, SensitiveColumn

    order = random_order(survey.n, words)
    column = SensitiveColumn(survey.name, survey.codes[order], survey.domain)
    method = ld.SemanticAnatomy(l=l, e=EDUCATION_TREE.depth - d, tree=EDUCATION_TREE, overflow="suppress")
    (partition,) = method.group(CodedTable((), (column,)), GroupingRun()).partitions
    kept = partition.class_of >= 0
    classes, codes, cell_of = partition.class_of[kept], column.codes[kept], survey.cell_of[order][kept]
    shares = np.zeros((partition.n_classes, survey.n_values))
    np.add.at(shares, (classes, codes), 1.0)
    shares /= partition.sizes[:, None]
    cells = np.zeros((len(survey.cells), survey.n_values))
    np.add.at(cells, cell_of, shares[classes])
    return Outcomes({LE: cells}, {LE: cells.sum(axis=0)}, {}), partition.suppressed
