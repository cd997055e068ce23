"""Everything on the first page works from the wheel alone, in an environment that has nothing else."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT, outside

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
FIRST_RELEASE = next(text for kind, text in BLOCKS if not kind and "ldiversity describe" in text)
PYTHON = "\n".join(text for kind, text in BLOCKS if kind == "python")
DEMO = next(iter(re.findall(r"`ldiversity (demo [^`]*)`", README)))
COLLECT = next(text for kind, text in BLOCKS if not kind and "collect new" in text)


def run(python: Path, *words: str, folder: Path, code: int = 0) -> str:
    done = subprocess.run(
        [str(python), *words], cwd=folder, check=False, capture_output=True, text=True, env=outside(), timeout=300
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def demo(stranger: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the demonstration leaves."""
    folder = tmp_path_factory.mktemp("demo")
    run(stranger, "-m", "ldiversity", *shlex.split(DEMO), folder=folder)
    return folder / "demo-output"


def commands(block: str) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in block.splitlines())
    return [line.removeprefix("ldiversity ") for line in lines if line.startswith("ldiversity ")]


def test_the_package_comes_from_the_wheel_and_has_a_version(stranger: Path, tmp_path: Path) -> None:
    home = run(stranger, "-c", "import ldiversity; print(ldiversity.__file__)", folder=tmp_path)

    assert "site-packages" in home
    assert re.search(r"ldiversity \d", run(stranger, "-m", "ldiversity", "--version", folder=tmp_path))


def test_the_first_release_is_made_as_the_page_says_and_shown_in_notebooks(stranger: Path, demo: Path) -> None:
    """All commands in their order; then, in the same folder, the page's Python to the letter, with no other name."""
    asked = commands(FIRST_RELEASE)

    assert len(asked) >= 5
    for command in asked:
        run(stranger, "-m", "ldiversity", *shlex.split(command), folder=demo)
    assert (demo / "shares.png").stat().st_size

    shown = "print(*('<table' in shown._repr_html_() for shown in (release, estimate)))\n"
    assert run(stranger, "-c", PYTHON + shown, folder=demo).split() == ["True", "True"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_where_only_its_file_is(stranger: Path, example: Path, tmp_path: Path) -> None:
    copy = tmp_path / example.name
    copy.write_text(example.read_text(encoding="utf-8"), encoding="utf-8")

    assert len(run(stranger, str(copy), folder=tmp_path).splitlines()) > 3


RUN_NOTEBOOK = """
import sys, nbformat
from nbclient import NotebookClient
done = NotebookClient(nbformat.read(sys.argv[1], as_version=4), timeout=300, kernel_name="python3").execute()
for cell in done.cells:
    for output in cell.get("outputs", ()):
        print(output.output_type, *output.get("data", {}))
        print(output.get("text", ""))
"""


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_in_a_kernel_and_keeps_no_output(notebook_runner: Path, notebook: Path, tmp_path: Path) -> None:
    content = notebook.read_text(encoding="utf-8")
    (tmp_path / notebook.name).write_text(content, encoding="utf-8")

    shown = run(notebook_runner, "-c", RUN_NOTEBOOK, notebook.name, folder=tmp_path)

    assert '"outputs": []' in content
    assert '"output_type"' not in content
    assert "text/html" in shown
    assert "error" not in shown.split()


def test_shells_complete_commands(stranger: Path, tmp_path: Path) -> None:
    asked = outside() | {"COMP_WORDS": "ldiversity an", "COMP_CWORD": "1", "_LDIVERSITY_COMPLETE": "bash_complete"}
    command = stranger.with_name("ldiversity")

    done = subprocess.run([str(command)], cwd=tmp_path, check=True, capture_output=True, text=True, env=asked)

    assert done.stdout.split() == ["plain,anonymize"]


def test_what_an_extra_is_needed_for_says_so_in_a_sentence(stranger: Path, tmp_path: Path) -> None:
    first = commands(COLLECT)
    run(stranger, "-m", "ldiversity", *shlex.split(first[0]), folder=tmp_path)

    said = run(stranger, "-m", "ldiversity", *shlex.split(first[1]), folder=tmp_path, code=2)

    assert "ldiversity[collect]" in said
