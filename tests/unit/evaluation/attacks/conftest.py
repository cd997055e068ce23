"""Small releases with planted leaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.mechanisms import ClassMechanism
from ldiversity.models import FrequencyDiversity
from ldiversity.release import Form
from ldiversity.schema import Attribute, Role, Schema

VALUES = ("a", "b", "c", "d", "e", "f")
Bucketized = Callable[..., ld.ClassRelease]
Generalized = Callable[..., ld.ClassRelease]


@pytest.fixture
def bucketized() -> Bucketized:
    """A bucketized release whose rows are people 0, 1, 2, ... by `who`."""
    return make_bucketized


@pytest.fixture
def generalized() -> Generalized:
    """A generalized release whose classes are runs of ages."""
    return make_generalized


def make_bucketized(
    class_of: Sequence[int],
    values: Sequence[int],
    *,
    who: Sequence[int] | None = None,
    l: int = 2,
    method: str = "given",
) -> ld.ClassRelease:
    people = range(len(values)) if who is None else who
    return ld.ClassRelease.in_memory(
        schema=Schema((Attribute("who", Role.QUASI, "int64"), sensitive())),
        layout="bucketized",
        rules={"s": FrequencyDiversity(l=l)},
        class_of=np.array(class_of),
        values={"s": np.array(values)},
        columns=pa.table({"who": pa.array(people, pa.int64())}),
        mechanisms={"s": ClassMechanism(method, {"l": l})},
        suppressed=0,
    )


def make_generalized(
    class_of: Sequence[int], values: Sequence[int], regions: Sequence[tuple[int, int]], *, l: int = 2
) -> ld.ClassRelease:
    ages = pa.array([{"low": low, "high": high} for low, high in regions])
    return ld.ClassRelease.in_memory(
        schema=Schema((Attribute("age", Role.QUASI, "int64"), sensitive())),
        layout="generalized",
        rules={"s": FrequencyDiversity(l=l)},
        class_of=np.array(class_of),
        values={"s": np.array(values)},
        regions=pa.table({"age": ages}),
        forms={"age": Form("interval", low=min(low for low, _ in regions), high=max(high for _, high in regions))},
    )


def sensitive() -> Attribute:
    return Attribute("s", Role.SENSITIVE, "string", ld.Domain(VALUES))


def original(values: Sequence[int], **columns: Sequence[int]) -> pa.Table:
    return pa.table({**columns, "s": [VALUES[code] for code in values]})
