"""What is in the wheel and in the archive of sources, and what a package index shows."""

from __future__ import annotations

import re
import tarfile
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

from tests.packaging.conftest import build

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
MOST_BYTES = 2_000_000


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    return metadata_of(wheel)


def metadata_of(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(wheel: Path) -> None:
    files = (path for path in (SOURCE / "ldiversity").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    own = {path.relative_to(SOURCE).as_posix() for path in files}
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}

    assert packed == own
    assert {"ldiversity/py.typed", "ldiversity/__init__.pyi"} <= packed


def test_the_archive_of_sources_is_small_and_builds_what_the_repository_builds(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert sdist.stat().st_size < MOST_BYTES
    assert not [name for name in names if name.startswith(("docs/gallery", "tests/", "papers/"))]
    needed = {"pyproject.toml", "README.md", "LICENSE", "tools/package_metadata.py", "SECURITY.md", "CITATION.cff"}
    assert needed <= names


def test_the_index_shows_a_readme_without_links_into_the_repository(metadata: Message) -> None:
    text = metadata.get_payload()

    assert isinstance(text, str)
    assert "# ldiversity" in text
    assert "make demo" in text
    assert "`pip install ldiversity` and `ldiversity demo" in text  # a stranger has no Makefile
    assert "![" not in text
    assert not re.findall(r"\]\((?!https?://)", text)


def test_the_metadata_names_authors_licence_and_versions_of_python(metadata: Message) -> None:
    assert metadata["Author"] == "ldiversity contributors"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    classifiers = metadata.get_all("Classifier") or []
    assert "Typing :: Typed" in classifiers
    versions = [text.rpartition(" ")[2] for text in classifiers if re.search(r"Python :: 3\.\d+$", text)]
    assert versions[0] == metadata["Requires-Python"].removeprefix(">=")
    assert versions == [f"3.{minor}" for minor in range(11, 11 + len(versions))]


def test_a_package_that_a_forge_builds_names_its_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("hatchling", reason="hatchling, which builds the package, is not installed: not run without it")
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://forge.example")
    monkeypatch.setenv("GITHUB_REPOSITORY", "people/ldiversity")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(ROOT))
    links = dict(text.split(", ") for text in metadata_of(build("wheel", tmp_path)).get_all("Project-URL") or [])

    home = "https://forge.example/people/ldiversity"
    assert links.pop("Homepage") == home
    assert links.pop("Issues") == f"{home}/issues"
    assert {"Documentation", "Changelog"} <= links.keys()
    for url in links.values():
        assert (ROOT / url.removeprefix(f"{home}/blob/HEAD/")).is_file(), url


@pytest.mark.parametrize("job", ["none", "of another project"])
def test_a_package_that_is_built_elsewhere_names_no_address(
    job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("hatchling", reason="hatchling, which builds the package, is not installed: not run without it")
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    if job != "none":
        monkeypatch.setenv("GITHUB_SERVER_URL", "https://forge.example")
        monkeypatch.setenv("GITHUB_REPOSITORY", "others/needs-ldiversity")
        monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))

    assert metadata_of(build("wheel", tmp_path)).get_all("Project-URL") is None


def test_what_a_forge_and_contributors_look_for_is_there() -> None:
    workflow = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "workflows").iterdir())

    assert "bash .ci/run" in workflow
    assert (ROOT / ".pre-commit-config.yaml").is_file()
    for name, says in {"SECURITY.md": "threat", "CODE_OF_CONDUCT.md": "report", "CITATION.cff": "authors"}.items():
        assert says in (ROOT / name).read_text(encoding="utf-8").lower()


def test_the_citation_has_the_version_of_the_package(metadata: Message) -> None:
    assert f"\nversion: {metadata['Version']}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
