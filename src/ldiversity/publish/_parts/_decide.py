"""What a method decides for the whole table by counts alone, before its parts are grouped."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from ldiversity.engines import Secrets
from ldiversity.errors import UnsupportedError
from ldiversity.methods import GroupingMethod, RandomParts
from ldiversity.publish._parts._route import RouteRows
from ldiversity.publish._parts._short import give_more_memory, short_of_memory
from ldiversity.publish._parts._table import TableShape, code_name
from ldiversity.publish._prepare import Preparation
from ldiversity.sentences import Parameter, say
from ldiversity.tables import COUNT

__all__ = ["check_decides", "decided"]

_COMBINATION_BYTES: Final = 500
"""What a combination takes while the method decides, in all copies."""

_MOST_COMBINATIONS: Final = 1 << 21


def check_decides(preparation: Preparation) -> None:
    """Say before any work what a method that decides by counts cannot do."""
    method, question = preparation.method, preparation.question
    if not method.decides_by_counts:
        return
    if question.person is not None:
        raise UnsupportedError(
            method.name, say("{} cannot be given where the table is grouped in parts", Parameter("person"))
        ).with_hint(give_more_memory(preparation.engine, "use a method such as mondrian"))
    if method.may_leave_out:
        raise UnsupportedError(method.name, "no record can be left out where the table is grouped in parts").with_hint(
            give_more_memory(preparation.engine, say("leave {} out", Parameter("suppression")))
        )


def decided(preparation: Preparation, shape: TableShape, secrets: Secrets) -> GroupingMethod:
    """The method, after it has seen how often each combination occurs; only counts come together."""
    method, engine = preparation.method, preparation.engine
    if not method.decides_by_counts:
        return method
    known = replace(shape, plain=(), person=None)
    coded = engine.map(RouteRows(known, RandomParts(1)), preparation.shown, list(known.columns), secrets=secrets)
    names = [code_name(name) for name in (*(one.name for one in known.quasi), *known.coders)]
    most = _MOST_COMBINATIONS if engine.memory is None else engine.memory.rows(_COMBINATION_BYTES)
    counted = engine.count(coded, names, most=most)
    if counted is None:
        rule = f"must hold all combinations of quasi-identifiers and values, and there are more than {most}"
        otherwise = "publish coarser quasi-identifiers, or use a method such as mondrian"
        raise short_of_memory(engine, method.name, rule, otherwise)
    counts = np.asarray(counted.column(COUNT)).astype(np.int64)
    return method.decided(known.reading(counted.drop_columns([COUNT])).grouped, counts)
