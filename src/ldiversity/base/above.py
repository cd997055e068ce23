"""The few looks upward: what an object of a lower room offers its users, though a higher room does it.

A model checks a table (``model.check(table)``), an estimate draws itself. The rooms that do this stand above, so they
are named, not imported, and loaded when somebody asks: no import goes upward, and none is paid for in advance.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["from_above"]


def from_above(room: str, name: str) -> Any:  # noqa: ANN401 - whatever that room calls by this name
    """A public name of a higher room."""
    return getattr(import_module(f"ldiversity.{room}"), name)
