"""The catalog and the classes it names are held together."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields

import pytest

from ldiversity.catalog import CATALOG, OPTIONS, methods_with
from ldiversity.methods import METHODS, GroupingMethod, RandomizingMethod

BASES = {"sets": RandomizingMethod, "classes": GroupingMethod}


@pytest.mark.parametrize("name", CATALOG)
def test_the_class_has_the_name_of_its_entry(name: str) -> None:
    assert (METHODS[name].name, METHODS[name].__name__) == (name, CATALOG[name].class_name)


@pytest.mark.parametrize("name", CATALOG)
def test_the_fields_of_the_class_are_the_options_of_its_entry(name: str) -> None:
    assert [field.name for field in fields(METHODS[name])] == list(CATALOG[name].options)


@pytest.mark.parametrize("name", CATALOG)
def test_the_family_is_that_of_the_base_class(name: str) -> None:
    assert issubclass(METHODS[name], BASES[CATALOG[name].family])


@pytest.mark.parametrize("name", CATALOG)
def test_the_class_is_a_public_name_of_the_package(name: str) -> None:
    import ldiversity as ld

    assert getattr(ld, CATALOG[name].class_name) is METHODS[name]


def test_every_option_belongs_to_a_method_and_every_method_s_option_is_described() -> None:
    used = {option for entry in CATALOG.values() for option in entry.options}

    assert used == set(OPTIONS)


def test_options_are_written_differently_on_the_command_line() -> None:
    flags = [flag for option in OPTIONS.values() if option.flag for flag in option.flag.split("/")]

    assert len(flags) == len(set(flags))


@pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
def test_a_choice_has_words_and_nothing_else_has(option: object) -> None:
    assert (option.kind == "choice") == bool(option.choices)


def test_the_methods_with_an_option_are_those_whose_entries_name_it() -> None:
    assert methods_with("d") == ("semantic",)
    assert set(methods_with("l")) == {name for name in CATALOG if METHODS[name].strength == "l"}


def test_the_catalog_loads_no_method() -> None:
    program = (
        "import ldiversity.catalog, sys;"
        "print(*sorted(m for m in sys.modules if m.startswith('ldiversity') and m.count('.')))"
    )

    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()

    assert {name.split(".")[1] for name in loaded} == {"base", "catalog", "entries", "errors", "sentences"}


@pytest.mark.parametrize("name", CATALOG)
def test_the_entry_says_which_methods_are_kept_for_comparison(name: str) -> None:
    assert CATALOG[name].for_comparison == METHODS[name].for_comparison


def test_a_stranger_s_method_says_it_itself() -> None:
    class Kept(METHODS["anatomy"]):  # type: ignore[misc]
        """Like Anatomy."""

        name = "kept"
        for_comparison = True

    with METHODS.registered("kept", Kept):
        assert CATALOG["kept"].for_comparison
        assert not CATALOG["anatomy"].for_comparison
