"""How many people are unique: as counted by hand, and within a known error where a sample is counted."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.engines import LocalEngine
from ldiversity.publish._prepare import prepare
from ldiversity.publish._screening._screen import screen
from ldiversity.publish._screening._tally import SEVERAL, HashOwners
from ldiversity.tables import open_source


def told(table: pa.Table) -> tuple[str, int, str, int]:
    publication = ld.Publication(
        quasi=["a", "b"], sensitive="value", method="randomized-addition:l=2", person="who", confirm=["a", "b"]
    )
    found = screen(prepare(publication, open_source(table), LocalEngine(workers=1))).findings
    text = next(one.text for one in found if one.kind == "unique-people")
    about, unique, of, people = re.match(r"(About )?([\d,]+) of (about )?([\d,]+) people", text).groups()  # type: ignore[union-attr]
    return about or "", int(unique.replace(",", "")), of or "", int(people.replace(",", ""))


def visits(n_people: int, seed: int = 1) -> pa.Table:
    """Everybody once, some of them again with another combination; combinations of two columns of many values."""
    rng = np.random.default_rng(seed)
    who = np.concatenate([np.arange(n_people), rng.choice(n_people, n_people // 25, replace=False)])
    n = len(who)
    return pa.table(
        {
            "who": [f"P{number}" for number in who],
            "a": rng.integers(0, 600, n),
            "b": rng.integers(0, 600, n),
            "value": np.array(["x", "y", "z"])[rng.integers(0, 3, n)],
        }
    )


def truth(table: pa.Table) -> tuple[int, int]:
    who = table["who"].combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    combination = table["a"].to_numpy() * 600 + table["b"].to_numpy()
    pairs = np.unique(np.stack([combination, who], axis=1), axis=0)
    _, places, counts = np.unique(pairs[:, 0], return_inverse=True, return_counts=True)
    return len(np.unique(pairs[counts[places.ravel()] == 1, 1])), len(np.unique(who))


@pytest.mark.parametrize("n_people", [2_000, 250_000])
def test_the_people_that_are_said_to_be_unique_are_counted_exactly(n_people: int) -> None:
    table = visits(n_people)
    unique, people = truth(table)

    assert told(table) == ("", unique, "", people)


def test_more_people_than_are_kept_are_counted_about() -> None:
    table = visits(400_000)
    unique, people = truth(table)

    _, about_unique, of, about_people = told(table)

    assert of == "about "
    # At least 2 ** 17 of them are kept: five standard errors of a share of a half are 1 %.
    assert about_people == pytest.approx(people, rel=0.02)
    assert about_unique == pytest.approx(unique, rel=0.05)


def test_owners_of_a_sample_stand_for_all_however_often_it_was_halved() -> None:
    rng = np.random.default_rng(4)
    keys = rng.integers(0, 1 << 64, 1_000_000, dtype=np.uint64)
    owners = HashOwners(bits=0, most=1 << 12)
    for part in np.array_split(np.arange(len(keys)), 20):
        owners.add(keys[part], part + 1)
        owners.add(keys[part[::2]], part[::2] + 2)  # every other key belongs to two

    alone = int(np.count_nonzero(owners.counts != SEVERAL)) * owners.scale

    # At least 1,024 of them are kept: five standard errors are 16 %.
    assert owners.halvings >= 7
    assert alone == pytest.approx(500_000, rel=0.16)
