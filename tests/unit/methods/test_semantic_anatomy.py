"""(l, e)-Anatomy: values of a class differ at depth e of a tree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ldiversity as ld
from ldiversity.methods import Anatomy, CodedTable, GroupingRun, SemanticAnatomy, SensitiveColumn
from ldiversity.models import LevelUnique, count_classes

RUN = GroupingRun(workers=1)
TREE = ld.Hierarchy.from_rows(
    [
        ("flu", "virus", "lung", "*"),
        ("cold", "virus", "lung", "*"),
        ("asthma", "chronic", "lung", "*"),
        ("cut", "hand", "skin", "*"),
        ("burn", "arm", "skin", "*"),
        ("sty", "*"),
    ]
)
DISEASES = ld.Domain(("sty", "burn", "cut", "asthma", "cold", "flu"))


def table(*names: str) -> CodedTable:
    """A table of these diseases."""
    codes = np.array([DISEASES.code_of[name] for name in names], dtype=np.int32)
    return CodedTable((), (SensitiveColumn("disease", codes, DISEASES),))


def test_alike_values_never_share_a_class() -> None:
    given = table("flu", "cold", "asthma", "cut", "burn", "sty")

    partition = SemanticAnatomy(l=2, e=1, tree=TREE).group(given, RUN).partitions[0]

    assert sorted(partition.class_of[:3].tolist()) == [0, 1, 2]


def test_depth_is_counted_from_the_root() -> None:
    levels = SemanticAnatomy(l=2, e=2, tree=TREE).promises(DISEASES)[0].levels

    # sty | burn: arm | cut: hand | asthma: chronic | cold, flu: virus
    assert len(set(levels)) == 5
    assert levels[4] == levels[5]


def test_at_the_depth_of_the_values_it_is_anatomy() -> None:
    given = table("flu", "flu", "cold", "asthma", "cut", "sty")

    deepest = SemanticAnatomy(l=3, e=3, tree=TREE).group(given, RUN).partitions[0]

    assert deepest.class_of.tolist() == Anatomy(l=3).group(given, RUN).partitions[0].class_of.tolist()


def test_every_class_keeps_the_promise() -> None:
    names = np.random.default_rng(2).choice(DISEASES.values, 301, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1])
    given, method = table(*names), SemanticAnatomy(l=2, e=1, tree=TREE)

    partition = method.group(given, RUN).partitions[0]

    classes = count_classes(partition.class_of, given.sensitive[0].codes, partition.n_classes, DISEASES)
    assert method.promises(DISEASES)[0].failing(classes).tolist() == []


def test_a_class_of_anatomy_that_is_alike_would_be_caught() -> None:
    promise = SemanticAnatomy(l=2, e=1, tree=TREE).promises(DISEASES)[0]
    given = table("flu", "cold")

    classes = count_classes(np.zeros(2, dtype=np.int32), given.sensitive[0].codes, 1, DISEASES)

    assert promise.failing(classes).tolist() == [0]


def test_a_too_frequent_ancestor_is_refused_with_the_way_out() -> None:
    with pytest.raises(ld.InfeasibleError, match="most frequent ancestor at depth 1 of 'disease' has 3 of 4") as caught:
        SemanticAnatomy(l=2, e=1, tree=TREE).group(table("flu", "cold", "asthma", "cut"), RUN)

    assert caught.value.nearest == [{"l": 2, "e": 2}]
    assert "e=2 is possible" in str(caught.value)


def test_too_few_ancestors_are_refused() -> None:
    with pytest.raises(ld.InfeasibleError, match="ancestors at depth 1 of 'disease' that occur, 2, got 3"):
        SemanticAnatomy(l=3, e=1, tree=TREE).group(table("flu", "cut", "burn", "cold"), RUN)


def test_suppression_leaves_out_as_few_as_needed() -> None:
    given = table("flu", "cold", "asthma", "cut")

    grouping = SemanticAnatomy(l=2, e=1, tree=TREE, overflow="suppress").group(given, RUN)

    assert grouping.facts["hidden"] == 2


def test_the_tree_may_be_a_file(tmp_path: Path) -> None:
    file = tmp_path / "tree.csv"
    file.write_text("\n".join(";".join(row) for row in TREE.rows), encoding="utf-8")

    assert SemanticAnatomy(l=2, e=1, tree=str(file)).tree == TREE


def test_values_without_a_leaf_are_counted() -> None:
    with pytest.raises(ld.SchemaError, match="got 1 that are not"):
        SemanticAnatomy(l=2, e=1, tree=TREE).promises(ld.Domain(("flu", "rabies")))


def test_the_promise_carries_the_levels() -> None:
    assert SemanticAnatomy(l=2, e=1, tree=TREE).promises(ld.Domain(("flu", "sty", "cold"))) == (
        LevelUnique(2, (0, 1, 0)),
    )


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"l": 1, "e": 1, "tree": TREE}, "l must be"),
        ({"l": 2, "e": 0, "tree": TREE}, "e must be an integer of at least 1"),
        ({"l": 2, "e": 4, "tree": TREE}, "e must be an integer from 1 to 3"),
        ({"l": 2, "e": 1, "tree": 3}, "tree must be a hierarchy"),
        ({"l": 2, "e": 1, "tree": TREE, "overflow": "ignore"}, "overflow must be one of"),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, object], sentence: str) -> None:
    with pytest.raises(ld.ParameterError, match=sentence):
        SemanticAnatomy(**parameters)


def test_the_public_parameters() -> None:
    assert SemanticAnatomy(l=3, e=2, tree=TREE).parameters() == {"l": 3, "e": 2, "overflow": "refuse"}
