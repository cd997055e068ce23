"""Where the rows of a table are computed."""

from ldiversity.engines._base import (
    BatchFunction,
    Engine,
    Factory,
    NumberedBatch,
    PartFunction,
    Secrets,
)
from ldiversity.engines._local import LocalEngine

__all__ = [
    "BatchFunction",
    "Engine",
    "Factory",
    "LocalEngine",
    "NumberedBatch",
    "PartFunction",
    "Secrets",
]
