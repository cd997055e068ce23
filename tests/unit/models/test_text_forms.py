"""Models as texts and as descriptions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from ldiversity.distances import (
    DiscreteDistance,
    MatrixDistance,
    NumericDistance,
    OrderedDistance,
    SemilatticeDistance,
    TreeDistance,
)
from ldiversity.distances._icd import IcdDistance
from ldiversity.entries import ENTRIES
from ldiversity.errors import ParameterError, ReleaseFormatError, UnsupportedError
from ldiversity.hierarchies import Hierarchy, SemiLattice
from ldiversity.models import (
    MODELS,
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    GapDiversity,
    KAnonymity,
    LevelDiversity,
    LevelUnique,
    PrivacyModel,
    RecursiveDiversity,
    SemanticClassDiversity,
    TCloseness,
    UniqueDiversity,
    model_from_dict,
    parse_model,
)

TREE = Hierarchy.from_rows([("flu", "lung", "*"), ("cold", "lung", "*"), ("ulcer", "stomach", "*")])
LATTICE = SemiLattice.from_edges([("1", "1-2"), ("2", "1-2"), ("2", "2-3"), ("3", "2-3")])
MODELS_OF_EACH_KIND = [
    KAnonymity(5),
    DistinctDiversity(3),
    EntropyDiversity(2.5),
    FrequencyDiversity(3),
    UniqueDiversity(3),
    LevelUnique(2, (0, 0, 1)),
    RecursiveDiversity(3, 2),
    AlphaK(0.3, 4),
    TCloseness(0.2),
    TCloseness(0.2, "ordered"),
    TCloseness(0.2, "hierarchical", TREE),
    BetaLikeness(1.5),
    BetaLikeness(1.5, enhanced=True),
    DeltaDisclosure(0.7),
    GapDiversity(3, 5000),
    LevelDiversity(2, 1, TREE),
    SemanticClassDiversity(3, 2, DiscreteDistance()),
    SemanticClassDiversity(3, 2, OrderedDistance()),
    SemanticClassDiversity(3, 2, NumericDistance(10)),
    SemanticClassDiversity(3, 2, TreeDistance(TREE)),
    SemanticClassDiversity(3, 2, SemilatticeDistance(LATTICE)),
    SemanticClassDiversity(3, 2, MatrixDistance(("a", 1, None), [[0, 1, 2], [1, 0, 3], [2, 3, 0]])),
]


@pytest.mark.parametrize("model", MODELS_OF_EACH_KIND, ids=repr)
def test_a_description_survives_json(model: PrivacyModel) -> None:
    assert model_from_dict(json.loads(json.dumps(model.to_dict()))) == model


def test_every_registered_model_is_described_here() -> None:
    assert {model.name for model in MODELS_OF_EACH_KIND} == set(ENTRIES["models"])


@pytest.mark.parametrize("model", MODELS_OF_EACH_KIND, ids=repr)
def test_a_statement_is_one_sentence_about_the_attribute(model: PrivacyModel) -> None:
    said = model.statement("disease")

    assert "'disease'" in said
    assert said.endswith(".")


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("k-anonymity:5", KAnonymity(5)),
        ("distinct:3", DistinctDiversity(3)),
        ("entropy:2.5", EntropyDiversity(2.5)),
        ("frequency:3", FrequencyDiversity(3)),
        ("unique:3", UniqueDiversity(3)),
        ("recursive:3:2", RecursiveDiversity(3, 2)),
        ("recursive:l=2:c=0.5", RecursiveDiversity(0.5, 2)),
        ("(c,l): 3 : 2", RecursiveDiversity(3, 2)),
        ("alpha-k:0.5:4", AlphaK(0.5, 4)),
        ("alpha-k:5e-1:4", AlphaK(0.5, 4)),
        ("t-closeness:0.2", TCloseness(0.2)),
        ("t-closeness:0.2:equal", TCloseness(0.2)),
        ("t-closeness:0.2:ordered", TCloseness(0.2, "ordered")),
        ("beta-likeness:2", BetaLikeness(2)),
        ("beta-likeness:2:enhanced", BetaLikeness(2, enhanced=True)),
        ("delta-disclosure:1", DeltaDisclosure(1)),
        ("semantic:3:2:ordered", SemanticClassDiversity(3, 2, OrderedDistance())),
        ("(l,d):3:2:numeric:10", SemanticClassDiversity(3, 2, NumericDistance(10))),
    ],
)
def test_a_text_form_gives_its_model(text: str, model: PrivacyModel) -> None:
    assert parse_model(text) == model


@dataclass(frozen=True)
class Sized(KAnonymity):
    """A model of somebody else, with a truth value among its parameters."""

    name = "sized"
    openly: bool = False


@pytest.mark.parametrize("model", [Sized(3), Sized(3, openly=True)])
def test_truth_values_are_read_as_they_are_written(model: Sized) -> None:
    with MODELS.registered("sized", Sized):
        assert parse_model(model.text) == model


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("t-closeness:0.2:hierarchical:tree.csv", TCloseness(0.2, "hierarchical", TREE)),
        ("semantic:2:2:tree:tree.csv", SemanticClassDiversity(2, 2, TreeDistance(TREE))),
        ("level:2:1:tree.csv", LevelDiversity(2, 1, TREE)),
        ("(l,e):2:1:tree.csv", LevelDiversity(2, 1, TREE)),
    ],
)
def test_files_are_found_from_the_given_folder(text: str, model: PrivacyModel, tmp_path: Path) -> None:
    lines = "\n".join(";".join(row) for row in TREE.rows)
    (tmp_path / "tree.csv").write_text(lines + "\n", encoding="utf-8")

    assert parse_model(text, base=tmp_path) == model


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kanonymity:3", "name must be one of .*Hint: Write for example k-anonymity:5"),
        ("what", "name must be one of .*Hint: Write for example"),
        ("recursive:3", "must be followed by 'c', 'l', .* got 'recursive:3'.*Hint: Write for example recursive:3:2"),
        ("distinct:3:4", "must be followed by 'l'"),
        ("distinct:three", "must be followed by 'l'"),
        ("distinct:true", "l must be an integer"),
        ("entropy:true", "l must be a finite number"),
        ("distinct:l=3:l=4", "must be followed by 'l'"),
        ("distinct:m=3", "must be followed by 'l'"),
        ("distinct:1", "DistinctDiversity: l must be an integer of at least 2, got 1"),
        ("distinct:2.5", "DistinctDiversity: l must be an integer of at least 2, got 2.5"),
        ("t-closeness:0.2:near", "TCloseness: ground must be one of"),
        ("t-closeness:0.2:ordered:file", "must be followed by 't', 'ground', 'hierarchy'"),
        ("t-closeness:0.2:hierarchical", "must name the file of its hierarchy"),
        ("beta-likeness:2:better", "must be followed by 'beta', 'enhanced'"),
        ("semantic:3:2", "must be followed by 'l', 'd', 'distance'"),
        ("semantic:3:2:nearby", "distance: it must start with a known kind"),
        ("level:3:2", "must be followed by 'l', 'e', 'hierarchy'"),
        ("level-unique:3", "levels must be the level of each value"),
        ("level-unique", "must be followed by 'l', 'levels'"),
    ],
)
def test_a_wrong_text_form_is_explained(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=f"(?s){message}"):
        parse_model(text)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KAnonymity(1), "k must be an integer of at least 2"),
        (lambda: EntropyDiversity(1), "l must be greater than 1"),
        (lambda: RecursiveDiversity(0, 2), "c must be greater than 0"),
        (lambda: RecursiveDiversity(1, 1), "l must be an integer of at least 2"),
        (lambda: AlphaK(0, 2), "alpha must be greater than 0"),
        (lambda: AlphaK(1.1, 2), "alpha must be a finite number from 0 to 1"),
        (lambda: TCloseness(0.2, "hierarchical"), "hierarchy must be given"),
        (lambda: TCloseness(0.2, "equal", TREE), "hierarchy must be given"),
        (lambda: BetaLikeness(0), "beta must be greater than 0"),
        (lambda: BetaLikeness(1, enhanced=3), "enhanced must be True or False"),  # type: ignore[arg-type]
        (lambda: DeltaDisclosure(0), "delta must be greater than 0"),
        (lambda: LevelDiversity(2, 3, TREE), "e must be an integer from 1 to 2"),
        (lambda: LevelDiversity(2, 1, "tree"), "hierarchy must be a Hierarchy"),  # type: ignore[arg-type]
        (lambda: SemanticClassDiversity(2, 0, "ordered"), "d must be greater than 0"),
        (lambda: SemanticClassDiversity(2, 1, 3), "distance must be a distance"),  # type: ignore[arg-type]
    ],
)
def test_a_parameter_that_means_nothing_is_refused(make: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    "described",
    [
        None,
        {"name": "unheard"},
        {"name": "distinct"},
        {"name": "distinct", "l": "three"},
        {"name": "t-closeness", "t": 0.2, "ground": "hierarchical", "hierarchy": [["a", 3]]},
        {"name": "semantic", "l": 2, "d": 1, "distance": {"kind": "strange"}, "values": []},
        {"name": "level", "l": 2, "e": 1, "hierarchy": None},
    ],
)
def test_a_damaged_description_is_refused(described: object) -> None:
    with pytest.raises(ReleaseFormatError):
        model_from_dict(described)


def test_a_distance_that_depends_on_a_domain_is_not_described_without_it() -> None:
    with pytest.raises(UnsupportedError, match="depends on a domain"):
        SemanticClassDiversity(2, 2, IcdDistance()).to_dict()
