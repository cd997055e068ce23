"""An original that several measures share gives what each of them would find alone."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.errors import ParameterError
from ldiversity.evaluation.measures import Original, association_errors, classifier_accuracy, distribution_mse
from ldiversity.release import Release

PEOPLE = ld.datasets.patients(600, seed=1)
KNOWN, OTHERS = PEOPLE.slice(0, 400), PEOPLE.slice(400)
ROLES = {"quasi": ["age", "sex", "zip"], "sensitive": "disease"}


def published(method: ld.Method, table: pa.Table = KNOWN, **more: Any) -> Release:
    given: dict[str, Any] = {**ROLES, "drop": ["name"], "method": method, **more}
    return ld.Publication(**given).rehearse(table, insecure_seed=1)


def test_one_original_serves_releases_of_all_kinds() -> None:
    releases = [
        published(ld.RandomizedAddition(l=2)),
        published(ld.Anatomy(l=2)),
        published(ld.Mondrian(l=2)),
        published(ld.RandomizedAddition(l=2), levels={"age": "width:10"}),
    ]
    shared, held_out = Original(KNOWN), Original(OTHERS)

    for release in [*releases, *releases]:
        assert distribution_mse(shared, release) == distribution_mse(KNOWN, release)
        assert association_errors(shared, release, "disease") == association_errors(KNOWN, release, "disease")
        assert classifier_accuracy(shared, release, held_out) == classifier_accuracy(KNOWN, release, OTHERS)


def test_one_original_is_asked_about_different_cells() -> None:
    release, shared = published(ld.Anatomy(l=2)), Original(KNOWN)

    for by in ("age", ld.groups("sex", {"some": [KNOWN["sex"][0].as_py()]}), ("sex", ld.bins("age", width=10)), "sex"):
        assert distribution_mse(shared, release, by=by) == distribution_mse(KNOWN, release, by=by)


def test_an_original_with_fewer_records_is_refused_every_time() -> None:
    release, shared = published(ld.Anatomy(l=2), PEOPLE), Original(KNOWN)

    for _ in range(2):
        with pytest.raises(ParameterError, match="must be the table that the release was made from"):
            distribution_mse(shared, release)
