"""Nodes whose leaves are not public: what a question says about the texts that begin with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.errors import UnsupportedError
from ldiversity.estimation._by import GroupedColumn
from ldiversity.schema import MISSING_LABEL

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray
    from ldiversity.estimation._by import By
    from ldiversity.estimation._where import Filter
    from ldiversity.release import Form, Reach

__all__ = ["Beginnings", "check_group", "decide", "label_beginnings", "parted"]


@dataclass(frozen=True, eq=False)
class Beginnings:
    """What a question says about public values that may be beginnings of texts.

    `codes` has the label of each value, -1 where a filter leaves it out; `labels` is None when the column is only
    filtered. A value is `undecided` when some of the texts under it may match a filter and others not; `example` is
    such a value and its filter, for messages.
    """

    codes: NDArray[np.int64]
    labels: pa.Array | None
    undecided: BoolArray
    example: tuple[str, str] = ("", "")


def label_beginnings(name: str, form: Form, by: By | None, filters: tuple[Filter, ...]) -> Beginnings:
    """Label each public value of a column whose nodes stand for beginnings of texts.

    Raise `UnsupportedError` when a group would hold only some of the texts under a node: their number is not public.
    """
    matches = np.ones(len(form.labels), dtype=np.bool_)
    undecided = np.zeros(len(form.labels), dtype=np.bool_)
    example = ("", "")
    for condition in filters:
        for place, label in enumerate(form.labels):
            verdict = _matches(form, label, condition)
            matches[place] &= verdict is not False
            undecided[place] |= verdict is None
            example = (label, str(condition)) if verdict is None else example
    codes = np.where(matches, 0, -1).astype(np.int64)
    undecided &= matches
    if by is None:
        return Beginnings(codes, None, undecided, example)
    cells = pa.array([None if label == MISSING_LABEL else label for label in form.labels], pa.string())
    if isinstance(by, GroupedColumn):
        for label in np.array(form.labels, dtype=object)[matches]:
            check_group(name, (form.reaches or {}).get(label), label, by)
        by.check(pa.chunked_array([cells]))
    coded = by.encode(pa.chunked_array([cells.filter(pa.array(matches))]))
    codes[matches] = coded.codes
    return Beginnings(codes, coded.labels, undecided, example)


def _matches(form: Form, label: str, condition: Filter) -> bool | None:
    reach = (form.reaches or {}).get(label)
    if reach is not None:
        return decide(reach, label, condition)
    cell = pa.chunked_array([pa.array([None if label == MISSING_LABEL else label], pa.string())])
    return bool(condition.mask(cell)[0])


def decide(reach: Reach, label: str, condition: Filter) -> bool | None:
    """Whether all texts under a node match (True), none (False), or possibly some (None)."""
    operator, values = condition.operator, condition.values
    if operator.endswith("missing"):
        return None if reach.anything else operator == "is not missing"
    if operator == "starts with":
        if all(any(start.startswith(value) for value in values) for start in reach.starts):
            return True
        apart = not any(
            value.startswith(start) or start.startswith(value) for start in reach.starts for value in values
        )
        return False if apart else None
    if operator in {"in", "not in"}:
        if label in values:
            return operator == "in"
        under = any(value.startswith(start) for start in reach.starts for value in values)
        return None if under else operator == "not in"
    return None


def check_group(name: str, reach: Reach | None, label: str, by: GroupedColumn) -> None:
    """Refuse groups that hold some of the texts under a node: their number is not public."""
    if reach is None or label in by.group_of:
        return
    if any(text.startswith(start) for text in by.group_of for start in reach.starts):
        raise parted(name, label, f"groups of {name!r}")


def parted(name: str, label: str, asked: str) -> UnsupportedError:
    """The error of a question about values under a node that are not public."""
    return UnsupportedError(
        "estimate",
        f"{asked} cannot be answered, because {name!r} was published as {label!r} and its values are not public",
    ).with_hint(f"Ask for what was published, for example {name} in {label!r}, or leave the column out.")
