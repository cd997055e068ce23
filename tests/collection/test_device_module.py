"""The device module in JavaScript: in Node, in a real browser, and as a package for npm."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from ldiversity import __version__

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests" / "collection" / "device"
MODULE = ROOT / "src" / "ldiversity" / "collection" / "static" / "device"
VECTORS = ROOT / "tests" / "data" / "collection" / "draw_vectors.json"
CASES = VECTORS.with_name("survey_cases.json")
ORIGIN = "https://device.test"


@pytest.mark.parametrize("file", sorted(path.name for path in TESTS.glob("*.test.mjs")))
def test_node_passes(node: str, file: str) -> None:
    done = subprocess.run([node, "--test", str(TESTS / file)], check=False, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout[-5000:]
    assert re.search(r"^# pass [1-9]", done.stdout, re.MULTILINE)


def test_a_failing_test_of_node_fails_here(node: str, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.test.mjs"
    wrong.write_text('import { test } from "node:test"; test("wrong", () => { throw new Error("planted"); });')

    assert subprocess.run([node, "--test", str(wrong)], check=False, capture_output=True).returncode != 0


def _answer(route: Route) -> None:
    """The module and its tests, from the repository, and an empty page; nothing else is on this network."""
    path = ROOT / urlsplit(route.request.url).path.lstrip("/")
    if path.suffix in {".js", ".mjs"} and (MODULE in path.parents or TESTS in path.parents):
        route.fulfill(body=path.read_bytes(), content_type="text/javascript")
    else:
        route.fulfill(body="<!doctype html><title>A page</title>", content_type="text/html")


def _open(chromium: Browser) -> Page:
    page = chromium.new_context().new_page()
    page.route("**/*", _answer)
    page.goto(f"{ORIGIN}/")
    return page


def _compare(page: Page, vectors: dict[str, Any]) -> dict[str, Any]:
    script = "async (vectors) => (await import('/tests/collection/device/vectors.mjs')).compare(vectors)"
    return dict(page.evaluate(script, vectors))


def test_a_real_browser_draws_what_python_draws(chromium: Browser) -> None:
    vectors = json.loads(VECTORS.read_text(encoding="utf-8"))
    page = _open(chromium)

    found = _compare(page, vectors)
    vectors["draws"][0]["sets"][3][0] += 1
    vectors["draws"] = vectors["draws"][:1]
    planted = _compare(page, vectors)

    assert found["faults"] == []
    assert found["compared"] >= 8000
    assert planted["faults"] == ["draw 0.3"]


def test_a_real_browser_decides_on_surveys_as_the_shared_list_says(chromium: Browser) -> None:
    shared = json.loads(CASES.read_text(encoding="utf-8"))
    script = "async (shared) => (await import('/tests/collection/device/cases.mjs')).wrongly(shared)"

    assert _open(chromium).evaluate(script, shared) == []


def test_the_package_for_npm_has_the_module_and_nothing_else(tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed: install npm to test the package for JavaScript")
    command = [npm, "pack", "--dry-run", "--json", "--cache", str(tmp_path), "--offline"]
    packed = json.loads(subprocess.run(command, check=True, cwd=MODULE, capture_output=True, text=True).stdout)[0]

    modules = {path.name for path in MODULE.glob("*.js")}
    assert {file["path"] for file in packed["files"]} == modules | {
        "package.json",
        "index.d.ts",
        "README.md",
        "LICENSE",
    }
    assert packed["name"] == "ldiversity-device"


def test_the_package_for_npm_is_in_step_with_this_one() -> None:
    described = json.loads((MODULE / "package.json").read_text(encoding="utf-8"))

    assert described["version"] == __version__
    assert described["license"] == "Apache-2.0"
    assert (MODULE / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert not {"dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "scripts"} & set(
        described
    )


def test_the_module_is_part_of_the_installed_package() -> None:
    folder = files("ldiversity") / "collection" / "static" / "device"

    assert (folder / "index.js").is_file()
    assert (folder / "package.json").is_file()


@pytest.mark.parametrize(
    "page", [MODULE / "README.md", ROOT / "docs" / "guides" / "device-module.md"], ids=lambda p: p.name
)
def test_examples_import_what_the_module_exports_and_declares(page: Path) -> None:
    used = re.findall(r"import \{ ([^}]+) \} from \"ldiversity-device\"", page.read_text(encoding="utf-8"))
    exported = re.findall(
        r"export (?:async )?(?:function|\{) ([^}(]+)", (MODULE / "index.js").read_text(encoding="utf-8")
    )
    public = {name.strip() for names in exported for name in names.split(",")}
    declared = re.findall(r"^export (?:function|class) (\w+)", (MODULE / "index.d.ts").read_text("utf-8"), re.MULTILINE)

    assert used
    assert {name.strip() for names in used for name in names.split(",")} <= public
    assert set(declared) == public


@pytest.mark.parametrize("path", sorted(MODULE.glob("*.js")), ids=lambda path: path.name)
def test_every_file_is_small_and_imports_its_neighbors_only(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    imported = re.findall(r"""(?:from|import\()\s*["']([^"']+)["']""", source)

    assert source.count("\n") <= 400
    assert max(map(len, source.splitlines())) <= 180
    assert all(re.fullmatch(r"\./[a-z]+\.js", name) and (MODULE / name).is_file() for name in imported)
    assert not re.search(r"Math\.random|eval\(|innerHTML|console\.|localStorage|document\.", source)


def test_the_module_is_small() -> None:
    """It leaves most of a page's 100 kB to the page; blind tokens are loaded when they are needed."""
    always = [path.read_bytes() for path in MODULE.glob("*.js") if not path.name.startswith("blind")]

    assert sum(map(len, always)) < 85_000
    assert sum(len(gzip.compress(content, 9)) for content in always) < 33_000
