"""Where the rows of a table are computed."""

from ldiversity.engines._base import Engine
from ldiversity.engines._choose import choose_engine, open_spark_frame
from ldiversity.engines._local import LocalEngine
from ldiversity.engines._rows import (
    BatchFunction,
    Factory,
    NumberedBatch,
    Part,
    PartFactory,
    PartFunction,
    Rows,
)
from ldiversity.engines._sample import Sampled
from ldiversity.engines._secrets import Secrets
from ldiversity.engines._tasks import task_for_each

__all__ = [
    "BatchFunction",
    "Engine",
    "Factory",
    "LocalEngine",
    "NumberedBatch",
    "Part",
    "PartFactory",
    "PartFunction",
    "Rows",
    "Sampled",
    "Secrets",
    "choose_engine",
    "open_spark_frame",
    "task_for_each",
]
