"""Raising levels until a promise about quasi-identifiers holds: the least loss among all choices of levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from ldiversity.errors import InfeasibleError, UnsupportedError
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import CategoryColumn, CodedTable, GroupingRun, Incognito, SensitiveColumn
from ldiversity.models import PrivacyModel, sizes_as_classes
from ldiversity.publish._ladders import ladder_of
from ldiversity.publish._levels import Level
from ldiversity.publish._uniqueness import LookAlikes
from ldiversity.schema import Domain
from ldiversity.sentences import Setting, say

__all__ = ["raise_levels"]


def raise_levels(
    looks: LookAlikes,
    declared: Mapping[str, Level],
    trees: Mapping[str, Hierarchy],
    models: Sequence[PrivacyModel],
) -> dict[str, Level]:
    """Find the levels, none below the declared one, at which the models hold, with the least loss.

    Every column goes up its ladder; the search is that of `Incognito`. No record is left out, so nothing that becomes
    public depends on a record that is not published. The models are about how many records look alike.

    Raises
    ------
    InfeasibleError
        When not even all records together satisfy a model.
    """
    if not looks.codes:
        _check_number(looks.n_rows, models)
        return dict(declared)
    ladders: dict[str, list[Level | None]] = {}
    columns = []
    for name in looks.codes:
        rungs: list[Level | None] = [
            declared.get(name),
            *ladder_of(looks.values[name], declared.get(name), trees.get(name)),
        ]
        ladders[name] = rungs
        columns.append(_category(looks, name, rungs))
    _check_number(looks.n_rows, models)
    everyone = SensitiveColumn("", np.zeros(looks.n_rows, dtype=np.int32), Domain(("",)))
    try:
        found = Incognito(model=tuple(models)).group(CodedTable(tuple(columns), (everyone,)), GroupingRun())
    except UnsupportedError:
        raise UnsupportedError(
            "Publication", "model", "would need a search among too many combinations of levels"
        ).with_hint(
            say(
                "Name fewer quasi-identifiers, or begin with coarser levels, as in {}.",
                Setting("levels", ("age", "width:10")),
            )
        ) from None
    chosen = {name: ladders[name][level] for name, level in found.levels.items()}
    return {name: level for name, level in chosen.items() if level is not None}


def _category(looks: LookAlikes, name: str, rungs: Sequence[Level | None]) -> CategoryColumn:
    """A column whose hierarchy is its ladder."""
    values = pa.concat_arrays([looks.values[name], pa.nulls(1, looks.values[name].type)])
    exact = [str(place) for place in range(len(values))]
    labels = [exact if level is None else level.labels(name, values).to_pylist() for level in rungs]
    # Leaves are the labels of the lowest rung, each once; a last column is the root, if the ladder has none.
    first = dict.fromkeys(labels[0])
    place = {label: code for code, label in enumerate(first)}
    rows = dict(zip(reversed(labels[0]), zip(*(reversed(one) for one in labels), strict=True), strict=True))
    tree = Hierarchy.from_rows([rows[label] for label in first])
    codes = np.array([place[label] for label in labels[0]], dtype=np.int32)[looks.codes[name]]
    return CategoryColumn(name, codes, tree.leaves, tree)


def _check_number(n_rows: int, models: Sequence[PrivacyModel]) -> None:
    for model in models:
        if len(model.failing(sizes_as_classes(np.array([n_rows])))):
            raise InfeasibleError("Publication", "model", f"{model.text} needs more records", got=n_rows).with_hint(
                "Choose a smaller promise, or leave it out."
            )
