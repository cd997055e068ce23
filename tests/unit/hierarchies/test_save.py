"""Looking at hierarchies and keeping them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldiversity.errors import SchemaError, StorageError
from ldiversity.hierarchies import Hierarchy


@pytest.mark.parametrize(
    "tree",
    [
        Hierarchy.by_width([17, 25, None], [5, 10]),
        Hierarchy.flat(["a;b", "c,d", 'e"f', "g\th", "leaf"]),
        Hierarchy.flat(["leaf"]),
        Hierarchy((("alone",),)),
        Hierarchy(()),
    ],
    ids=["widths", "delimiters in labels", "a leaf named leaf", "one level", "empty"],
)
def test_a_saved_hierarchy_is_read_back_unchanged(tree: Hierarchy, tmp_path: Path) -> None:
    tree.save(tmp_path / "tree.csv")

    assert Hierarchy.read(tmp_path / "tree.csv") == tree


def test_the_file_has_one_line_a_leaf(tmp_path: Path) -> None:
    Hierarchy.by_prefix(["130", "145"]).save(tmp_path / "zip.csv")

    assert (tmp_path / "zip.csv").read_text() == "leaf;level 1;level 2;root\n130;13*;1**;*\n145;14*;1**;*\n"


def test_a_name_in_gz_is_compressed(tmp_path: Path) -> None:
    tree = Hierarchy.flat(["a", "b"])

    tree.save(tmp_path / "tree.csv.gz")

    assert (tmp_path / "tree.csv.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert Hierarchy.read(tmp_path / "tree.csv.gz") == tree


def test_a_file_is_replaced_only_when_that_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("mine")

    with pytest.raises(StorageError, match="already exists"):
        Hierarchy.flat(["a"]).save(tmp_path / "tree.csv")
    assert (tmp_path / "tree.csv").read_text() == "mine"

    Hierarchy.flat(["a"]).save(tmp_path / "tree.csv", overwrite=True)
    assert (tmp_path / "tree.csv").read_text() == "leaf;root\na;*\n"


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written: no such file or directory"):
        Hierarchy.flat(["a"]).save(tmp_path / "none" / "tree.csv")


@pytest.mark.parametrize("label", [" a", "a ", "a\nb"])
def test_a_label_that_a_file_could_not_give_back_is_refused(label: str, tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="one line without blanks around it"):
        Hierarchy.flat([label]).save(tmp_path / "tree.csv")

    assert not (tmp_path / "tree.csv").exists()


def test_a_drawing_shows_the_first_children_and_counts_the_rest() -> None:
    drawn = Hierarchy.by_width(range(40), [10, 20]).to_text(most=1)

    assert drawn.splitlines() == [
        "* (40 values)",
        "├── [0, 20) (20)",
        "│   ├── [0, 10) (10)",
        "│   │   ├── 0",
        "│   │   └── and 9 more",
        "│   └── and 1 more",
        "└── and 1 more",
    ]


def test_a_drawing_puts_leaves_of_a_node_side_by_side_whatever_the_order_of_rows() -> None:
    tree = Hierarchy.from_rows([("a", "x"), ("b", "y"), ("c", "x")])

    assert tree.to_text(most=None).splitlines() == [
        "* (3 values)",
        "├── x (2)",
        "│   ├── a",
        "│   └── c",
        "└── y (1)",
        "    └── b",
    ]


def test_a_drawing_of_a_leaf_that_is_repeated_up_its_path_shows_it_once() -> None:
    tree = Hierarchy.from_rows([("a", "a", "x", "*"), ("b", "*")])

    assert tree.to_text().splitlines() == ["* (2 values)", "├── x (1)", "│   └── a", "└── b"]
