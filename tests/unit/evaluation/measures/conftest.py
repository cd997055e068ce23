from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.hierarchies import Hierarchy
from ldiversity.mechanisms import UniformSelection
from ldiversity.models import FrequencyDiversity
from ldiversity.release import ClassRelease, Form, SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

JOBS = ("clerk", "cook", "nurse", "pilot")
ZIPS = Hierarchy.by_prefix(["130", "131", "148", "149", "200"], [2, 1])
SCHEMA = Schema(
    (
        Attribute("age", Role.QUASI, "int64"),
        Attribute("zip", Role.QUASI, "string"),
        Attribute("job", Role.QUASI, "string"),
        Attribute("disease", Role.SENSITIVE, "string", Domain(("cold", "flu"))),
    )
)


@pytest.fixture
def original() -> pa.Table:
    return pa.table(
        {
            "age": [20, 30, 40, 50, 60, 70],
            "zip": ["130", "131", "148", "148", "130", "200"],
            "job": ["cook", "cook", "nurse", "pilot", "clerk", "pilot"],
            "disease": ["cold", "flu", "cold", "flu", "flu", "cold"],
        }
    )


@pytest.fixture
def generalized() -> ClassRelease:
    """Records 1 and 2, 3 and 4, 5 and 6 of the original share a class."""
    return ClassRelease.in_memory(
        schema=SCHEMA,
        layout="generalized",
        rules={"disease": FrequencyDiversity(l=2)},
        class_of=np.array([0, 0, 1, 1, 2, 2]),
        values={"disease": np.array([1, 0, 0, 1, 0, 1])},
        regions=pa.table(
            {
                "age": [{"low": 20, "high": 30}, {"low": 40, "high": 50}, {"low": 60, "high": 70}],
                "zip": ["13*", "148", "*"],
                "job": [["cook"], ["nurse", "pilot"], ["clerk", "pilot"]],
            }
        ),
        forms={
            "age": Form("interval", low=20, high=70),
            "zip": Form("node", hierarchy=ZIPS, labels=ZIPS.leaves),
            "job": Form("values", labels=JOBS),
        },
    )


@pytest.fixture
def bucketized(original: pa.Table) -> ClassRelease:
    """The same classes, quasi-identifiers as they are."""
    return ClassRelease.in_memory(
        schema=SCHEMA,
        layout="bucketized",
        rules={"disease": FrequencyDiversity(l=2)},
        class_of=np.array([0, 0, 1, 1, 2, 2]),
        values={"disease": np.array([0, 1, 0, 1, 1, 0])},
        columns=original.select(["age", "zip", "job"]),
    )


@pytest.fixture
def whys() -> pa.Table:
    return pa.table({"sex": ["F", "F", "M", "M"], "why": ["cough", "gout", "cough", "fever"]})


@pytest.fixture
def sets() -> SetRelease:
    """Two of three values each, for the records of `whys`."""
    values = Domain(("cough", "fever", "gout"))
    schema = Schema((Attribute("sex", Role.QUASI, "string"), Attribute("why", Role.SENSITIVE, "string", values)))
    return SetRelease.in_memory(
        schema=schema,
        columns=pa.table({"sex": ["F", "F", "M", "M"]}),
        sets={"why": np.array([[0, 1], [0, 2], [0, 1], [1, 2]], dtype=np.int32)},
        mechanisms={"why": UniformSelection(n_values=3, l=2)},
    )
