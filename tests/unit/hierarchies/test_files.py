"""Reading hierarchies and semilattices from files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ldiversity.errors import ParameterError, SchemaError
from ldiversity.hierarchies import Hierarchy, SemiLattice

EXPECTED = (("flu", "lung", "*"), ("ulcer", "gut", "*"))


@pytest.mark.parametrize(
    "content",
    [
        b"flu;lung;*\nulcer;gut;*\n",
        b"flu,lung,*\nulcer,gut,*\n",
        b"flu\tlung\t*\nulcer\tgut\t*\n",
        b"\xef\xbb\xbfflu;lung;*\r\nulcer;gut;*\r\n",
        b"leaf;level1;root\nflu;lung;*\nulcer;gut;*",
        b"\n flu ; lung ; * \n\nulcer;gut;*;;\n\n",
        b'"flu";"lung";*\n"ulcer";"gut";*\n',
        gzip.compress(b"flu;lung;*\nulcer;gut;*\n"),
    ],
    ids=["semicolon", "comma", "tab", "mark-and-crlf", "header", "blanks", "quotes", "gzip"],
)
def test_a_file_is_read_in_any_usual_form(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tree.csv"
    path.write_bytes(content)

    assert Hierarchy.read(path).rows == EXPECTED


def test_commas_inside_labels_do_not_separate_where_semicolons_do(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("flu, avian;lung, both;*\ncold, common;lung, both;*\n", encoding="utf-8")

    assert Hierarchy.read(path).leaves == ("flu, avian", "cold, common")


def test_a_semicolon_inside_one_label_does_not_separate_where_commas_do(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("flu,lung,*\ncold;mild,lung,*\n", encoding="utf-8")

    assert Hierarchy.read(path).leaves == ("flu", "cold;mild")


def test_a_named_delimiter_is_obeyed(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("a;1,*\nb;2,*\n", encoding="utf-8")

    assert Hierarchy.read(path, delimiter=",").leaves == ("a;1", "b;2")


def test_unicode_labels_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("風邪;肺;*\nGrippe ä;肺;*\n", encoding="utf-8")

    assert Hierarchy.read(path).leaves == ("風邪", "Grippe ä")


def test_a_leaf_named_leaf_is_kept_without_header(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("leaf;plant\nstem;plant\n", encoding="utf-8")

    assert Hierarchy.read(path, header=False).leaves == ("leaf", "stem")


def test_any_header_is_skipped_when_told_so(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("value;group\na;g\n", encoding="utf-8")

    assert Hierarchy.read(path, header=True).leaves == ("a",)


def test_lines_of_unequal_length_are_filled(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("a;p;*\nb;*\n", encoding="utf-8")

    assert Hierarchy.read(path).rows == (("a", "p", "*"), ("b", "b", "*"))


def test_an_empty_label_between_others_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("a;p;*\nb;;*\n", encoding="utf-8")

    with pytest.raises(SchemaError, match=r"line 2 of .* empty label"):
        Hierarchy.read(path)


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(
        ParameterError, match=r"^Hierarchy: file '.*none.csv' cannot be opened: no such file[^.]*\.\nHint: Check"
    ):
        Hierarchy.read(tmp_path / "none.csv")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="is a directory"):
        Hierarchy.read(tmp_path)


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"", "at least one line"),
        (b"\n;;\n", "at least one line"),
        (b"caf\xe9;x\n", "must be UTF-8"),
        (gzip.compress(b"a;b\n" * 1000)[:-10], "damaged gzip"),
        (b"\x1f\x8b\x08garbage-that-is-not-gzip", "damaged gzip"),
        (b"a" * 200_000 + b";b\n", "is not CSV"),
    ],
    ids=["empty", "blank", "latin-1", "cut", "garbage", "endless-cell"],
)
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes, rule: str) -> None:
    path = tmp_path / "tree.csv"
    path.write_bytes(content)

    with pytest.raises(SchemaError, match=rule):
        Hierarchy.read(path)


def test_a_file_that_unpacks_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tree.csv.gz"
    path.write_bytes(gzip.compress(b"a;b\n" * 1000))
    monkeypatch.setattr("ldiversity.hierarchies._files.MAX_BYTES", 100)

    with pytest.raises(SchemaError, match="at most 100 bytes"):
        Hierarchy.read(path)


@pytest.mark.parametrize("content", ["1;1-2\n2;1-2\n2;2-3\n", "child,parent\n1,1-2\n2,1-2\n2,2-3\n"])
def test_a_semilattice_is_read(tmp_path: Path, content: str) -> None:
    path = tmp_path / "lattice.csv"
    path.write_text(content, encoding="utf-8")

    assert SemiLattice.read(path) == SemiLattice.from_edges([("1", "1-2"), ("2", "1-2"), ("2", "2-3")])


def test_a_tree_file_is_no_semilattice(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("flu;lung;*\n", encoding="utf-8")

    with pytest.raises(SchemaError, match=r"line 1 .* must be child;parent.\nHint: .* tree distance"):
        SemiLattice.read(path)


@pytest.mark.parametrize(
    ("name", "leaves", "depth"),
    [
        ("adult_education_tree.csv", 16, 5),
        ("adult_hierarchy_age.csv", 100, 5),
        ("adult_hierarchy_education.csv", 16, 4),
        ("adult_hierarchy_native-country.csv", 41, 3),
        ("adult_hierarchy_salary-class.csv", 2, 2),
    ],
)
def test_the_hierarchies_of_adult_are_read(public_data: Path, name: str, leaves: int, depth: int) -> None:
    tree = Hierarchy.read(public_data / name)

    assert (len(tree), tree.depth) == (leaves, depth)
