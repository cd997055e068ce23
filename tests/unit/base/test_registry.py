"""Registries: own entries, announced ones, and registered ones."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from ldiversity.base import registry
from ldiversity.base.registry import Registry
from ldiversity.errors import LDiversityWarning, ParameterError


@pytest.fixture
def numbers() -> Registry[float]:
    return Registry("numbers", {"pi": "math:pi", "e": "math:e"})


def test_own_entries_come_in_their_order_and_are_loaded_when_asked_for(numbers: Registry[float]) -> None:
    assert list(numbers) == ["pi", "e"]
    assert numbers["e"] == pytest.approx(2.718281828)


def test_an_unknown_name_is_a_key_error(numbers: Registry[float]) -> None:
    with pytest.raises(KeyError):
        numbers["tau"]
    assert "tau" not in numbers


def test_an_entry_of_another_package_is_found_by_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    announced = [
        EntryPoint("tau", "math:tau", "ldiversity.numbers"),
        EntryPoint("pi", "math:e", "ldiversity.numbers"),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: announced if group == "ldiversity.numbers" else [])
    numbers = Registry[float]("numbers", {"pi": "math:pi"})

    assert list(numbers) == ["pi", "tau"]
    assert numbers["tau"] == pytest.approx(6.283185307)
    assert numbers["pi"] == pytest.approx(3.141592654)  # nobody takes a name of this package


def test_a_registered_entry_leaves_with_its_block(numbers: Registry[float]) -> None:
    with numbers.registered("half", 0.5):
        assert numbers["half"] == 0.5
        assert len(numbers) == 3

    assert "half" not in numbers


def test_no_name_is_taken_twice(numbers: Registry[float]) -> None:
    with pytest.raises(ParameterError, match="'pi' is registered already"):
        numbers.register("pi", 3.0)


def test_a_package_that_cannot_be_imported_is_left_out_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    announced = [
        EntryPoint("broken", "no_such_module:thing", "ldiversity.numbers"),
        EntryPoint("tau", "math:tau", "ldiversity.numbers"),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda **_: announced)
    numbers = Registry[float]("numbers", {"pi": "math:pi"})

    with pytest.warns(LDiversityWarning, match=r"'broken' is left out: .*\(ModuleNotFoundError\)"):
        assert dict(numbers) == {"pi": numbers["pi"], "tau": numbers["tau"]}
