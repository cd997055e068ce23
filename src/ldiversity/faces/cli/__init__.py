"""The command line: parse, call one public function, show what it returned."""

from __future__ import annotations

from ldiversity.faces.cli._main import cli, main

__all__ = ["cli", "main"]
