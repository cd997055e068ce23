"""What cannot run on a machine is said in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_without_java_the_tests_of_spark_are_skipped_in_one_line(tmp_path: Path) -> None:
    files = [f"tests/spark/test_{name}.py" for name in ("audit", "secrets_stay", "staging")]
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *files]
    environment = os.environ | {"JAVA_HOME": str(tmp_path)}

    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, env=environment)

    lines = [line for line in done.stdout.splitlines() if line.startswith("SKIPPED")]
    assert len(lines) == 1, done.stdout
    assert "the tests of Spark are not run: spark: " in lines[0]
    assert int(lines[0].partition("[")[2].partition("]")[0]) > 2
