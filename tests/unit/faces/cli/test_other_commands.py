from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import Result

import ldiversity as ld
from ldiversity.faces.cli.schemas import documents, json_schema, schema_text, write_schemas

Run = Callable[..., Result]
Facts = Callable[..., dict[str, Any]]

DOCS = Path(__file__).parents[4] / "docs" / "schemas"


# --- key -------------------------------------------------------------------------------------------------


def test_a_new_key_can_be_loaded_and_only_by_its_owner(facts: Facts, tmp_path: Path) -> None:
    found = facts("key", "new", tmp_path / "holder.key")

    assert found == {"schema": "key", "version": 1, "file": str(tmp_path / "holder.key"), "mode": "0600"}
    assert stat.S_IMODE(os.stat(found["file"]).st_mode) == 0o600  # noqa: PTH116 - a text
    assert repr(ld.Key.load(found["file"])) == "Key(<secret>)"


def test_making_a_key_never_shows_it(run: Run, tmp_path: Path) -> None:
    result = run("key", "new", tmp_path / "holder.key")

    secret = (tmp_path / "holder.key").read_text().split()[1]
    assert "Keep it as safe as the table" in result.stdout
    assert secret not in result.output


def test_a_key_is_never_overwritten(run: Run, tmp_path: Path) -> None:
    run("key", "new", tmp_path / "holder.key")
    before = (tmp_path / "holder.key").read_bytes()

    result = run("key", "new", tmp_path / "holder.key")

    assert (result.exit_code, result.stdout) == (2, "")
    assert (tmp_path / "holder.key").read_bytes() == before


# --- schema ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("document", documents())
def test_a_schema_is_printed_and_is_one(run: Run, document: str) -> None:
    found = json.loads(run("schema", document).stdout)

    jsonschema.Draft202012Validator.check_schema(found)
    assert found == json_schema(document)


@pytest.mark.parametrize("document", documents())
def test_the_published_schema_is_what_the_code_generates(document: str) -> None:
    published = (DOCS / f"{document}.schema.json").read_text(encoding="utf-8")

    assert published == schema_text(document), "run python -m ldiversity.faces.cli.schemas docs/schemas"


def test_schemas_are_written_to_a_folder(tmp_path: Path) -> None:
    write_schemas(tmp_path / "new")

    assert sorted(one.name for one in (tmp_path / "new").iterdir()) == sorted(one.name for one in DOCS.iterdir())


def test_a_produced_release_satisfies_the_published_schema(release: Path) -> None:
    schema = json.loads((DOCS / "release.schema.json").read_text(encoding="utf-8"))

    jsonschema.validate(json.loads((release / "release.json").read_text(encoding="utf-8")), schema)


# --- demo ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def demo(run: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    folder = tmp_path_factory.mktemp("demo") / "new"
    return folder, run("demo", "--folder", folder, "--json")


def test_the_demo_publishes_two_releases(demo: tuple[Path, Result]) -> None:
    folder, result = demo

    found = json.loads(result.stdout)
    assert [release["method"] for release in found["releases"]] == ["randomized addition", "semantic diversity"]
    assert ld.load_release(folder / "release-semantic").claims[0].d == 2


def test_the_demo_says_that_real_people_need_a_key(demo: tuple[Path, Result]) -> None:
    assert "published twice without a key" in json.loads(demo[1].stdout)["warning"]


def test_the_demo_draws_its_pictures(demo: tuple[Path, Result]) -> None:
    folder, result = demo

    assert json.loads(result.stdout)["pictures"] == [str(folder / "estimate.png"), str(folder / "comparison.png")]
    assert (folder / "estimate.png").read_bytes()[:4] == (folder / "comparison.png").read_bytes()[:4] == b"\x89PNG"


def test_the_demo_s_estimates_are_near_the_truth(demo: tuple[Path, Result]) -> None:
    comparison = json.loads(demo[1].stdout)["comparison"]

    # 12 shares a method, each within 5 standard errors of the truth: a false alarm below 2 x 10^-5.
    far = [row for row in comparison["shares"] if abs(row["estimate"] - row["truth"]) > 5 * row["std_error"]]
    assert far == []
    assert len(comparison["shares"]) == 24


def test_the_demo_can_be_run_again_and_shows_its_commands(demo: tuple[Path, Result], run: Run) -> None:
    folder, result = demo

    shown = run("demo", "--folder", folder).stdout

    assert [line for line in json.loads(result.stdout)["commands"] if f"  $ {line}\n" not in shown] == []
    assert "Compared with the truth" in shown


def test_the_demo_leaves_other_folders_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_text("mine")

    result = run("demo", "--folder", tmp_path)

    assert (result.exit_code, (tmp_path / "patients.csv").read_text()) == (2, "mine")


def test_a_demo_that_fails_stops_with_the_exit_code(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object, **_options: object) -> None:
        raise ld.ClaimError("the claim is broken.")

    monkeypatch.setattr(ld.Publication, "publish", fail)

    result = run("demo", "--folder", tmp_path / "new")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("Error: ") == 1
