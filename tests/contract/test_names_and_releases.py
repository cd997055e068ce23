"""A column in the place of its name, or a table in the place of a release, is refused without quoting a cell."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ldiversity as ld

CELLS = ["angina-cell", "cut-cell", "flu-cell", "sty-cell"]
TABLE = pa.table({"age": [20 + i for i in range(40)], "disease": [CELLS[i % 4] for i in range(40)]})
NAMES = ("quasi", "sensitive", "drop", "plain", "record_id", "person", "by", "column")
FUNCTIONS = {
    name: function for name in ld.__all__ if callable(function := getattr(ld, name)) and not inspect.isclass(function)
}


def parameters_of(function: Callable[..., Any]) -> dict[str, bool]:
    """The parameters of a function, and whether each must be given; those of a ``TypedDict`` after two stars too."""
    found: dict[str, bool] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            found[name] = parameter.default is inspect.Parameter.empty
            continue
        known = inspect.unwrap(function).__globals__
        typed = known[str(parameter.annotation).removeprefix("Unpack[").removesuffix("]")]
        found |= {key: "Required[" in str(kind) for key, kind in typed.__annotations__.items()}
    return found


TAKES_NAMES = [
    (name, parameter)
    for name, function in FUNCTIONS.items()
    for parameter in parameters_of(function)
    if parameter in NAMES
]
TAKES_RELEASES = [
    (name, parameter)
    for name, function in FUNCTIONS.items()
    for parameter in inspect.signature(function).parameters
    if parameter in {"release", "second"}
]
COLUMNS: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.Series(CELLS, name="disease"),
    "polars": lambda: pl.Series("disease", CELLS),
    "arrow": lambda: pa.chunked_array([CELLS]),
    "numpy": lambda: pd.Series(CELLS).to_numpy(dtype=object),
    "list": lambda: [pd.Series(CELLS)],
}


@pytest.fixture(scope="module")
def release() -> ld.Release:
    return ld.anonymize(TABLE, quasi="age", sensitive="disease", method=ld.Anatomy(l=2))


def arguments(name: str, release: ld.Release) -> dict[str, Any]:
    """What each function needs besides."""
    known = {
        "data": TABLE,
        "published": TABLE,
        "original": TABLE,
        "held_out": TABLE,
        "release": release,
        "releases": [release, release],
        "by": "age",
        "quasi": "age",
        "sensitive": "disease",
        "method": ld.RandomizedAddition(l=2),
        "model": "distinct:2",
        "column": "age",
        "members": {"a": [1]},
        "papers": "all",
        "folder": "nowhere",
        "formula": "disease ~ age",
    }
    needed = [one for one, required in parameters_of(FUNCTIONS[name]).items() if required]
    return {one: known[one] for one in needed} | ({"sensitive": "disease"} if name == "check" else {})


def test_functions_that_take_names_are_found() -> None:
    functions = {name for name, _ in TAKES_NAMES}
    assert functions >= {"anonymize", "plan", "audit", "check", "compare", "attack", "estimate", "user_report", "bins"}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize(("name", "parameter"), TAKES_NAMES)
def test_a_column_is_no_name(name: str, parameter: str, kind: str, release: ld.Release) -> None:
    given = arguments(name, release) | {parameter: COLUMNS[kind]()}
    if parameter == "person" and "method" in given:
        given["method"] = ld.BSGI(l=2)
    if parameter == "record_id" and name != "plan":  # which needs no key
        given["key"] = ld.Key.new()

    with pytest.raises(ld.ParameterError) as refused:
        FUNCTIONS[name](**given)

    assert f"{parameter} must" in str(refused.value)
    assert "cell" not in str(refused.value)


@pytest.mark.parametrize("given", [TABLE, TABLE.to_pandas(), None, "disease"], ids=["arrow", "pandas", "none", "text"])
@pytest.mark.parametrize(("name", "parameter"), TAKES_RELEASES)
def test_a_table_is_no_release(name: str, parameter: str, given: object, release: ld.Release) -> None:
    if (given is None and parameter == "second") or (
        isinstance(given, str) and name.endswith(("_report", "estimate", "association", "regress"))
    ):
        pytest.skip("a second release may be left out, and reports, estimates and tests may name a folder")

    with pytest.raises(ld.ParameterError, match=rf"{parameter} must be a release") as refused:
        FUNCTIONS[name](**(arguments(name, release) | {parameter: given}))

    assert "cell" not in str(refused.value)


def test_the_names_of_a_frame_are_names() -> None:
    frame = TABLE.to_pandas()

    assert ld.audit(frame, quasi=frame.columns[:1], sensitive="disease").quasi == ("age",)


@pytest.mark.parametrize("name", ["anonymize", "plan", "compare"])
def test_a_misspelled_argument_is_refused_as_python_does(name: str, release: ld.Release) -> None:
    given = arguments(name, release) | {"qausi": "age"}

    with pytest.raises(TypeError, match="unexpected keyword argument 'qausi'"):
        FUNCTIONS[name](**given)
