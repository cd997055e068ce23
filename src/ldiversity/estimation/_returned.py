"""What an estimator returns, which may come from another package, is checked before it becomes an estimate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from ldiversity.errors import UnsupportedError

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray

__all__ = ["checked_names", "checked_numbers", "checks_names", "named_inside", "noted"]

Returned = TypeVar("Returned")
_INSIDE: Final[ContextVar[set[str] | None]] = ContextVar("inside", default=None)
"""Who solved cells for the estimator that runs."""


def noted(names: Iterable[str]) -> None:
    """Say that these estimators did work for the one that runs, which may then name them."""
    inside = _INSIDE.get()
    if inside is not None:
        inside.update(names)


def named_inside(solve: Callable[[], Returned]) -> tuple[Returned, set[str]]:
    """Solve, and say which estimators were handed cells on the way.

    Examples
    --------
    >>> named_inside(lambda: noted(["linear"]))
    (None, {'linear'})
    """
    inside: set[str] = set()
    token = _INSIDE.set(inside)
    try:
        return solve(), inside
    finally:
        _INSIDE.reset(token)


def checked_names(name: str, said: tuple[str, ...], inside: set[str], n_cells: int) -> None:
    """Refuse an estimator that does not name who estimated each cell, or names one that it handed nothing to."""
    if len(said) != n_cells:
        raise _wrong(name, f"must name the estimator of each of {n_cells} cells", got=len(said))
    others = sorted(set(said) - {name} - inside)
    if others:
        raise _wrong(name, f"must name itself, or an estimator to which it handed cells, and not {others[0]!r}")
    noted(said)


def checked_numbers(name: str, numbers: Mapping[str, FloatArray], shape: tuple[int, ...]) -> None:
    """Refuse counts of another shape, and what is not a number."""
    for what, array in numbers.items():
        if np.shape(array) != shape:
            raise _wrong(name, f"must return {what} of shape {shape}", got=np.shape(array))
        if not np.isfinite(array).all():
            raise _wrong(name, f"must return {what} that are finite numbers")


def checks_names(solve: Callable[..., Any]) -> Callable[..., Any]:
    """Check whom a class estimator names; what it returns has one name for all cells."""

    @wraps(solve)
    def solved(self: Any, cells: Any) -> Any:  # noqa: ANN401 - as it was
        solution, inside = named_inside(lambda: solve(self, cells))
        checked_names(self.name, (solution.estimator,), inside, 1)
        return solution

    return solved


def _wrong(name: str, rule: str, got: object = None) -> UnsupportedError:
    return UnsupportedError("estimate", f"the estimator {name!r} {rule}", got=got).with_hint(
        "Use another estimator, and tell the author of this one."
    )
