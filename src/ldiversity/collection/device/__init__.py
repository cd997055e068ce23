"""A device that answers surveys: it hides answers, shows what it sends, and remembers what it was asked."""

from __future__ import annotations

from ldiversity.collection.device._device import Device
from ldiversity.collection.device._ledger import Repeated
from ldiversity.collection.device._preview import Hidden, Prepared, Preview

__all__ = ["Device", "Hidden", "Prepared", "Preview", "Repeated"]
