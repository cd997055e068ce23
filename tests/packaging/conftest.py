"""The package as a stranger gets it: built, and installed into an empty environment, with no repository around."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_BUILD = "from hatchling.build import build_{0}; print(build_{0}({1!r}))"


def build(kind: str, folder: Path) -> Path:
    """Build a wheel or an sdist from the files of the repository."""
    done = subprocess.run(
        [sys.executable, "-c", _BUILD.format(kind, str(folder))], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return folder / done.stdout.split()[-1]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    pytest.importorskip("hatchling", reason="hatchling, which builds the package, is not installed: not run without it")
    return build("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built archive of sources."""
    pytest.importorskip("hatchling", reason="hatchling, which builds the package, is not installed: not run without it")
    return build("sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="session")
def stranger(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that has the wheel, and what it requires without extras, and nothing else."""
    folder = tmp_path_factory.mktemp("stranger")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", wheel]
    done = subprocess.run(list(map(str, command)), check=False, capture_output=True, text=True, env=outside())
    if done.returncode:
        pytest.skip("pip could not install what the package requires (no package index?): not run without it")
    return python


@pytest.fixture(scope="session")
def notebook_runner(stranger: Path, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that also has a Jupyter kernel, and the extra for regressions."""
    folder = tmp_path_factory.mktemp("jupyter")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    (below,) = stranger.parents[1].glob("lib/python*/site-packages")
    (own,) = folder.glob("lib/python*/site-packages")
    (own / "stranger.pth").write_text(f"{below}\n")  # what is installed there need not be installed again
    wanted = ["ipykernel", "nbclient", f"{wheel}[regression]"]
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", *wanted]
    done = subprocess.run(list(map(str, command)), check=False, capture_output=True, text=True, env=outside())
    if done.returncode:
        pytest.skip("pip could not install a Jupyter kernel (no package index?): not run without it")
    return python


def outside() -> dict[str, str]:
    """The environment of a process to which the repository is not known."""
    return {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
