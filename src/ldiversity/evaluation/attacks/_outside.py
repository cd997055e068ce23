"""Attacks of other packages run by themselves: what they return is checked, and what they raise stops no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ldiversity.errors import LDiversityError, UnsupportedError
from ldiversity.evaluation.attacks._base import AnyAttack, Attack, Beliefs, Targets
from ldiversity.release import Release

__all__ = ["FaultyAttackError", "believed", "run_by_itself"]

Found = TypeVar("Found")
_OWN: Final = "ldiversity"
_TOLERANCE: Final = 1e-6


class FaultyAttackError(UnsupportedError):
    """An attack that fails, or that returns no beliefs; `why` is the reason without its name."""

    def __init__(self, attack: AnyAttack, what: str) -> None:
        package = type(attack).__module__.partition(".")[0]
        self.why = f"the attack of the package {package!r} {what}"
        super().__init__("attack", f"{attack.name!r} cannot be run: {self.why}")


def run_by_itself(attack: AnyAttack, run: Callable[[], Found]) -> Found:
    """Run a part of an attack; a fault of another package becomes `FaultyAttackError`, which quotes nothing of it."""
    try:
        return run()
    except (LDiversityError, MemoryError):
        raise
    except Exception as fault:
        if type(attack).__module__.partition(".")[0] == _OWN:
            raise
        raise FaultyAttackError(attack, f"failed ({type(fault).__name__})") from None


def believed(attack: Attack, release: Release, targets: Targets, attribute: str) -> Beliefs:
    """The beliefs of an attack, or `FaultyAttackError` if they are none."""
    beliefs = run_by_itself(attack, lambda: attack.beliefs(release, targets, attribute))
    fault = _fault(beliefs, targets.n, len(release.domain(attribute)))
    if fault is not None:
        raise FaultyAttackError(attack, fault)
    return beliefs


def _fault(beliefs: Beliefs, n: int, n_values: int) -> str | None:
    """What is wrong with beliefs about so many targets; None when nothing is."""
    if not isinstance(beliefs, Beliefs):
        return "returns no Beliefs"
    alike = beliefs.alike
    if alike is not None and np.shape(alike) != (n_values, n_values):
        return f"says which values are alike in another shape than ({n_values}, {n_values})"
    shares = np.asarray(beliefs.probability)
    own = _fault_of_shares(shares, n_values) or _fault_of_rows(np.asarray(beliefs.of_target), n, len(shares))
    return own or next((fault for one in beliefs.without if (fault := _fault(one, n, n_values))), None)


def _fault_of_shares(shares: NDArray[Any], n_values: int) -> str | None:
    if shares.shape[1:] != (n_values,):
        return f"returns probabilities of another shape than (rows, {n_values})"
    if not np.isfinite(shares).all() or shares.min(initial=0.0) < -_TOLERANCE:
        return "returns probabilities that are negative or not finite"
    if shares.sum(axis=1).max(initial=0.0) > 1 + _TOLERANCE:
        return "returns probabilities that add up to more than 1"
    return None


def _fault_of_rows(rows: NDArray[Any], n: int, n_beliefs: int) -> str | None:
    if rows.shape != (n,) or not np.issubdtype(rows.dtype, np.integer):
        return f"does not name a row of beliefs for each of {n} targets"
    if rows.min(initial=-1) < -1 or rows.max(initial=-1) >= n_beliefs:
        return "names rows of beliefs that it does not return"
    return None
