"""Where reports are kept: sets and coarse quasi-identifiers only, without order, time or address."""

from __future__ import annotations

from ldiversity.collection.store._store import Store
from ldiversity.collection.store._writer import Writer

__all__ = ["Store", "Writer"]
