"""A contract of import-linter: what a room keeps for itself is imported by nobody else.

A module whose name begins with an underscore belongs to the package in which it stands. Other rooms import the names
that the package gives out. Rooms are found, not listed: a new one is held to the rule from its first file on.
"""

from __future__ import annotations

import grimp
from importlinter import Contract, ContractCheck, output

__all__ = ["PrivateImports"]


class PrivateImports(Contract):
    """Private modules are imported from within their own package alone."""

    type_name = "private"

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002, FBT001 - as import-linter calls it
        """Look at every import of the package."""
        strange = [
            (importer, imported)
            for imported in sorted(graph.modules)
            for importer in sorted(graph.find_modules_that_directly_import(imported))
            if (home := _home(imported)) is not None and not f"{importer}.".startswith(f"{home}.")
        ]
        return ContractCheck(kept=not strange, metadata={"strange": strange})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Name each import that reaches into another room."""
        for importer, imported in check.metadata["strange"]:
            output.print_error(f"{importer} must import from {_home(imported)}, not from {imported}.")
            output.new_line()


def _home(module: str) -> str | None:
    """The package to which a module belongs, when it or a package around it is private."""
    parts = module.split(".")
    private = next((place for place, part in enumerate(parts) if part.startswith("_")), None)
    return ".".join(parts[:private]) if private else None  # not `__future__`, which is nobody's
