"""What the holder should know when a release takes the place of one about the same people."""

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
    "--record-id COLUMNS, in a policy [key], in Python key=Key.load('holder.key'), record_id=[COLUMNS]."
)
"""Both ways to write it, as notes are read by those who type and by those who program."""


def caution_about_sets(
    target: Path | None, drawn: Mapping[str, tuple[Domain, SetMechanism]], *, keyed: bool
) -> str | None:
    """What to say when sets take the place of the release at `target`; None when nothing is given away.

    Parameters
    ----------
    target
        The folder that is to be replaced; None when none is.
    drawn
        For each sensitive attribute, what its sets are drawn from.
    keyed
        Whether they are drawn with a key.
    """
    old = _release_at(target)
    shared = _shared(old, drawn)
    if old is None or not shared:
        return None
    if old.grouped:
        return _about_classes(shared)
    start = f"The release that is replaced shows sets of {name_some(shared)} too"
    if not keyed:
        return (
            f"{start}, and these are drawn anew, because there is no key: whoever kept it can intersect both, and "
            f"often only the true value is left. Do not hand out both. With a key the same sets come again. {_HOW}"
        )
    changed = [
        name
        for name in shared
        if draw_context(name, old.domain(name), old.drawn_by(name)) != draw_context(name, *drawn[name])
    ]
    if not changed:
        return None
    return (
        f"{start}. Those of {name_some(changed)} are drawn anew in spite of the key, because the domain, the method or "
        "a parameter is another: whoever kept the old release can intersect both, and often only the true value is "
        "left. Do not hand out both, or publish with the domain and the parameters of the old one."
    )


def caution_about_classes(target: Path | None, sensitive: Mapping[str, object]) -> str | None:
    """What to say when classes take the place of the release at `target`; None when nothing is given away."""
    old = _release_at(target)
    shared = _shared(old, sensitive)
    return _about_classes(shared) if shared else None


def _about_classes(shared: list[str]) -> str:
    return (
        f"The release that is replaced shows {name_some(shared)} too, and records are grouped anew: whoever kept it "
        "can intersect what the old and the new release say about a person. No key prevents that for methods that "
        "group records. Do not hand out both."
    )


def _release_at(target: Path | None) -> Release | None:
    """The release that is there; None when there is none, or none that can be read, about which others complain."""
    if target is None or not target.exists():
        return None
    try:
        return load_release(target)
    except LDiversityError:
        return None


def _shared(old: Release | None, sensitive: Mapping[str, object]) -> list[str]:
    return [] if old is None else [name for name in sensitive if name in old.sensitive]
