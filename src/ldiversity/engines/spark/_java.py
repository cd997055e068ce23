"""Java for a Spark that is started on this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from ldiversity.errors import UnsupportedError

__all__ = ["check_java"]

_OLDEST: Final = 17
_SECONDS: Final = 30
_HINT: Final = "Install Java 17 or newer, and let JAVA_HOME name its folder; or use a Spark that runs elsewhere."


def check_java() -> None:
    """Raise `UnsupportedError` unless the Java that Spark would start is new enough.

    Spark takes the one in JAVA_HOME, and otherwise the one in PATH.
    """
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if java is None:
        got = "none in the folder that JAVA_HOME names" if home else "none in JAVA_HOME or PATH"
        raise UnsupportedError("spark", f"needs Java {_OLDEST} or newer on this machine", got=got, hint=_HINT)
    version = _version(java)
    if version is None or version < _OLDEST:
        got = "one that does not start" if version is None else f"Java {version}"
        raise UnsupportedError("spark", f"needs Java {_OLDEST} or newer on this machine", got=got, hint=_HINT)


def _version(java: str) -> int | None:
    try:
        said = subprocess.run(  # noqa: S603 - the program that Spark itself would start
            [java, "-version"], capture_output=True, text=True, timeout=_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', said.stderr + said.stdout)
    return None if found is None else int(found[1])
