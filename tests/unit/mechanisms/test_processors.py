"""The same is feasible on every processor: OpenBLAS has other last digits on each, and can be told which to be."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
PROCESSORS = ("Sandybridge", "Haswell", "SkylakeX")


def blas() -> str:
    configuration = np.show_config(mode="dicts") or {}
    return str(configuration.get("Build Dependencies", {}).get("blas", {}).get("name", "unknown"))


@pytest.mark.skipif("openblas" not in blas(), reason=f"NumPy has {blas()} here, which takes no OPENBLAS_CORETYPE")
@pytest.mark.skipif(
    platform.machine().lower() not in {"x86_64", "amd64"}, reason="the kernels tried here are those of x86-64"
)
@pytest.mark.parametrize("processor", PROCESSORS)
def test_decisions_are_the_same_with_the_kernels_of(processor: str) -> None:
    files = [str(HERE / "test_exact_decisions.py"), str(HERE / "test_balanced.py")]
    chosen = "rare or tiny or border or refused_as_such or decided"

    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-k", chosen, *files],
        env=os.environ | {"OPENBLAS_CORETYPE": processor, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        cwd=HERE,
    )

    if run.returncode == -getattr(signal, "SIGILL", 4):
        pytest.skip(f"this processor cannot run the kernels of {processor}")
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
