"""A grouped release in pieces of whole classes: each is a release by itself, and together they are the release."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.base.budget import Budget
from ldiversity.models import FrequencyDiversity
from ldiversity.schema import Attribute, Role, Schema
from tests.unit.release.several_files import save

LITTLE = Budget("300MB")
DISEASE = Attribute("disease", Role.SENSITIVE, "string", ld.Domain(("cold", "cut", "flu")))


@pytest.fixture
def few_rows() -> Iterator[None]:
    """Let only a few rows be in memory at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ldiversity.release._pieces._ROW_BYTES", 20_000_000)
        yield


def rows_of(release: ld.ClassRelease, attribute: str, first: int = 0) -> list[tuple[object, ...]]:
    """What each row shows, with the class that it has in the whole release."""
    classes = release.class_of(attribute) + first
    own = release.columns(
        [name for name in release.schema.names(Role.QUASI, Role.PLAIN) if name not in generalized(release)]
    )
    cells = own.to_pylist() if own.num_columns else [{}] * release.n_rows
    regions = release.regions().to_pylist() if release.layout == "generalized" else [{}] * int(classes.max() + 1)
    values = release.values(attribute).tolist() if release.layout == "generalized" else [None] * release.n_rows
    return [
        (int(number), repr(cells[row]), repr(regions[number - first]) if regions[0] else "", values[row])
        for row, number in enumerate(classes)
        if number >= first
    ]


def generalized(release: ld.ClassRelease) -> set[str]:
    return {name for name, form in release.forms.items() if form.kind != "exact"} if release.generalized else set()


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("data_format", ["parquet", "csv"])
@pytest.mark.parametrize("kind", ["generalized", "bucketized", "separate"])
def test_pieces_are_the_release(request: pytest.FixtureRequest, tmp_path: Path, kind: str, data_format: str) -> None:
    release: ld.ClassRelease = request.getfixturevalue(kind)
    loaded = ld.load_release(save(release, tmp_path / "release", 2, data_format=data_format))
    assert isinstance(loaded, ld.ClassRelease)

    for attribute in release.sensitive:
        first, rows, dense = 0, [], []
        for piece in loaded.pieces(LITTLE, attribute):
            piece.verify()
            rows += rows_of(piece, attribute, first)
            dense += piece.classes(attribute).dense().tolist()
            first += piece.classes(attribute).n_classes
        whole = sorted(rows_of(loaded, attribute), key=lambda row: row[0])
        assert sorted(rows, key=lambda row: row[0]) == whole
        assert dense == release.classes(attribute).dense().tolist()


@pytest.mark.usefixtures("few_rows")
def test_pieces_have_the_columns_that_are_asked_for(generalized: ld.ClassRelease, tmp_path: Path) -> None:
    loaded = ld.load_release(save(generalized, tmp_path / "release", 2))
    assert isinstance(loaded, ld.ClassRelease)

    pieces = list(loaded.pieces(LITTLE, columns=[]))

    assert len(pieces) == 3
    assert all(piece.schema.names() == ("age", "born", "place", "job", "disease") for piece in pieces)
    assert [piece.regions()["place"].to_pylist() for piece in pieces] == [["west"], ["Jena"], ["*"]]


def test_rows_in_memory_are_one_piece(separate: ld.ClassRelease) -> None:
    (piece,) = separate.pieces(LITTLE, "job")

    assert piece.sensitive == ("job",)
    assert piece.n_rows == 2
    assert piece.columns(["age"])["age"].to_pylist() == [20, 50]
    piece.verify()


def one_class(n_rows: int) -> ld.ClassRelease:
    """All records in one class."""
    return ld.ClassRelease.in_memory(
        schema=Schema((Attribute("age", Role.QUASI, "int64"), DISEASE)),
        layout="bucketized",
        rules={"disease": FrequencyDiversity(l=2)},
        class_of=np.zeros(n_rows, dtype=np.int32),
        values={"disease": np.arange(n_rows, dtype=np.int32) % 3},
        columns=pa.table({"age": range(n_rows)}),
    )


@pytest.mark.usefixtures("few_rows")
def test_a_class_that_does_not_fit_says_what_would(tmp_path: Path) -> None:
    loaded = ld.load_release(save(one_class(60), tmp_path / "release", 2))
    assert isinstance(loaded, ld.ClassRelease)

    with pytest.raises(ld.ParameterError, match="memory must hold a class of 60 records at once") as caught:
        list(loaded.pieces(LITTLE))

    needed = str(caught.value).rpartition("memory='")[2].partition("'")[0]
    assert len(list(loaded.pieces(Budget(needed)))) == 1


@pytest.mark.usefixtures("few_rows")
def test_damage_is_noticed_in_a_piece(generalized: ld.ClassRelease, tmp_path: Path) -> None:
    folder = save(generalized, tmp_path / "release", 2)
    loaded = ld.load_release(folder)
    assert isinstance(loaded, ld.ClassRelease)
    pieces = loaded.pieces(LITTLE)
    save(generalized, folder, 2, overwrite=True)

    with pytest.raises(ld.ReleaseFormatError, match="must be the one that was loaded"):
        list(pieces)
