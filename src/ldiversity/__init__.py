"""Publish tables about people so that nobody learns any one person's sensitive value, and analyze what was published.

The data holder calls `anonymize`; the data user calls `load_release` and `estimate`. Names are loaded when they are
first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def _read_homes() -> dict[str, str]:
    """The module of each public name, read from the stub beside this file, so that names are listed once."""
    stub = __spec__.loader.get_data(f"{__file__.rpartition('.')[0]}.pyi").decode()  # from a zip file, too
    imports = (line.split() for line in stub.splitlines() if line.startswith("from "))
    return {name: home for _, home, _, name, *_ in imports}


_HOMES = _read_homes()

__all__ = sorted(_HOMES)  # noqa: PLE0605 - all of them are texts


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public object
    if name not in _HOMES:
        raise AttributeError(f"module 'ldiversity' has no attribute {name!r}")
    home = _HOMES[name]
    # A module that is public itself is imported from the package, which does not have it yet.
    loaded = import_module(f"ldiversity.{name}") if home == "ldiversity" else getattr(import_module(home), name)
    globals()[name] = loaded
    return loaded


def __dir__() -> list[str]:
    return __all__
