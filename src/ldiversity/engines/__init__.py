"""Where batches of rows are computed."""

from ldiversity.engines._base import BatchFunction, Engine
from ldiversity.engines._local import LocalEngine

__all__ = ["BatchFunction", "Engine", "LocalEngine"]
