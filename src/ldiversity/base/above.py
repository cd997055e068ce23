"""The few calls upward: methods of a lower room's objects that a higher room implements.

``model.check(table)`` runs the audit, ``release.impute(m)`` draws values by an estimate, an estimate draws itself with
the pictures, and a frame of Spark is opened by the engine that reads it. These rooms are named here, not imported, and
loaded at the first call. So no import points upward, and none slows down ``import ldiversity``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["from_above"]


def from_above(room: str, name: str) -> Any:  # noqa: ANN401 - whatever has this name there
    """Load a public name of a higher room."""
    return getattr(import_module(f"ldiversity.{room}"), name)
