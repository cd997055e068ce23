"""The numbers that a description gives to values: they must be those of the values themselves."""

from __future__ import annotations

from itertools import zip_longest
from math import isnan, nan

import pyarrow as pa

from ldiversity.errors import SchemaError
from ldiversity.schema import Domain
from ldiversity.tables import Bins

__all__ = ["check_positions"]


def check_positions(domain: Domain, kind: pa.DataType) -> None:
    """Refuse positions and edges that do not follow from the values: gaps, distances and means would be others.

    Texts may have numbers that somebody declared, as the answers to a survey have.

    Parameters
    ----------
    domain
        What a description says.
    kind
        The type of the values.

    Raises
    ------
    SchemaError
        When a number has another position than itself, or a bin another than its middle.

    Examples
    --------
    >>> check_positions(Domain((20, 30), ordered=True, positions=(20.0, 3000.0)), pa.int64())
    Traceback (most recent call last):
    ldiversity.errors.SchemaError: Domain: positions must be the numbers themselves, or the middles of their bins.
    """
    known = [value for value in domain.values if value is not None]
    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if domain.edges is not None:
        if numbers or tuple(known) != Bins.labels(domain.edges):
            raise SchemaError("Domain", "edges", "must be those that the bins name")
        own = iter(Bins.middles(domain.edges))
    elif numbers:
        own = iter([float(value) for value in known])
    else:
        return
    if domain.positions is None:
        return
    expected = [nan if value is None else next(own) for value in domain.values]
    if not all(_same(*pair) for pair in zip_longest(domain.positions, expected, fillvalue=nan)):
        raise SchemaError("Domain", "positions", "must be the numbers themselves, or the middles of their bins")


def _same(one: float, other: float) -> bool:
    return one == other or (isnan(one) and isnan(other))
