"""How quasi-identifiers are published when no machine sees all regions: forms before and after parts are grouped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from ldiversity.base.limits import MOST_VALUES
from ldiversity.publish._cut import cut_forms
from ldiversity.publish._parts._note import JoinedNotes
from ldiversity.publish._parts._table import TableShape
from ldiversity.publish._prepare import Preparation
from ldiversity.publish._regions import category_form, interval_form
from ldiversity.publish._shapes import CategoryShape, NumberShape, read_numbers
from ldiversity.release import Form, Marginal, grid_of, node_labels, parse_type
from ldiversity.tables import COUNT

__all__ = ["all_forms", "public_forms"]


def all_forms(shape: TableShape) -> dict[str, Form]:
    """Forms with every label that a region of any part may have."""
    forms = {}
    for own in shape.quasi:
        if isinstance(own, NumberShape):
            forms[own.name] = Form("interval")
        else:
            forms[own.name] = category_form(own, np.ones(len(own.labels), dtype=np.bool_), added_missing=False)
    return forms


def public_forms(
    preparation: Preparation, shape: TableShape, notes: JoinedNotes, inside: dict[str, Form]
) -> dict[str, Form]:
    """Forms that tell of published records alone; `inside` are those that regions were made with."""
    forms = {}
    for own in shape.quasi:
        if isinstance(own, NumberShape):
            step = shape.steps.get(own.name)
            grid = None if step is None else grid_of(step, shape.types[own.name])
            forms[own.name] = interval_form(notes.ends(own.name), own.dtype, step, grid)
        else:
            shown = np.zeros(len(own.labels), dtype=np.bool_)
            shown[notes.shown(own.name)] = True
            forms[own.name] = category_form(own, shown, added_missing=own.name in shape.added_missing)
    if preparation.question.marginals:
        forms = {
            name: replace(form, marginal=_marginal(preparation, shape, form, name)) for name, form in forms.items()
        }
    ladders = preparation.ladders
    forms |= {name: replace(forms[name], marginal=None) for name in ladders}
    kinds = {name: parse_type(preparation.schema[name].type) for name in forms}
    reaches = {name: ladder.reach for name, ladder in ladders.items() if ladder.rungs}
    for name, form in forms.items():
        if form.kind == "node":
            labels = node_labels(inside[name])
            seen = pa.table({name: [labels[place] for place in notes.nodes(name).tolist()]})
            forms |= cut_forms({name: form}, seen, kinds, reaches)
    return forms | preparation.tree_forms(forms)


def _marginal(preparation: Preparation, shape: TableShape, form: Form, name: str) -> Marginal | None:
    """How often each exact value occurs, where all records are published."""
    counted = preparation.engine.count(preparation.shown, [name], most=MOST_VALUES)
    if counted is None:
        return None
    cells = counted.column(name).combine_chunks().cast(shape.types[name])
    weights = np.asarray(counted.column(COUNT))
    own = next(one for one in shape.quasi if one.name == name)
    if isinstance(own, CategoryShape):
        place = {label: at for at, label in enumerate(form.labels)}
        codes = np.array([place[own.labels[code]] for code in own.codes(cells)], dtype=np.int64)
        counts = np.bincount(codes, weights, minlength=len(form.labels)).astype(np.int64)
        occurs = np.flatnonzero(counts)
        return Marginal(occurs, counts[occurs])
    numbers, missing = read_numbers(name, cells, exact=False)
    known, places = np.unique(numbers[~missing], return_inverse=True)
    if not len(known):
        return None
    counts = np.bincount(places.ravel(), weights[~missing]).astype(np.int64)
    return Marginal(known, counts, int(weights[missing].sum()))
