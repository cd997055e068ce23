from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.evaluation.compare import ComparedAttack, ComparedRun

ROLES: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease"}


@pytest.fixture(scope="session")
def people() -> pa.Table:
    table: pa.Table = pa.table(ld.datasets.patients(300, seed=1))
    return table


@pytest.fixture(scope="session")
def found(people: pa.Table) -> ld.Comparison:
    return ld.compare(people, **ROLES, l=[2, 3], methods=["randomized-addition", "anatomy", "bsgi"], queries=40, seed=1)


@pytest.fixture(scope="session")
def made_run() -> Callable[..., ComparedRun]:
    def make(label: str, success: float, error: float | None, **others: Any) -> ComparedRun:
        certain = others.pop("certain", 0.0)
        attack = ComparedAttack(
            others.pop("attack", "guess"), "disease", success, 0.1, low=success, high=others.pop("high", success),
            claim=others.pop("claim", 0.5), certain=certain,
            certain_success=others.pop("certain_success", 1.0 if certain else None),
            broken=others.pop("broken", False), found=10, reference=others.pop("reference", None),
        )  # fmt: skip
        words = ("--method", label)
        return ComparedRun(label, label, {"l": 2}, words, attacks=(attack,), relative_error=error, **others)

    return make
