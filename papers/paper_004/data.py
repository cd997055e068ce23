"""The tables of paper 004: made-up incomes, and education and fnlwgt of UCI Adult."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import ldiversity as ld
from ldiversity.base.arrays import CodeArray
from ldiversity.datasets import income, income_domain, patients, patients_tree
from papers.exhibits import Setting
from papers.tables import ADULT_FILE, read_table

__all__ = [
    "EDUCATION_TREE",
    "FNLWGT_WIDTH",
    "Survey",
    "education_survey",
    "fnlwgt_survey",
    "income_survey",
    "patients_survey",
    "read_adult",
    "stand_in",
]

EDUCATION_TREE: Final = ld.Hierarchy.from_rows(
    [
        ("Preschool", "Preschool only", "Preschool years", "Without post-secondary", "Any"),
        ("1st-4th", "Elementary", "Elementary years", "Without post-secondary", "Any"),
        ("5th-6th", "Elementary", "Elementary years", "Without post-secondary", "Any"),
        ("7th-8th", "Elementary", "Elementary years", "Without post-secondary", "Any"),
        ("9th", "Junior secondary", "Secondary", "Without post-secondary", "Any"),
        ("10th", "Junior secondary", "Secondary", "Without post-secondary", "Any"),
        ("11th", "Senior secondary", "Secondary", "Without post-secondary", "Any"),
        ("12th", "Senior secondary", "Secondary", "Without post-secondary", "Any"),
        ("HS-grad", "Senior secondary", "Secondary", "Without post-secondary", "Any"),
        ("Some-college", "Some college", "College", "Post-secondary", "Any"),
        ("Assoc-voc", "Associate", "Associate degree", "Post-secondary", "Any"),
        ("Assoc-acdm", "Associate", "Associate degree", "Post-secondary", "Any"),
        ("Bachelors", "Bachelor", "University", "Post-secondary", "Any"),
        ("Prof-school", "Professional", "University", "Post-secondary", "Any"),
        ("Masters", "Post-graduate", "University", "Post-secondary", "Any"),
        ("Doctorate", "Post-graduate", "University", "Post-secondary", "Any"),
    ]
)
"""The tree of Fig. 7 as section 6.3 describes it: from Doctorate, Masters is at distance 1, Bachelors at 2."""

FNLWGT_WIDTH: Final = 10_000
"""Bins of this width give the paper's 148 values of fnlwgt."""

_MADE_UP: Final = {
    "income": "The paper's incomes are not public; a made-up table of the same size and bands stands in.",
    "patients": "The paper's patients are not public, and its part of the ICD is not readable; made-up patients stand "
    "in, with a tree of diseases like the ICD's: block, chapter, root.",
}
"""Tables that stand in for others, and what to say of them."""

_COLUMNS: Final = ("age", "sex", "education", "fnlwgt", "occupation", "workclass", "marital-status", "race",
                   "relationship", "native-country", "hours-per-week", "income")  # fmt: skip
_UNKNOWN: Final = "?"


@dataclass(frozen=True, eq=False)
class Survey:
    """A table with one sensitive attribute, divided into cells by age and gender.

    Parameters
    ----------
    name
        What it is called in titles.
    domain, distance
        The sensitive values, and how unlike they are.
    codes
        Shape (n,): the true value of each record.
    cell_of
        Shape (n,): the cell of each record.
    cells
        Labels of the cells: age and gender.
    """

    name: str
    domain: ld.Domain
    distance: ld.Distance
    codes: CodeArray
    cell_of: NDArray[np.int64]
    cells: tuple[tuple[str, str], ...]

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.codes)

    @property
    def n_values(self) -> int:
        """F."""
        return len(self.domain)

    @cached_property
    def truth(self) -> NDArray[np.int64]:
        """Shape (cells, F): how many records of a cell have each value."""
        joint = np.bincount(self.cell_of * self.n_values + self.codes, minlength=len(self.cells) * self.n_values)
        return joint.reshape(len(self.cells), self.n_values).astype(np.int64)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Shape (F,): the share of each value in the whole table."""
        shares: NDArray[np.float64] = self.truth.sum(axis=0) / self.n
        return shares


def stand_in(tables: Sequence[str]) -> str:
    """Say which of the tables stand in for the paper's; nothing where none does.

    Examples
    --------
    >>> stand_in(["education"])
    ''
    >>> stand_in(["income", "fnlwgt"]).partition(". ")[2]
    "The table of fnlwgt is the paper's."
    """
    made_up = [text for name, text in _MADE_UP.items() if name in tables]
    others = [name for name in tables if name not in _MADE_UP]
    if made_up and others:
        made_up.append(f"The table of {' and '.join(others)} is the paper's.")
    return " ".join(made_up)


def income_survey(n: int, seed: int) -> Survey:
    """Make up `n` incomes in the paper's 14 bands; its own table is not public."""
    table = income(n, seed)
    return _survey("income", income_domain(), ld.OrderedDistance(), table, table["income"])


def patients_survey(n: int, seed: int) -> Survey:
    """Make up `n` patients with diseases of a tree like that of the ICD."""
    table, tree = patients(n, seed), patients_tree()
    return _survey("patients", ld.Domain(tree.leaves), ld.TreeDistance(tree), table, table["disease"])


def education_survey(adult: pa.Table) -> Survey:
    """Take education as sensitive, with the distances of its tree."""
    domain = ld.Domain(EDUCATION_TREE.leaves)
    return _survey("education", domain, ld.TreeDistance(EDUCATION_TREE), adult, adult["education"])


def fnlwgt_survey(adult: pa.Table) -> Survey:
    """Take fnlwgt as sensitive, in bins of 10,000."""
    bins = np.asarray(adult["fnlwgt"]) // FNLWGT_WIDTH
    first, last = int(bins.min()), int(bins.max())
    domain = ld.Domain(tuple(range(first * FNLWGT_WIDTH, (last + 1) * FNLWGT_WIDTH, FNLWGT_WIDTH)), ordered=True)
    return _survey("fnlwgt", domain, ld.OrderedDistance(), adult, pa.chunked_array([pa.array(bins * FNLWGT_WIDTH)]))


def read_adult(setting: Setting, columns: Sequence[str] = _COLUMNS) -> pa.Table:
    """Read the 30,162 training records of Adult without unknown cells."""
    table = read_table(setting, ADULT_FILE)
    known = pc.equal(table["split"], "train")
    for name in table.column_names:
        if pa.types.is_string(table[name].type):
            known = pc.and_(known, pc.not_equal(table[name], _UNKNOWN))
    return table.filter(known).select(list(columns)).combine_chunks()


def _survey(name: str, domain: ld.Domain, distance: ld.Distance, table: pa.Table, sensitive: pa.ChunkedArray) -> Survey:
    decade = np.asarray(table["age"]) // 10
    genders = sorted(set(table["sex"].to_pylist()))
    gender = np.asarray(pc.index_in(table["sex"], value_set=pa.array(genders)))
    found, cell_of = np.unique(decade * len(genders) + gender, return_inverse=True)
    cells = tuple((f"{key // len(genders)}0s", genders[key % len(genders)].lower()) for key in found.tolist())
    codes = np.asarray(pc.index_in(sensitive, value_set=pa.array(domain.values))).astype(np.int32)
    return Survey(name, domain, distance, codes, cell_of.ravel().astype(np.int64), cells)
