"""What estimates say where a person may have several records."""

from __future__ import annotations

from typing import Final

__all__ = ["DRAWN_TOGETHER"]

DRAWN_TOGETHER: Final = (
    "A person may have several records, whose sets were drawn together, and the release does not tell whose they are. "
    "Standard errors and intervals take every record as drawn on its own: the true errors may be greater, and then "
    "intervals hold less often than stated."
)
"""A caveat about errors of every kind: records are taken as drawn on their own."""
