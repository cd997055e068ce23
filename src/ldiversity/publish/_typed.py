"""A publication from the texts of a command line."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import cast

from ldiversity.base.typed import split_assignments, split_names, split_numbers
from ldiversity.catalog import CATALOG, OPTIONS
from ldiversity.methods import Models
from ldiversity.publish._columns_said import ColumnDecisions
from ldiversity.publish._grids import read_grid
from ldiversity.publish._hierarchies import hierarchy_forms
from ldiversity.publish._level_texts import LEVEL_FORMS
from ldiversity.publish._method import ChosenMethod, usual_method
from ldiversity.publish._publication import Publication
from ldiversity.release import Format, SetLayout
from ldiversity.tables import ColumnTexts, read_roles

__all__ = ["TypedColumns", "TypedPublication", "typed_columns", "typed_options", "typed_publication"]


class TypedColumns(ColumnTexts):
    """The texts of the options about columns, one for each time an option was given."""

    hierarchies: Sequence[str]
    levels: Sequence[str]
    grid: Sequence[str]
    person: str | None


class TypedPublication(TypedColumns, total=False):
    """The texts of all options of a publication; ``options`` has those of methods by name."""

    method: str | None
    options: Mapping[str, object]
    marginals: bool
    key: str | os.PathLike[str] | None
    record_id: Sequence[str]
    stable_order: bool
    data_format: Format | None
    layout: SetLayout | None
    confirm: Sequence[str]


def typed_publication(typed: TypedPublication) -> Publication:
    """Make the publication that a command line asks for.

    Examples
    --------
    >>> texts = dict.fromkeys(TypedColumns.__annotations__, ()) | {"person": None}
    >>> typed_publication({**texts, "sensitive": ["disease"], "options": {"l": 3}}).methods
    {'disease': RandomizedAddition(l=3, epsilon=None)}
    """
    options = typed_options(typed.get("options", {}))
    name = typed.get("method") or usual_method(options.get("d"))
    # Where the method itself takes no model, it is a promise about quasi-identifiers.
    model = options.pop("model", None) if name in CATALOG and "model" not in CATALOG[name].options else None
    return Publication(
        **typed_columns(typed),
        method=ChosenMethod.named(name, options),
        model=cast("Models", model),
        marginals=typed.get("marginals", False),
        key=typed.get("key"),
        record_id=split_names(typed.get("record_id", ()), "record_id"),
        stable_order=typed.get("stable_order", False),
        data_format=typed.get("data_format"),
        layout=typed.get("layout"),
        confirm=split_names(typed.get("confirm", ()), "confirm"),
    )


def typed_columns(typed: TypedColumns) -> ColumnDecisions:
    """What a command line says about columns."""
    roles = read_roles(typed)
    hierarchies = split_assignments(typed["hierarchies"], "hierarchies", hierarchy_forms())
    levels = split_assignments(typed["levels"], "levels", LEVEL_FORMS)
    grid = read_grid(typed["grid"])
    return {**roles, "hierarchies": hierarchies, "levels": levels, "grid": grid, "person": typed["person"]}


def typed_options(given: Mapping[str, object]) -> dict[str, object]:
    """The options of methods that were given."""
    known = {name: value for name, value in given.items() if value is not None and value != ()}
    return {
        name: split_numbers(cast("Sequence[str]", value), name) if OPTIONS[name].kind == "shares" else value
        for name, value in known.items()
    }
