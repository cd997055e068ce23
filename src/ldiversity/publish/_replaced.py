"""What the holder should know when a release replaces another one about the same people."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ldiversity.base.checks import name_some
from ldiversity.errors import LDiversityError
from ldiversity.mechanisms import SetMechanism
from ldiversity.publish._draw import draw_context
from ldiversity.release import Release, load_release
from ldiversity.schema import Domain

__all__ = ["caution_about_classes", "caution_about_sets"]

_HOW: Final = (
    "Make one with 'ldiversity key new holder.key', and publish with it from the first release on: --key holder.key "
    "--record-id COLUMNS, in a policy [key], in Python key=Key.load('holder.key'), record_id=[COLUMNS]. If a person "
    "has several rows, name their column as person instead of record_id."
)
"""All ways to write it, because notes reach people at the command line, in policies and in Python."""


_INTERSECTED: Final = "Anyone who kept the old release can intersect the two, and often only the true value is left."
_ADDED_UP: Final = "To anyone who kept the old release, the epsilons of both add up."


def caution_about_sets(
    target: Path | None, drawn: Mapping[str, tuple[Domain, SetMechanism]], *, keyed: bool
) -> str | None:
    """What to say when sets take the place of the release at `target`; None when nothing is given away.

    `drawn` has the domain and the mechanism of each sensitive attribute, and `keyed` says whether there is a key.
    """
    old = _release_at(target)
    shared = _shared(old, drawn)
    if old is None or not shared:
        return None
    if old.grouped:
        return _about_classes(shared)
    start = f"The release that is replaced shows sets of {name_some(shared)} too"
    bounded = all(one.epsilon is not None for name in shared for one in (old.drawn_by(name), drawn[name][1]))
    gained = _ADDED_UP if bounded else _INTERSECTED
    if any(mechanism.epsilon is not None for _, mechanism in drawn.values()):  # these take no key
        return f"{start}, and these are drawn again. {gained} Do not hand out both."
    if not keyed:
        return (
            f"{start}, and these are drawn again, because there is no key. {gained} Do not hand out both. With a key, "
            f"the sets stay the same. {_HOW}"
        )
    changed = [
        name
        for name in shared
        if draw_context(name, old.domain(name), old.drawn_by(name)) != draw_context(name, *drawn[name])
    ]
    if not changed:
        return None
    return (
        f"{start}. Those of {name_some(changed)} are drawn again in spite of the key, because the domain, the method "
        f"or a parameter has changed. {gained} Do not hand out both, or publish with the domain and the parameters of "
        "the old one."
    )


def caution_about_classes(target: Path | None, sensitive: Mapping[str, object]) -> str | None:
    """What to say when classes take the place of the release at `target`; None when nothing is given away."""
    old = _release_at(target)
    shared = _shared(old, sensitive)
    return _about_classes(shared) if shared else None


def _about_classes(shared: list[str]) -> str:
    return (
        f"The release that is replaced shows {name_some(shared)} too, and records are grouped again. Anyone who "
        "kept it can intersect what the old and the new release say about a person. No key prevents that for methods "
        "that group records. Do not hand out both."
    )


def _release_at(target: Path | None) -> Release | None:
    """The release in a folder; None when there is none, or none that can be read, which is reported elsewhere."""
    if target is None or not target.exists():
        return None
    try:
        return load_release(target)
    except LDiversityError:
        return None


def _shared(old: Release | None, sensitive: Mapping[str, object]) -> list[str]:
    return [] if old is None else [name for name in sensitive if name in old.sensitive]
