"""Kinds of data frames for type checkers, so that a pandas frame that goes in is known to come out as one.

Nothing is imported for it when the package runs. Where a kind of frame is not installed, or has no types as pyarrow has
none, it is `Any` to a type checker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeAlias

    import pandas as pd
    import polars as pl
    from typing_extensions import TypeVar

    PandasFrame: TypeAlias = pd.DataFrame
    PolarsFrame: TypeAlias = pl.DataFrame
    PolarsTable: TypeAlias = pl.DataFrame | pl.LazyFrame
    Frame_co = TypeVar("Frame_co", covariant=True, default=Any)
else:  # Python 3.11 knows no default
    from typing import TypeVar

    PandasFrame = PolarsFrame = PolarsTable = Any
    Frame_co = TypeVar("Frame_co", covariant=True)

__all__ = ["Frame_co", "PandasFrame", "PolarsFrame", "PolarsTable"]
