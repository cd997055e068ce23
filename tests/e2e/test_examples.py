"""The examples run as they stand, and so do the examples in the guides."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
GUIDES = sorted(path for path in (ROOT / "docs").rglob("*.md") if ">>> " in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_says_something(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(example)], check=True, capture_output=True, text=True, cwd=tmp_path, timeout=300
    )

    assert len(done.stdout.splitlines()) > 3


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_the_python_lines_of_a_guide_give_what_they_show(
    guide: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "\n".join("" if line.startswith("```") else line for line in guide.read_text(encoding="utf-8").splitlines())
    test = doctest.DocTestParser().get_doctest(text, {}, guide.name, str(guide), 0)

    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(test)

    assert result.attempted
    assert not result.failed
