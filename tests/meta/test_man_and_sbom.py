"""Manual pages and the bill of materials are made from what is there, and leave nothing out."""

from __future__ import annotations

import re
from importlib.metadata import requires
from pathlib import Path

import click
import pytest
from packaging.requirements import Requirement

from ldiversity.faces.cli import cli
from tools.man_page import man_pages
from tools.sbom import bill_of_materials, extras_for_users


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return dict(man_pages())


def test_every_command_has_a_page_with_all_its_options(pages: dict[str, str]) -> None:
    context = click.Context(cli, info_name="ldiversity")
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        page = pages[f"ldiversity-{name}"].replace("\\-", "-")
        flags = [param.opts[0] for param in command.params if isinstance(param, click.Option) and not param.hidden]
        assert [flag for flag in flags if flag not in page] == []


def test_commands_within_commands_have_pages_too(pages: dict[str, str]) -> None:
    assert "ldiversity-collect-new" in pages


def test_no_line_of_a_page_is_taken_for_an_order_that_it_is_not(pages: dict[str, str]) -> None:
    orders = {line.split()[0] for page in pages.values() for line in page.splitlines() if line.startswith((".", "'"))}

    assert orders <= {".TH", ".SH", ".PP", ".TP", ".B", ".nf", ".fi"}


def test_the_bill_of_materials_names_all_requirements_with_versions_and_licences() -> None:
    bill = bill_of_materials()
    parts = {part["name"]: part for part in bill["components"]}
    direct = [Requirement(text) for text in requires("ldiversity") or ()]

    assert {one.name for one in direct if one.marker is None} <= set(parts)
    assert "llvmlite" in parts  # numba needs it
    assert "starlette" not in parts
    assert all(re.match(r"\d", part["version"]) and part["licenses"] for part in parts.values())
    assert "ldiversity" not in parts
    assert bill["metadata"]["component"]["name"] == "ldiversity"


def test_an_extra_adds_what_it_needs() -> None:
    parts = {part["name"] for part in bill_of_materials(["collect"])["components"]}

    assert {"starlette", "mako", "numpy"} <= parts  # alembic needs mako


def test_all_extras_are_those_that_the_guide_lists() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "installing.md").read_text()
    parts = {part["name"] for part in bill_of_materials(extras_for_users())["components"]}

    assert extras_for_users() == sorted(re.findall(r"^\| `(\w+)` \|", guide, re.MULTILINE))
    assert {"formulaic", "starlette", "pyspark"} <= parts
