"""The names that terms of a formula see when they are evaluated, besides the columns.

Terms are checked before (`_term`). This is the second line of defense: whatever is not listed there is nothing here,
and so are the built-in functions of Python.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Collection, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from ldiversity.estimation._regression._term import CONTRASTS, FUNCTIONS, OF_NUMPY

__all__ = ["known_names"]


def known_names(whole: Collection[str]) -> Mapping[str, object]:
    """The functions of formulas by name; every other name that formulaic or Python would find is None.

    Parameters
    ----------
    whole
        The columns of whole numbers, which are evaluated as floating point.

    Examples
    --------
    >>> names = known_names([])
    >>> names["open"], names["__import__"], names["hashed"], hasattr(names["np"], "load")
    (None, None, None, False)
    """
    from formulaic.transforms import TRANSFORMS

    return {
        **dict.fromkeys([*dir(builtins), *TRANSFORMS]),
        **{name: TRANSFORMS[name] for name in FUNCTIONS},
        "C": _categories(TRANSFORMS["C"], whole),
        "np": SimpleNamespace(**{name: getattr(np, name) for name in OF_NUMPY}),
        "contr": SimpleNamespace(**{name: getattr(TRANSFORMS["contr"], name) for name in CONTRASTS}),
    }


def _categories(of_formulaic: Callable[..., Any], whole: Collection[str]) -> Callable[..., Any]:
    """`C` that names categories of whole numbers 1, 2, 3, and not 1.0, 2.0, 3.0."""

    @functools.wraps(of_formulaic)
    def categories(data: Any, *args: Any, **given: Any) -> Any:  # noqa: ANN401 - as formulaic has it
        if getattr(data, "name", None) in whole and data.dtype == np.float64 and (data % 1 == 0).all():
            data = data.astype(np.int64)
        return of_formulaic(data, *args, **given)

    return categories
