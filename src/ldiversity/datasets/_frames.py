"""The kind of frame in which a data set is returned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ldiversity.base.checks import check_choice

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FRAMES", "as_frame"]

FRAMES: Final = ("arrow", "pandas", "polars")


def as_frame(owner: str, table: pa.Table, frame: str) -> Any:  # noqa: ANN401 - the caller chooses the kind of frame
    """Return `table` as a pyarrow table, a pandas frame or a polars frame."""
    check_choice(owner, "frame", frame, FRAMES)
    if frame == "arrow":
        return table
    from ldiversity.tables import to_native

    return to_native(table, frame)
