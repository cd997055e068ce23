"""How long a user waits for the help."""

from __future__ import annotations

import sys
from pathlib import Path

from _measure import Result, cpu_of_command


def run() -> list[Result]:
    command = str(Path(sys.executable).parent / "ldiversity")
    return [
        Result("ldiversity --help", cpu_of_command(command, "--help"), 0.3, "s CPU"),
        Result("import ldiversity", cpu_of_command(sys.executable, "-c", "import ldiversity"), 0.3, "s CPU"),
    ]
