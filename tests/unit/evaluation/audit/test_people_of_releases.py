"""What an audit of a release says about people who have several records."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (ld.Anatomy(l=2), "no class holds two of them, so the values of a class count people. Records that look"),
        (ld.RandomizedAddition(l=2), "their sets belong together. Records that look alike may be one person's"),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_an_audit_says_what_is_promised_about_rows_of_a_person(method: ld.Method, said: str) -> None:
    rng = np.random.default_rng(1)
    who = np.repeat(np.arange(40), 2)
    disease = rng.permutation(["flu", "cut", "burn", "cold"] * 20)
    table = pa.table({"who": who, "age": rng.integers(20, 30, 40)[who], "disease": disease})

    with_people = ld.anonymize(table, quasi="age", sensitive="disease", person="who", method=method, insecure_seed=1)
    without = ld.anonymize(table, quasi="age", sensitive="disease", drop="who", method=method, insecure_seed=1)

    assert [note for note in ld.audit(with_people).notes if said in note]
    assert not [note for note in ld.audit(without).notes if "several records" in note]
