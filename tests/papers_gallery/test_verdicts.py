"""The rule behind every verdict, and that every verdict comes from it and was tried on a wrong claim."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from papers.verdicts import EXCEPTIONS, MEANINGS, Outcome, Statement, decide, each, single

PAPERS = Path(__file__).parents[2] / "papers"
HERE = Path(__file__).parent


def settings(held: int, of: int) -> dict[str, bool]:
    return {f"l = {number}": number < held for number in range(of)}


@pytest.mark.parametrize(
    ("held", "of", "outcome"),
    [
        (4, 4, "agrees"),
        (3, 4, "agrees with exceptions"),
        (2, 4, "differs"),
        (0, 4, "differs"),
        (1, 1, "agrees"),
        (0, 1, "differs"),
        (2, 3, "differs"),
    ],
)
def test_a_statement_is_judged_by_the_share_of_its_settings(held: int, of: int, outcome: Outcome) -> None:
    assert (held >= EXCEPTIONS * of) is (outcome != "differs")
    assert decide([each("it grows", settings(held, of))])[0] == outcome


def test_a_wrong_claim_among_right_ones_makes_the_verdict_differ() -> None:
    right = [each("it grows", settings(9, 9)), single("it is the least", holds=True)]

    outcome, why = decide([*right, single("it is planted", holds=False)], better=True, stand_in=True)

    assert outcome == "differs"
    assert why == "it grows: 9 of 9; it is the least: holds; it is planted: fails"


def test_better_needs_that_every_statement_holds() -> None:
    assert decide([single("it is the least", holds=True)], better=True)[0] == "better"
    assert decide([each("it grows", settings(3, 4))], better=True)[0] == "agrees with exceptions"


def two_tables(first: int, second: int) -> Statement:
    return Statement("it is the least", {"one": settings(first, 4), "another": settings(second, 4)})


def test_it_is_undecided_only_where_stand_ins_disagree() -> None:
    assert decide([two_tables(4, 0)], stand_in=True)[0] == "undecided (data)"
    assert decide([two_tables(4, 0)])[0] == "differs"
    assert decide([two_tables(0, 1)], stand_in=True)[0] == "differs"
    assert decide([two_tables(4, 3)], stand_in=True)[0] == "agrees with exceptions"


def test_a_statement_that_fails_on_all_tables_is_not_hidden_by_one_that_is_undecided() -> None:
    assert decide([two_tables(4, 0), two_tables(0, 0)], stand_in=True)[0] == "differs"


def test_few_exceptions_are_named_with_their_table() -> None:
    assert str(two_tables(4, 3)) == "it is the least: 7 of 8, not another l = 3"
    assert str(two_tables(0, 0)) == "it is the least: 0 of 8"


@pytest.mark.parametrize("statements", [[], [Statement("nothing was tried", {})], [each("nor here", {})]])
def test_what_was_not_tried_is_no_statement(statements: list[Statement]) -> None:
    with pytest.raises(ValueError, match="needs statements"):
        decide(statements)


# --- Every verdict -------------------------------------------------------------------------------------


@cache
def judges() -> list[str]:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PAPERS.rglob("*.py"))]
    names = {node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)}
    return sorted(name for name in names if name.startswith("judge_"))


def test_there_are_judges() -> None:
    assert len(judges()) > 20


def test_no_judge_chooses_an_outcome_by_itself() -> None:
    chosen = [
        f"{path.name}: {node.value}"
        for path in sorted(PAPERS.rglob("paper_*/*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in set(MEANINGS) - {"agrees", "differs"}
    ]

    # "agrees on OCC-like" and "differs on SAL-like" are words; as outcomes they would stand in a call of Verdict.
    assert chosen == []
    assert [name for name in judges() if not decides(name)] == []


def decides(name: str) -> bool:
    """Whether a judge gets its outcome from `decide`, by itself or by a helper of its module."""
    for path in PAPERS.rglob("*.py"):
        functions = {
            node.name: node
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.FunctionDef)
        }
        if name in functions:
            called = _called(functions[name])
            helpers = {own for helper in called & set(functions) for own in _called(functions[helper])}
            return "decide" in called | helpers
    return False


def _called(function: ast.FunctionDef) -> set[str]:
    return {
        node.func.id for node in ast.walk(function) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def planted() -> set[str]:
    """The judges that a test gives data on which the paper's claim is wrong, and expects "differs" of."""
    found: set[str] = set()
    for path in HERE.glob("test_paper_*.py"):
        text = path.read_text(encoding="utf-8")
        body = ast.parse(text).body
        named = {
            target.id: ast.unparse(node.value)
            for node in body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                own = ast.unparse(node)
                used = "\n".join([own, *(value for name, value in named.items() if name in own)])
                if "'differs'" in used:
                    found |= {name for name in judges() if re.search(rf"\b{name}\b", used)}
    return found


def test_every_judge_was_given_a_wrong_claim_that_must_differ() -> None:
    assert sorted(set(judges()) - planted()) == []
