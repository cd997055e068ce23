"""Write the pages of the reference: one per room, with exactly the public names, as Sphinx reads them."""

from __future__ import annotations

from importlib import import_module
from inspect import isclass, ismodule
from pathlib import Path
from typing import Final

import ldiversity

__all__ = ["public_names", "write_reference"]

_TITLES: Final = {
    "publish": "Publishing",
    "methods": "Methods",
    "models": "Privacy models",
    "release": "Releases",
    "estimation": "Estimates and inference",
    "evaluation": "Audits, attacks, measures and comparisons",
    "faces": "Reports",
    "tables": "Tables",
    "hierarchies": "Hierarchies",
    "distances": "Distances",
    "collection": "Collecting",
    "engines": "Engines",
    "datasets": "Data sets",
    "errors": "Errors",
}
_ELSE: Final = "Keys, domains and the rest"


def public_names() -> dict[str, list[str]]:
    """The public names by the title of their page, in the order of the titles."""
    pages: dict[str, list[str]] = {title: [] for title in [*_TITLES.values(), _ELSE]}
    for name in ldiversity.__all__:
        thing = getattr(ldiversity, name)
        home = thing.__name__ if ismodule(thing) else getattr(thing, "__module__", "ldiversity")
        pages[_TITLES.get(home.split(".")[1] if "." in home else "", _ELSE)].append(name)
    return {title: names for title, names in pages.items() if names}


def write_reference(folder: Path) -> None:
    """Write one page per title; pages of before are removed."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.rst"):
        old.unlink()
    for title, names in public_names().items():
        lines = [title, "=" * len(title), "", ".. currentmodule:: ldiversity", ""]
        for name in names:
            lines += _entry(name)
        file = folder / f"{title.split()[0].lower().strip(',')}.rst"
        file.write_text("\n".join(lines), encoding="utf-8")


def _entry(name: str) -> list[str]:
    thing = getattr(ldiversity, name)
    if ismodule(thing):
        inner = import_module(thing.__name__)
        lines: list[str] = []
        for child in getattr(inner, "__all__", ()):
            found = getattr(inner, child)
            kind = "class" if isclass(found) else "function" if callable(found) else "data"
            lines += [f".. auto{kind}:: {thing.__name__}.{child}", ""]
        return lines
    if isinstance(thing, str):
        return [f".. data:: {name}", "", "   The version of the package.", ""]
    return [f".. auto{'class' if isclass(thing) else 'function'}:: {name}", ""]
