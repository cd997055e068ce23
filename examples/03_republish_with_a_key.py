"""Publish the same table twice: what two releases reveal together, and how a key prevents it.

Run: python examples/03_republish_with_a_key.py
"""

from __future__ import annotations

import tempfile
from math import comb
from pathlib import Path
from typing import Any

import ldiversity as ld

QUASI = ["age", "sex", "zip", "job"]


def publish(patients: Any, key: ld.Key | None) -> dict[tuple[Any, ...], set[str]]:  # noqa: ANN401 - any frame
    """Publish, and return what an attacker can link: the sets of people whose quasi-identifiers are unique."""
    release = ld.anonymize(
        patients,
        quasi=QUASI,
        sensitive=ld.Sensitive("disease", domain=ld.datasets.patients_truth().diseases),
        method=ld.RandomizedAddition(l=3),
        key=key,
        record_id=None if key is None else "name",
    )
    sets: dict[tuple[Any, ...], list[set[str]]] = {}
    for record in release.table.to_pylist():
        sets.setdefault(tuple(record[name] for name in QUASI), []).append(set(record["disease"]))
    return {person: found[0] for person, found in sets.items() if len(found) == 1}


def disclosed(first: dict[tuple[Any, ...], set[str]], second: dict[tuple[Any, ...], set[str]]) -> str:
    """Count the people who have only one disease left when their two sets are intersected."""
    known = sum(len(first[person] & second[person]) == 1 for person in first)
    return f"{known} of {len(first)} people ({known / len(first):.1%})"


def main() -> None:
    """Publish twice without a key and twice with one."""
    patients = ld.datasets.patients(3000)
    n_values, l = len(ld.datasets.DISEASES), 3
    predicted = comb(n_values - l, l - 1) / comb(n_values - 1, l - 1)

    print("Two releases of the same table, intersected by someone who knows a person's age, sex, zip and job:")
    print(f"  without a key   {disclosed(publish(patients, None), publish(patients, None))}; theory: {predicted:.1%}")
    with tempfile.TemporaryDirectory() as folder:
        ld.Key.new().save(Path(folder) / "holder.key")
        key = ld.Key.load(Path(folder) / "holder.key")
        print(f"  with a key      {disclosed(publish(patients, key), publish(patients, key))}")
    print("\nWith the key, a patient whose disease did not change gets the same set again, in any order of rows.")
    print("One whose disease changed shows the same set, or one that shares few or no values with it.")


if __name__ == "__main__":
    main()
