"""Raising levels until a promise about quasi-identifiers holds: the least loss among all choices of levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, different
from ldiversity.errors import InfeasibleError, UnsupportedError
from ldiversity.hierarchies import Hierarchy
from ldiversity.models import PrivacyModel, sizes_as_classes
from ldiversity.publish._ladders import ladder_of
from ldiversity.publish._levels import Level
from ldiversity.publish._shown import Shown
from ldiversity.publish._uniqueness import LookAlikes
from ldiversity.sentences import Setting, say

__all__ = ["raise_levels"]

_MOST_CHOICES: Final = 1 << 17
_FEW_CHOICES: Final = 1 << 12
"""Of so many choices, few need be counted, so that pairs of columns would take longer than they save."""

Ints: TypeAlias = NDArray[np.int64]


def raise_levels(
    looks: LookAlikes,
    declared: Mapping[str, Level],
    trees: Mapping[str, Hierarchy],
    models: Sequence[PrivacyModel],
) -> dict[str, Level]:
    """Find the levels, none below the declared one, at which the models hold, with the least loss.

    Every column goes up its ladder. What is lost is what `Incognito` counts: the share of the values that stand under
    the label, 0 for one value, as a mean over records and columns. No record is left out, so nothing that becomes
    public depends on a record that is not published. The models are about how many records look alike, or how many
    people, where it is known whose row each is.

    Raises
    ------
    InfeasibleError
        When not even all together satisfy a model.
    """
    _check_number(looks, models)
    if not looks.codes:
        return dict(declared)
    ladders = {
        name: (declared.get(name), *ladder_of(values, declared.get(name), trees.get(name)))
        for name, values in looks.values.items()
    }
    if prod(len(rungs) for rungs in ladders.values()) > _MOST_CHOICES:
        raise UnsupportedError(
            "Publication", "model", "would need a search among too many combinations of levels"
        ).with_hint(
            say(
                "Name fewer quasi-identifiers, or begin with coarser levels, as in {}.",
                Setting("levels", ("age", "width:10")),
            )
        )
    labels = [_labels(looks, name, rungs) for name, rungs in ladders.items()]
    rows = [own[:, 0][looks.codes[name]] for name, own in zip(ladders, labels, strict=True)]
    # From here on a code is a label of the lowest level.
    labels = [_by_lowest(own) for own in labels]
    losses = [_losses(own, known, looks.counts) for own, known in zip(rows, labels, strict=True)]
    found = _least(Shown.of(rows, labels, looks.person, looks.counts), losses, models)
    chosen = {name: rungs[level] for (name, rungs), level in zip(ladders.items(), found, strict=True)}
    return {name: level for name, level in chosen.items() if level is not None}


def _labels(looks: LookAlikes, name: str, rungs: Sequence[Level | None]) -> Ints:
    """Shape (values, levels): the number of each value's label, that of the missing ones last."""
    values = pa.concat_arrays([looks.values[name], pa.nulls(1, looks.values[name].type)])
    numbered = [
        np.arange(len(values))
        if level is None
        else np.asarray(level.labels(name, values).dictionary_encode().indices, dtype=np.int64)
        for level in rungs
    ]
    return np.column_stack(numbered)


def _by_lowest(labels: Ints) -> Ints:
    """The same for each label of the lowest level; values with the same label there have it everywhere above."""
    _, first = np.unique(labels[:, 0], return_index=True)
    by_lowest: Ints = labels[first]
    return by_lowest


def _losses(rows: NDArray[np.integer], labels: Ints, counts: Ints | None) -> NDArray[np.float64]:
    """The mean loss at each level: the share of the lowest labels that stand under one, 0 for a single one."""
    records = np.bincount(rows, counts, minlength=len(labels))
    under = np.column_stack([np.bincount(level)[level] for level in labels.T])
    costs = np.where(under > 1, under / len(labels), 0.0)
    return np.asarray(records @ costs / max(int(records.sum()), 1), dtype=np.float64)


def _least(shown: Shown, losses: Sequence[NDArray[np.float64]], models: Sequence[PrivacyModel]) -> list[int]:
    """The levels of least loss at which the models hold; among equals the lower ones.

    A class of fewer columns is a union of classes, and coarser levels join classes too. So a choice is ruled out when
    it fails for one column or for two, which are quickly counted, and all below a choice that fails, fail. What is left
    is searched from the middle: a choice that holds rules out all of greater loss.
    """
    depths, every = [len(own) for own in losses], range(len(losses))
    possible = np.ones(depths, dtype=np.bool_)
    for k, known in enumerate(shown.labels):
        # A level that joins nothing says as much as the one below it.
        joins = np.append(True, np.diff(known.max(axis=0)) != 0)
        possible &= np.expand_dims(joins, tuple(one for one in every if one != k))
    for size in (1, 2):
        if size > 1 and np.count_nonzero(possible) <= _FEW_CHOICES:
            break
        for columns in combinations(every, size):
            others = tuple(k for k in every if k not in columns)
            few = shown.only(columns, [_lowest(possible, k) for k in columns])
            holds = _holding(few, np.asarray(possible.any(axis=others), dtype=np.bool_), models)
            possible &= np.expand_dims(holds, others)
        shown = shown.only(every, [_lowest(possible, k) for k in every])
    choices = np.argwhere(possible)
    loss = np.sum([own[choices[:, k]] for k, own in enumerate(losses)], axis=0)
    choices = choices[np.lexsort((choices.sum(axis=1), loss.round(12)))]
    open_ones = np.arange(len(choices))
    best = len(choices) - 1  # nothing is told at the last level of each column, so it holds
    while len(open_ones):
        middle = int(open_ones[len(open_ones) // 2])
        if shown.keep(choices[middle].tolist(), models):
            best = middle
            open_ones = open_ones[open_ones < middle]
        else:
            open_ones = open_ones[(choices[open_ones] > choices[middle]).any(axis=1)]
    return [int(level) for level in choices[best]]


def _lowest(possible: BoolArray, column: int) -> int:
    """The lowest level of a column that is still possible."""
    others = tuple(k for k in range(possible.ndim) if k != column)
    return int(np.argmax(possible.any(axis=others)))


def _holding(shown: Shown, possible: BoolArray, models: Sequence[PrivacyModel]) -> BoolArray:
    """Which possible choices keep the models: with one that does, all above it; with one that fails, none below it."""
    holds, unknown = np.zeros_like(possible), possible.copy()
    while unknown.any():
        choices = np.argwhere(unknown)
        middle = choices[np.argsort(choices.sum(axis=1), kind="stable")[len(choices) // 2]].tolist()
        if shown.keep(middle, models):
            above = tuple(slice(level, None) for level in middle)
            holds[above] = possible[above]
            unknown[above] = False
        else:
            unknown[tuple(slice(level + 1) for level in middle)] = False
    return holds


def _check_number(looks: LookAlikes, models: Sequence[PrivacyModel]) -> None:
    people = looks.person is not None
    n = looks.n_records if looks.person is None else len(different(looks.person))
    for model in models:
        if len(model.failing(sizes_as_classes(np.array([n])))):
            needed = f"{model.text} needs more {'people' if people else 'records'}"
            raise InfeasibleError("Publication", "model", needed, got=n).with_hint(
                "Choose a smaller promise, or leave it out."
            )
