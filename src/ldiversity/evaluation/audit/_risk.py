"""How likely people are to be found, and how much is then learned about them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.errors import SchemaError, UnsupportedError
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._classes import CountedTable
from ldiversity.evaluation.audit._numbering import number_rows
from ldiversity.evaluation.audit._sets import SetView
from ldiversity.evaluation.audit._views import View
from ldiversity.sentences import Setting, say

__all__ = ["attribute_risk", "class_figures", "recognized", "reidentification_risk"]

_PARTS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
_LIKELY: Final = 0.5
_NEARLY_SURE: Final = 0.9
_ROUNDING: Final = 1e-12


def class_figures(seen: AttackerView) -> dict[str, Any]:
    """The distribution of class sizes.

    Examples
    --------
    >>> figures = class_figures(AttackerView("table", "table", (), None, np.array([1, 1, 4]), {}))
    >>> figures["count"], figures["uniques"], figures["sizes"]
    (3, 2, {'1': 2, '2': 0, '3': 0, '4': 1, '5-9': 0, '10-99': 0, '100+': 0})
    """
    sizes = seen.sizes
    empty = not len(sizes)
    bands = {"1": (1, 1), "2": (2, 2), "3": (3, 3), "4": (4, 4), "5-9": (5, 9), "10-99": (10, 99), "100+": (100, None)}
    return {
        "count": len(sizes),
        "records": seen.n_records,
        "smallest": 0 if empty else int(sizes.min()),
        "largest": 0 if empty else int(sizes.max()),
        "mean": 0.0 if empty else float(sizes.mean()),
        "median": 0.0 if empty else float(np.median(sizes)),
        "uniques": int(np.count_nonzero(sizes == 1)),
        "sizes": {
            name: int(np.count_nonzero((sizes >= low) & (sizes <= (sizes.max(initial=0) if high is None else high))))
            for name, (low, high) in bands.items()
        },
    }


def reidentification_risk(seen: AttackerView, population: CountedTable | None, threshold: float) -> dict[str, Any]:
    """The risk that a record is linked to its person.

    The prosecutor knows that someone is in the table: 1 over the size of the class. The journalist wants any success
    and knows only the population: 1 over the size of the class there. The marketer links everybody: the mean of
    the journalist's risks is the share of right links to expect. Without a population both take the table itself.
    """
    sizes = seen.sizes
    outside = sizes if population is None else _population_sizes(seen, population)
    journalist = _summary(1 / np.maximum(outside, sizes), sizes, threshold)
    return {
        **recognized(sizes, threshold),
        "journalist": {
            **journalist,
            "population": population is not None,
            "classes_not_in_population": int(np.count_nonzero(outside < sizes)),
        },
        "marketer": {"mean": journalist["mean"], "expected_records": journalist["mean"] * seen.n_records},
    }


def recognized(sizes: NDArray[np.int64], threshold: float) -> dict[str, Any]:
    """What the prosecutor finds in classes of these sizes.

    Examples
    --------
    >>> found = recognized(np.array([1, 4]), 0.5)
    >>> found["uniques"], found["prosecutor"]["mean"], found["prosecutor"]["records_above"]
    (1, 0.4, 1)
    """
    return {
        "threshold": threshold,
        "uniques": int(np.count_nonzero(sizes == 1)),
        "records": int(sizes.sum()),
        "prosecutor": _summary(1 / sizes, sizes, threshold),
    }


def attribute_risk(view: View) -> dict[str, Any]:
    """How much is learned about a sensitive value by someone who finds a person's class, or set.

    Examples
    --------
    >>> from ldiversity.evaluation.audit._views import ClassView
    >>> from ldiversity.models import count_classes
    >>> from ldiversity.schema import Domain
    >>> classes = count_classes(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]), 2, Domain(("flu", "cut")))
    >>> risk = attribute_risk(ClassView(classes))
    >>> risk["classes_with_one_value"], risk["records_read_off"], risk["mean_largest_share"]
    (1, 2, 0.75)
    """
    largest, sizes = view.largest, view.sizes
    described = {
        **_beliefs(largest, sizes),
        "values": len(view.domain),
        "values_that_occur": int(np.count_nonzero(view.marginal)),
        "largest_share_overall": float(view.marginal.max(initial=0) / max(int(view.marginal.sum()), 1)),
    }
    if isinstance(view, SetView):
        described["informed"] = _beliefs(view.largest_informed, sizes)
    return described


def _beliefs(largest: NDArray[np.float64], sizes: NDArray[np.int64]) -> dict[str, Any]:
    """What is believed of the likeliest value of each class."""
    records = max(int(sizes.sum()), 1)
    sure = largest >= 1 - _ROUNDING
    bands = np.searchsorted(_PARTS[1:], largest - _ROUNDING)
    by_band = np.bincount(bands, weights=sizes, minlength=len(_PARTS) - 1)
    return {
        "classes": len(sizes),
        "classes_with_one_value": int(np.count_nonzero(sure)),
        "records_read_off": int(sizes[sure].sum()),
        "records_at_least_50": int(sizes[largest >= _LIKELY - _ROUNDING].sum()),
        "records_at_least_90": int(sizes[largest >= _NEARLY_SURE - _ROUNDING].sum()),
        "mean_largest_share": float(largest @ sizes / records),
        "largest_share": float(largest.max(initial=0.0)),
        "records_by_largest_share": {
            f"{low:g}-{high:g}": round(by_band[place]) for place, (low, high) in enumerate(pairwise(_PARTS))
        },
    }


def _summary(risks: NDArray[np.float64], sizes: NDArray[np.int64], threshold: float) -> dict[str, Any]:
    above = sizes[risks > threshold + _ROUNDING]
    return {
        "max": float(risks.max(initial=0.0)),
        "mean": float(risks @ sizes / max(int(sizes.sum()), 1)),
        "records_above": int(above.sum()),
        "classes_above": len(above),
    }


def _population_sizes(seen: AttackerView, population: CountedTable) -> NDArray[np.int64]:
    """Shape (classes,): how many people of the population look like each class; 0 when none does."""
    if seen.keys is None:
        raise UnsupportedError(
            "audit", "population", "must be left out for a release with generalized quasi-identifiers"
        ).with_hint(
            "Regions of the release overlap people of the population; the risk without a population is no less."
        )
    names = list(seen.quasi)
    if not names:
        return population.sizes
    for name in names:
        own, other = seen.keys.schema.field(name).type, population.keys.schema.field(name).type
        if own != other:
            raise SchemaError("population", f"must be of the type {own}", column=name, got=other).with_hint(
                say("Declare the types of both tables, for example {}.", Setting("types", ("zip", "text")))
            )
    both = pa.concat_tables([seen.keys.select(names), population.keys.select(names)])
    ids, _ = number_rows(both, names)
    sizes = np.zeros(int(ids.max(initial=-1)) + 1, dtype=np.int64)
    n_own = seen.keys.num_rows
    sizes[ids[n_own:]] = population.sizes
    found: NDArray[np.int64] = sizes[ids[:n_own]]
    return found
