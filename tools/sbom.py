"""Say what is installed with the package, with versions and licences: a bill of materials in CycloneDX's JSON.

    make sbom                            writes sbom.json for the environment of the project, with all extras for users
    python tools/sbom.py collect         what the package needs with the extra "collect", on standard output
    python tools/sbom.py --all-extras    what it needs with all extras but those of its developers

It lists the packages that are installed here, so that versions are those that run.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any, Final

from packaging.requirements import Requirement

__all__ = ["bill_of_materials", "extras_for_users", "needed_packages"]

_FOR_DEVELOPERS: Final = frozenset({"bench", "dev", "docs", "test"})

_LONGEST: Final = 100
"""Some packages put the whole text of their licence where its name belongs."""


def extras_for_users() -> list[str]:
    """Give the extras that somebody who uses the package may install."""
    return sorted(set(distribution("ldiversity").metadata.get_all("Provides-Extra") or ()) - _FOR_DEVELOPERS)


def bill_of_materials(extras: Iterable[str] = ()) -> dict[str, Any]:
    """Give the bill of materials of the package and of all that it needs, directly or not."""
    needed = needed_packages(extras)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": _component(needed.pop("ldiversity"), "application")},
        "components": [_component(needed[name], "library") for name in sorted(needed)],
    }


def needed_packages(extras: Iterable[str] = ()) -> dict[str, Distribution]:
    """Give the package and all that it needs with these extras, directly or not, as they are installed here."""
    needed: dict[str, Distribution] = {}
    wanted = [("ldiversity", frozenset(extras))]
    seen = set(wanted)
    for name, chosen in wanted:  # grows while it is walked through
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue  # a requirement of another system, or an extra that is not installed
        needed[_plain(name)] = found
        for text in found.requires or ():
            requirement = Requirement(text)
            if _applies(requirement, chosen):
                step = (requirement.name, frozenset(requirement.extras))
                if step not in seen:
                    seen.add(step)
                    wanted.append(step)
    return needed


def _applies(requirement: Requirement, extras: frozenset[str]) -> bool:
    if requirement.marker is None:
        return True
    return any(requirement.marker.evaluate({"extra": extra}) for extra in extras or {""})


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _component(found: Distribution, kind: str) -> dict[str, Any]:
    name, version = _plain(found.metadata["Name"]), found.version
    component = {"type": kind, "name": name, "version": version, "purl": f"pkg:pypi/{name}@{version}"}
    return component | {"licenses": [_licence(found)]}


def _licence(found: Distribution) -> dict[str, Any]:
    expression = found.metadata.get("License-Expression")
    if expression:
        return {"expression": expression}
    classifiers = found.metadata.get_all("Classifier") or ()
    named = [text.rpartition(" :: ")[2] for text in classifiers if text.startswith("License :: ")]
    text = (found.metadata.get("License") or "").strip()
    short = text if text and len(text) < _LONGEST and "\n" not in text else ""
    return {"license": {"name": short or ", ".join(named) or "not declared"}}


if __name__ == "__main__":
    asked = extras_for_users() if sys.argv[1:] == ["--all-extras"] else sys.argv[1:]
    print(json.dumps(bill_of_materials(asked), indent=2))
