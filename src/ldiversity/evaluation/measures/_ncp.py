"""How much detail of the quasi-identifiers was lost: the normalized certainty penalty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ldiversity.base.checks import check_number, name_some
from ldiversity.errors import ParameterError
from ldiversity.evaluation.measures._axes import make_axis
from ldiversity.evaluation.measures._original import as_type, n_records, read_columns
from ldiversity.release import check_release, to_numbers
from ldiversity.schema import Role

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.release import Region, Release

__all__ = ["ncp", "ncp_by_column"]


def ncp(
    original: Any,  # noqa: ANN401 - a path or any frame
    release: Release,
    *,
    weights: Mapping[str, float] | None = None,
) -> float:
    """Measure how much detail of the quasi-identifiers was lost, from 0 (none) to 1 (all).

    This is the normalized certainty penalty, which paper 003 calls information loss. Lower is better.

    Parameters
    ----------
    original
        The table that the release was made from: a path or any data frame. Only the holder has it.
    release
        What was published of it.
    weights
        The weight of each quasi-identifier; 1 by default.

    Returns
    -------
    float
        The weighted mean over the quasi-identifiers of what `ncp_by_column` gives.

    Notes
    -----
    A cell loses

    - a number (or date) published as an interval: ``(high - low) / (max - min)``, max and min those of the original;
    - a category published as a node: leaves under the node over all leaves of the hierarchy, 0 for one leaf; where
      leaves are not public, values of the original replace them;
    - a category published as a list: its length over the number of public values, 0 for one value;
    - 1 when nothing is published about it, and 1 in every cell of a suppressed record;
    - 0 when it is published as it was: in all cells of releases that keep quasi-identifiers (sets, Anatomy).

    Examples
    --------
    Ages 20 to 60; one class says 20 to 30, the other 50 to 60: each loses 10 / 40.

    >>> import pyarrow as pa
    >>> from ldiversity.models import FrequencyDiversity
    >>> from ldiversity.release import ClassRelease, Form
    >>> from ldiversity.schema import Attribute, Domain, Role, Schema
    >>> disease = Attribute("disease", Role.SENSITIVE, "string", Domain(("cold", "flu")))
    >>> release = ClassRelease.in_memory(
    ...     schema=Schema((Attribute("age", Role.QUASI, "int64"), disease)),
    ...     layout="generalized",
    ...     rules={"disease": FrequencyDiversity(l=2)},
    ...     class_of=np.array([0, 0, 1, 1]),
    ...     values={"disease": np.array([0, 1, 1, 0])},
    ...     regions=pa.table({"age": [{"low": 20, "high": 30}, {"low": 50, "high": 60}]}),
    ...     forms={"age": Form("interval", low=20, high=60)},
    ... )
    >>> ncp(pa.table({"age": [20, 30, 50, 60]}), release)
    0.25
    """
    losses = ncp_by_column(original, release)
    if not losses:
        return 0.0
    shares = _check_weights(weights or {}, losses)
    return float(sum(shares[name] * loss for name, loss in losses.items()) / sum(shares.values()))


def ncp_by_column(original: Any, release: Release) -> dict[str, float]:  # noqa: ANN401 - a path or any frame
    """Measure the mean loss of each quasi-identifier over all records, as `ncp` defines it."""
    check_release("ncp", release)
    names = release.schema.names(Role.QUASI)
    total = n_records(release)
    suppressed = total - release.n_rows
    forms = {name: release.forms[name] for name in names}
    intervals = [name for name, form in forms.items() if form.kind == "interval"]
    needed = [*intervals, *(name for name, form in forms.items() if form.reaches is not None)]
    table = read_columns("ncp", original, needed, release)
    losses = {}
    for name, form in forms.items():
        lost = float(suppressed)
        if form.kind != "exact":
            region = release.region(name)
            of_class = _interval_losses(region, table[name]) if name in intervals else _losses(region, table)
            lost += float(np.bincount(region.of_row, minlength=len(of_class)) @ of_class)
        losses[name] = lost / total
    return losses


def _interval_losses(region: Region, original: pa.ChunkedArray) -> FloatArray:
    intervals = region.intervals
    numbers, known = to_numbers(as_type(region.name, original, region.kind, safe=False))
    values = numbers[known]
    # Subtracted as floats: the difference of two large integers may not fit into 64 bits.
    span = float(values.max()) - float(values.min()) if len(values) else 0.0
    lengths = np.asarray(intervals.high, dtype=np.float64) - np.asarray(intervals.low, dtype=np.float64)
    losses = np.minimum(lengths / span, 1.0) if span > 0 else np.zeros(len(lengths))
    return np.where(intervals.unknown, 1.0, losses)


def _leaves(region: Region, table: pa.Table) -> FloatArray:
    """How many values each public value stands for: itself, or those of the original where leaves are not public."""
    n_labels = len(region.form.labels)
    if region.form.reaches is None:
        return np.ones(n_labels)
    values = make_axis(region.name, table[region.name]).values
    return np.bincount(region.places(values), minlength=n_labels + 1)[:-1].astype(np.float64)


def _losses(region: Region, table: pa.Table) -> FloatArray:
    lists, leaves = region.lists, _leaves(region, table)
    reached = np.concatenate([[0.0], np.cumsum(leaves[lists.values])])
    sizes = reached[lists.starts[1:]] - reached[lists.starts[:-1]]
    losses: FloatArray = np.where(sizes > 1, sizes / max(leaves.sum(), 1.0), 0.0)[lists.region_of]
    return losses


def _check_weights(weights: Mapping[str, float], losses: Mapping[str, float]) -> dict[str, float]:
    unknown = [name for name in weights if name not in losses]
    if unknown:
        raise ParameterError("ncp", "weights", "must name quasi-identifiers only", got=name_some(unknown)).with_hint(
            f"The quasi-identifiers are {name_some(losses)}."
        )
    shares = {name: check_number("ncp", "weight", weights.get(name, 1.0), minimum=0) for name in losses}
    if not sum(shares.values()) > 0:
        raise ParameterError("ncp", "weights", "must not all be 0")
    return shares
