"""What becomes public depends on published records only, unless the holder declared it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, CodeArray, Json
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import CategoryColumn, Grouping, SensitiveColumn
from ldiversity.models import PrivacyModel, count_classes
from ldiversity.publish._coding import Reading
from ldiversity.schema import Domain, Schema
from ldiversity.tables import Bins

__all__ = ["keeps_rules", "public_column", "public_facts", "same_hierarchies", "with_domains"]


def public_column(column: SensitiveColumn, shown: BoolArray) -> SensitiveColumn:
    """A column whose domain came from the table, with only the values that published records have.

    Codes of records that are not `shown` become -1. Bins stay from the lowest to the highest that is used, and a
    category of missing values stays.

    Examples
    --------
    >>> codes = np.array([0, 1, 2], dtype=np.int32)
    >>> shown = np.array([True, False, True])
    >>> public = public_column(SensitiveColumn("s", codes, Domain(("cold", "flu", "sty"))), shown)
    >>> public.domain.values, public.codes.tolist()
    (('cold', 'sty'), [0, -1, 1])
    """
    domain = column.domain
    known = np.array([value is not None for value in domain.values])
    used = np.bincount(column.codes[shown], minlength=len(domain)) > 0
    if domain.edges is not None:
        bins = np.flatnonzero(used & known)
        places = np.arange(len(domain))
        used |= (places >= bins.min(initial=len(domain))) & (places <= bins.max(initial=-1))
    kept = np.flatnonzero(used | ~known)
    place = np.full(len(domain), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    return SensitiveColumn(column.name, np.where(shown, place[column.codes], np.int32(-1)), _restricted(domain, kept))


def with_domains(schema: Schema, columns: Mapping[str, Domain]) -> Schema:
    """The schema with these domains."""
    changed = (replace(a, domain=columns[a.name]) if a.name in columns else a for a in schema.attributes)
    return Schema(tuple(changed))


def public_facts(
    grouping: Grouping, before: Mapping[str, SensitiveColumn], after: Mapping[str, Domain]
) -> dict[str, Json]:
    """The facts about public values, numbered without gaps, so that no gap points to a value that is not public."""
    facts: dict[str, Json] = {}
    for fact, columns in grouping.of_values.items():
        numbered: dict[str, Json] = {}
        for name, numbers in columns.items():
            of_value = before[name].domain.code_of
            kept = np.asarray(numbers)[[of_value[value] for value in after[name].values]]
            numbered[name] = np.unique(kept, return_inverse=True)[1].tolist()
        facts[fact] = numbered
    return facts


def keeps_rules(rules: Sequence[PrivacyModel], column: SensitiveColumn, class_of: CodeArray, n_classes: int) -> bool:
    """Whether the published classes satisfy all rules by their own counts and their own domain."""
    counts = count_classes(class_of, column.codes, n_classes, column.domain)
    return not any(rule.failing(counts).size for rule in rules)


def same_hierarchies(used: Reading, kept: BoolArray, fresh: Reading) -> bool:
    """Whether hierarchies made from the whole table and from the published rows alone treat these rows alike.

    `used` is the table that was grouped, `kept` its published rows, and `fresh` these rows read by themselves.
    """
    again = {column.name: column for column in fresh.table.categories}
    return all(
        _rows(column, column.codes[kept]) == _rows(again[column.name], again[column.name].codes)
        for column in used.table.categories
        if column.name in used.made
    )


def _rows(column: CategoryColumn, codes: CodeArray) -> set[tuple[str, ...]]:
    tree = column.hierarchy or Hierarchy(())
    return {tree.rows[code] for code in np.unique(codes)}


def _restricted(domain: Domain, kept: NDArray[np.integer[Any]]) -> Domain:
    values = tuple(domain.values[code] for code in kept)
    positions = None if domain.positions is None else tuple(domain.positions[code] for code in kept)
    if domain.edges is None:
        return Domain(values, domain.ordered, positions)
    bins = [code for code in kept if domain.values[code] is not None]
    edges = domain.edges[bins[0] : bins[-1] + 2] if bins else None
    labels = Bins.labels(edges) if edges is not None else ()
    return Domain((*labels, *values[len(bins) :]), domain.ordered, positions, edges)
