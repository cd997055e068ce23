"""Which attacks apply to a release, before any row is read: what cannot run at all needs no memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ldiversity.errors import UnsupportedError
from ldiversity.evaluation.attacks._base import AnyAttack, Attack, Targets
from ldiversity.evaluation.attacks._report import Skipped
from ldiversity.schema import Role

if TYPE_CHECKING:
    from ldiversity.release import Release

__all__ = ["applying", "promised_against"]


def applying(
    release: Release, chosen: Mapping[str | None, Sequence[AnyAttack]], *, scored: bool, by_name: bool
) -> tuple[dict[str | None, list[AnyAttack]], list[Skipped]]:
    """The attacks that may apply, by attribute, and the others; those that were asked for by name are refused.

    `scored` says whether there is an original.
    """
    some = _someone(release, scored=scored)
    found: dict[str | None, list[AnyAttack]] = {attribute: [] for attribute in chosen}
    skipped: list[Skipped] = []
    for attribute, several in chosen.items():
        for one in several:
            reason = None
            if attribute is not None and isinstance(one, Attack):
                reason = one.why_not(release, some, attribute)
            if reason is None:
                found[attribute].append(one)
            elif by_name:
                raise UnsupportedError("attack", f"{one.name!r} cannot be run on {attribute!r}: {reason}")
            else:
                skipped.append(Skipped(one.label, attribute, reason))
    return found, skipped


def promised_against(release: Release, attack: AnyAttack, attribute: str | None) -> bool:
    """Whether the release promises something against an attack."""
    return isinstance(attack, Attack) and attribute is not None and attack.promise(release, attribute) is not None


def _someone(release: Release, *, scored: bool) -> Targets:
    """Two rows of one person about whom nothing is known, in the place of those whom the attack is about."""
    quasi = release.schema.names(Role.QUASI)
    if not scored:
        return Targets(pa.table({}), 0, published=True)
    rows = pa.table({name: pa.nulls(2) for name in quasi})
    nobody = np.zeros(2, dtype=np.int64)
    return Targets(rows, 2, nobody.astype(np.int32), rows, np.arange(2), person=nobody)
