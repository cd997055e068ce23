"""Errors in the name of the function that was called, where another one found them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from ldiversity.errors import LDiversityError

__all__ = ["asked_of"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


def asked_of(owner: str, *inner: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Errors of these functions inside are errors of the one that was called, and say so.

    Several questions read filters and cells in the same way. What reads them names `estimate` as the owner of an error,
    which the user who asked another question never called.

    Examples
    --------
    >>> from ldiversity.errors import ParameterError
    >>> @asked_of("trend", "estimate")
    ... def trend():
    ...     raise ParameterError("estimate", "where", "must select at least one record", got="none")
    >>> trend()
    Traceback (most recent call last):
    ldiversity.errors.ParameterError: trend: where must select at least one record, got none.
    """

    def named(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(function)
        def asked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            try:
                return function(*args, **kwargs)
            except LDiversityError as error:
                if error.owner in inner:
                    error.rename(owner)
                raise

        return asked

    return named
