"""Publishing twice, and several rows of a person: sets that are drawn apart intersect at the predicted rate.

A key keeps the sets of a person, and so does a person column within one release. Their sets are equal or disjoint, also
where values change, where the mechanism knows partitions.
"""

from __future__ import annotations

from math import comb
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.engines import LocalEngine

N = 20_000


def table_of(n_values: int, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": [f"r{i}" for i in range(N)],
            "row": np.arange(N),
            "disease": [f"d{v:02d}" for v in rng.integers(0, n_values, N)],
        }
    )


def sets_by_row(table: pa.Table, l: int, **options: object) -> np.ndarray:
    method = options.pop("method", ld.RandomizedAddition(l=l))
    release = ld.anonymize(table, quasi="row", sensitive="disease", method=method, **options)
    return release.sets("disease")[np.argsort(np.asarray(release.table["row"]))]


@pytest.mark.parametrize(("n_values", "l"), [(16, 2), (16, 3), (100, 5)])
def test_without_a_key_two_releases_intersect_at_the_predicted_rate(n_values: int, l: int) -> None:
    table = table_of(n_values)
    first, second = (sets_by_row(table, l) for _ in range(2))

    shared = (first[:, :, None] == second[:, None, :]).sum(axis=(1, 2))

    predicted = comb(n_values - l, l - 1) / comb(n_values - 1, l - 1)
    # A binomial share of N records; 4.5 standard errors: a false alarm in 7e-6 of runs.
    assert abs((shared == 1).mean() - predicted) < 4.5 * np.sqrt(predicted * (1 - predicted) / N)


def test_with_a_key_a_second_release_shows_the_same_sets() -> None:
    table, key = table_of(16), ld.Key.new()

    first, second = (sets_by_row(table, 3, key=key, record_id="id") for _ in range(2))

    np.testing.assert_array_equal(first, second)


def test_with_a_key_neither_order_nor_chunks_nor_engine_matter() -> None:
    table, key = table_of(16), ld.Key.new()
    reordered = table.take(pa.array(np.random.default_rng(3).permutation(N)))

    whole = sets_by_row(table, 3, key=key, record_id="id")
    chunked = sets_by_row(reordered, 3, key=key, record_id="id", engine=LocalEngine(workers=2, chunk_rows=777))

    np.testing.assert_array_equal(whole, chunked)


def test_with_a_key_a_part_of_the_table_keeps_its_sets() -> None:
    table, key = table_of(16), ld.Key.new()
    domain = ld.Sensitive("disease", domain=[f"d{v:02d}" for v in range(16)])
    options = {"quasi": "row", "sensitive": domain, "method": ld.RandomizedAddition(l=3), "key": key, "record_id": "id"}

    whole = ld.anonymize(table, **options)
    part = ld.anonymize(table.slice(0, 100), **options)

    order, part_order = (np.argsort(np.asarray(release.table["row"])) for release in (whole, part))
    np.testing.assert_array_equal(whole.sets("disease")[order][:100], part.sets("disease")[part_order])


def test_with_another_key_the_sets_are_drawn_anew() -> None:
    table = table_of(16)
    first, second = (sets_by_row(table, 3, key=ld.Key.new(), record_id="id") for _ in range(2))

    # Independent sets of 3 among 16 that share the true member are equal with probability 1/105; 4.5 standard errors.
    assert (first == second).all(axis=1).mean() < 1 / 105 + 4.5 * np.sqrt(1 / 105 / N)


def changed_table(n_values: int) -> tuple[pa.Table, pa.Table, np.ndarray, np.ndarray]:
    """A table, the same people with other values, and both values as codes."""
    table = table_of(n_values)
    old = np.array([int(text[1:]) for text in table["disease"].to_pylist()])
    new = (old + np.random.default_rng(5).integers(1, n_values, N)) % n_values
    return table, table.set_column(2, "disease", pa.array([f"d{code:02d}" for code in new])), old, new


@pytest.mark.parametrize(("n_values", "l"), [(8, 2), (12, 3), (16, 4)])
def test_with_a_key_a_change_of_value_leaves_nothing_to_intersect(n_values: int, l: int) -> None:
    table, changed, old, _ = changed_table(n_values)
    key = ld.Key.new()
    first, second = (sets_by_row(t, l, key=key, record_id="id") for t in (table, changed))

    equal = (first == second).all(axis=1)
    shared = (first[:, :, None] == second[:, None, :]).any(axis=(1, 2))

    np.testing.assert_array_equal(shared, equal)
    # Binomial shares; 4.5 standard errors each: a false alarm in 7e-6 of runs.
    same = (l - 1) / (n_values - 1)
    assert abs(equal.mean() - same) < 4.5 * np.sqrt(same * (1 - same) / N)
    lowest = (first[~equal, 0] == old[~equal]).mean()
    assert abs(lowest - 1 / l) < 4.5 * np.sqrt((1 - 1 / l) / l / (~equal).sum())


@pytest.mark.parametrize(("n_values", "l"), [(16, 3), (9, 2)])
def test_where_l_does_not_divide_the_values_overlaps_are_as_rare_as_is_said(n_values: int, l: int) -> None:
    table, changed, _, _ = changed_table(n_values)
    key = ld.Key.new()
    first, second = (sets_by_row(t, l, key=key, record_id="id") for t in (table, changed))

    equal = (first == second).all(axis=1)
    shared = (first[:, :, None] == second[:, None, :]).any(axis=(1, 2))

    bound = 2 * (n_values % l) / n_values
    # Above the bound only by chance: 4.5 standard errors, a false alarm in less than 4e-6 of runs.
    assert 0 < (shared & ~equal).mean() < bound + 4.5 * np.sqrt(bound * (1 - bound) / N)


@pytest.mark.parametrize("key", [None, ld.Key.new()], ids=["no key", "a key"])
def test_several_rows_of_a_person_leave_nothing_to_intersect(key: ld.Key | None) -> None:
    rows = table_of(16)
    person = np.arange(N) // 4
    table = rows.append_column("whose", pa.array(person))
    options = {} if key is None else {"key": key}

    named = sets_by_row(table, 4, person="whose", **options)
    apart = sets_by_row(table, 4)

    def overlaps(sets: np.ndarray) -> np.ndarray:
        """Whether the first two rows of each person have sets that overlap without being equal."""
        first, second = sets[0::4], sets[1::4]
        shared = (first[:, :, None] == second[:, None, :]).any(axis=(1, 2))
        return shared & ~(first == second).all(axis=1)

    assert not overlaps(named).any()
    assert overlaps(apart).mean() > 0.5


def test_without_a_key_the_partitions_of_a_person_are_forgotten_after_the_run() -> None:
    table = table_of(16).append_column("whose", pa.array(np.arange(N)))

    first, second = (sets_by_row(table, 4, person="whose") for _ in range(2))

    # Independent sets of 4 among 16 that share the true member are equal with probability 1/455; 4.5 standard errors.
    assert (first == second).all(axis=1).mean() < 1 / 455 + 4.5 * np.sqrt(1 / 455 / N)


def test_under_a_key_a_person_is_the_same_in_every_table_and_type() -> None:
    table, key = table_of(16), ld.Key.new()
    numbers = table.append_column("whose", pa.array(np.arange(N)))
    texts = table.append_column("whose", pa.array([str(i) for i in range(N)]))
    floats = table.append_column("whose", pa.array(np.arange(N).astype(float)))

    first, *others = (sets_by_row(t, 4, key=key, person="whose") for t in (numbers, texts, floats))

    for other in others:
        np.testing.assert_array_equal(first, other)
    np.testing.assert_array_equal(first, sets_by_row(numbers, 4, key=key, record_id="whose"))


@pytest.mark.parametrize(("l", "shared"), [(2, 1), (3, 2), (3, 1)])
def test_where_no_partitions_are_known_a_change_gives_more_than_one_set(l: int, shared: int) -> None:
    table, changed, old, _ = changed_table(9)
    key = ld.Key.new()
    # Groups of different sizes: the weights of sets are not known to split into partitions.
    group = np.array([0, 0, 1, 1, 2, 2, 3, 4, 5])
    distance = ld.MatrixDistance(
        [f"d{v:02d}" for v in range(9)], np.where(np.eye(9), 0.0, 1.0 + np.not_equal.outer(group, group))
    )
    method = ld.SemanticDiversity(l=l, d=2, distance=distance)
    first, second = (sets_by_row(t, l, key=key, record_id="id", method=method) for t in (table, changed))

    in_second = (first[:, :, None] == second[:, None, :]).any(axis=2)
    some = in_second.sum(axis=1) == shared
    only_first = first[some][~in_second[some]].reshape(-1, l - shared)[:, 0]
    right = (only_first == old[some]).mean()

    # Given different sets, the values differ: a member of both sets leaves l - 1 choices for the other value, any
    # other member l. A binomial share; 4.5 standard errors: a false alarm in 7e-6 of runs of each case.
    predicted = l / (l * l - shared)
    assert abs(right - predicted) < 4.5 * np.sqrt(predicted * (1 - predicted) / some.sum())
    assert predicted > 1 / l


def test_the_guide_names_the_gain_of_a_change() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "republishing.md").read_text()

    rows = [line.strip("|").split("|") for line in guide.splitlines() if line.startswith(("| 2 ", "| 3 ", "| 4 "))]
    said = {int(l): (float(claimed), float(worst)) for l, claimed, worst in rows}
    assert said == {l: (round(1 / l, 3), round(l / (l * l - l + 1), 3)) for l in (2, 3, 4)}


OTHER_ROWS = {
    "domain": {"sensitive": ld.Sensitive("disease", domain=[f"d{v:02d}" for v in range(17)])},
    "order of the domain": {"sensitive": ld.Sensitive("disease", domain=[f"d{v:02d}" for v in range(15, -1, -1)])},
    "mechanism": {"method": ld.SemanticDiversity(l=3, d=1, distance=ld.DiscreteDistance())},
    "l": {"method": ld.RandomizedAddition(l=4)},
}


@pytest.mark.parametrize("change", OTHER_ROWS)
def test_with_a_key_another_domain_or_mechanism_draws_anew(change: str) -> None:
    table, key = table_of(16), ld.Key.new()
    domain = ld.Sensitive("disease", domain=[f"d{v:02d}" for v in range(16)])
    options = {"quasi": "row", "sensitive": domain, "method": ld.RandomizedAddition(l=3), "key": key, "record_id": "id"}

    first, second = ld.anonymize(table, **options), ld.anonymize(table, **{**options, **OTHER_ROWS[change]})

    sets = [
        np.array(r.domain("disease").values)[r.sets("disease")[np.argsort(np.asarray(r.table["row"]))]]
        for r in (first, second)
    ]
    shared = (sets[0][:, :, None] == sets[1][:, None, :]).sum(axis=(1, 2)) - 1
    # Independent dummies: of the second release's l - 1 dummies among F - 1 values each is one of the first's two
    # with probability 2 / (F - 1). The count's variance is below its mean; 4.5 standard errors: 7e-6.
    n_values, l = len(second.domain("disease")), second.mechanism("disease").l
    expected = (l - 1) * 2 / (n_values - 1)
    assert abs(shared.mean() - expected) < 4.5 * np.sqrt(expected / N)


def test_with_a_key_two_attributes_with_the_same_values_are_drawn_apart() -> None:
    table, key = table_of(16), ld.Key.new()
    twice = table.append_column("again", table["disease"])
    release = ld.anonymize(
        twice,
        quasi="row",
        sensitive=["disease", "again"],
        method=ld.RandomizedAddition(l=3),
        key=key,
        record_id="id",
        confirm=["disease", "again"],
    )

    # Two sets of 3 among 16 around the same value are equal with probability 1/105; 4.5 standard errors.
    same = (release.sets("disease") == release.sets("again")).all(axis=1).mean()
    assert same < 1 / 105 + 4.5 * np.sqrt(1 / 105 / N)


def test_with_a_key_the_parts_of_an_id_do_not_run_together() -> None:
    table = pa.table({"a": ["a", "ab"], "b": ["bc", "c"], "disease": ["x", "y"]})
    domain = ld.Sensitive("disease", domain=["w", "x", "y", "z"])

    # Joined without their lengths both ids would be "abc", and refused as one id twice.
    release = ld.anonymize(
        table, sensitive=domain, method=ld.RandomizedAddition(l=2), key=ld.Key.new(), record_id=["a", "b"]
    )

    assert release.n_rows == 2


def test_with_a_key_a_renamed_value_changes_every_set() -> None:
    table, key = table_of(16), ld.Key.new()
    names = [f"d{v:02d}" for v in range(16)]
    options = {"quasi": "row", "method": ld.RandomizedAddition(l=3), "key": key, "record_id": "id"}
    renamed = table.set_column(2, "disease", pa.array([n.replace("d15", "z") for n in table["disease"].to_pylist()]))

    first = ld.anonymize(table, sensitive=ld.Sensitive("disease", domain=names), **options)
    second = ld.anonymize(renamed, sensitive=ld.Sensitive("disease", domain=[*names[:15], "z"]), **options)

    codes = [r.sets("disease")[np.argsort(np.asarray(r.table["row"]))] for r in (first, second)]
    # The same codes, drawn independently: equal with probability 1/105; 4.5 standard errors.
    assert (codes[0] == codes[1]).all(axis=1).mean() < 1 / 105 + 4.5 * np.sqrt(1 / 105 / N)


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.int8(), pa.string()])
def test_with_a_key_the_type_of_a_column_does_not_matter(kind: pa.DataType) -> None:
    key = ld.Key.new()
    values = pa.array([i % 8 for i in range(200)])
    sensitive = ld.Sensitive("s", domain=range(8), missing="drop")

    def sets_of(column: pa.Array) -> np.ndarray:
        table = pa.table({"row": np.arange(len(column)), "s": column})
        release = ld.anonymize(
            table,
            quasi="row",
            sensitive=sensitive,
            method=ld.RandomizedAddition(l=3),
            key=key,
            record_id="row",
            confirm="row",
        )
        return release.sets("s")[np.argsort(np.asarray(release.table["row"]))]

    np.testing.assert_array_equal(sets_of(values), sets_of(values.cast(kind)))
