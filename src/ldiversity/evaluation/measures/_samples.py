"""Small releases for examples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ldiversity.models import FrequencyDiversity
from ldiversity.release import ClassRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

__all__ = ["bucketized"]


def bucketized(class_of: Sequence[int], *, suppressed: int = 0) -> ClassRelease:
    """Make a release with these classes, ages 20, 21, ..., and a different disease for each record of a class.

    Examples
    --------
    >>> bucketized([0, 0, 1, 1]).sensitive_table.to_pylist()[0]
    {'class_id': 1, 'value': 'd0', 'count': 1}
    """
    classes = np.asarray(class_of, dtype=np.int32)
    codes = np.array([np.count_nonzero(classes[:row] == own) for row, own in enumerate(classes)], dtype=np.int32)
    values = Domain(tuple(f"d{code}" for code in range(int(codes.max()) + 1)))
    return ClassRelease.in_memory(
        schema=Schema(
            (Attribute("age", Role.QUASI, "int64"), Attribute("disease", Role.SENSITIVE, "string", values)),
        ),
        layout="bucketized",
        rules={"disease": FrequencyDiversity(l=2)},
        class_of=classes,
        values={"disease": codes},
        columns=pa.table({"age": np.arange(20, 20 + len(classes))}),
        suppressed=suppressed,
    )
