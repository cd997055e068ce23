"""Publishing twice: with a key the sets stay, without one they intersect at the predicted rate."""

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
    release = ld.anonymize(table, quasi="row", sensitive="disease", method=ld.RandomizedAddition(l=l), **options)
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


def test_a_changed_value_looks_like_a_fresh_draw() -> None:
    table, key = table_of(16), ld.Key.new()
    codes = np.array([int(text[1:]) for text in table["disease"].to_pylist()])
    changed = table.set_column(2, "disease", pa.array([f"d{(c + 1) % 16:02d}" for c in codes]))
    first, second = (sets_by_row(t, 3, key=key, record_id="id") for t in (table, changed))

    dummies_first = first[first != codes[:, None]].reshape(N, 2)
    dummies_second = second[second != ((codes + 1) % 16)[:, None]].reshape(N, 2)
    shared = (dummies_first[:, :, None] == dummies_second[:, None, :]).sum(axis=(1, 2))

    # Two dummies of 15 against two dummies of 15, drawn independently: 4 pairs, each equal with probability 14/225
    # (both must avoid both true values). The mean count has variance below its mean; 4.5 standard errors.
    expected = 4 * 14 / 225
    assert abs(shared.mean() - expected) < 4.5 * np.sqrt(expected / N)


@pytest.mark.parametrize(("n_values", "l", "shared"), [(16, 2, 1), (8, 3, 2), (8, 3, 1)])
def test_two_keyed_sets_around_a_change_give_more_than_one_set(n_values: int, l: int, shared: int) -> None:
    rng, table, key = np.random.default_rng(5), table_of(n_values), ld.Key.new()
    old = np.array([int(text[1:]) for text in table["disease"].to_pylist()])
    new = (old + rng.integers(1, n_values, N)) % n_values
    changed = table.set_column(2, "disease", pa.array([f"d{code:02d}" for code in new]))
    first, second = (sets_by_row(t, l, key=key, record_id="id") for t in (table, changed))

    in_second = (first[:, :, None] == second[:, None, :]).any(axis=2)
    some = in_second.sum(axis=1) == shared
    only_first = first[some][~in_second[some]].reshape(-1, l - shared)[:, 0]
    right = (only_first == old[some]).mean()

    # Given different sets, the values differ: a member of both sets leaves l - 1 choices for the other value, any
    # other member l. A binomial share; 4.5 standard errors: a false alarm in 7e-6 of runs of each case.
    predicted = l / (l * l - shared)
    error = np.sqrt(predicted * (1 - predicted) / some.sum())
    assert abs(right - predicted) < 4.5 * error
    assert predicted > 1 / l


def test_the_guide_names_the_gain_of_a_change() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "republishing.md").read_text()

    rows = [line.strip("|").split("|") for line in guide.splitlines() if line.startswith(("| 2 ", "| 3 ", "| 4 "))]
    said = {int(l): (float(claimed), float(worst)) for l, claimed, worst in rows}
    assert said == {l: (round(1 / l, 3), round(l / (l * l - l + 1), 3)) for l in (2, 3, 4)}
    assert "gains nothing" not in guide


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
        twice, quasi="row", sensitive=["disease", "again"], method=ld.RandomizedAddition(l=3), key=key, record_id="id"
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
            table, quasi="row", sensitive=sensitive, method=ld.RandomizedAddition(l=3), key=key, record_id="row"
        )
        return release.sets("s")[np.argsort(np.asarray(release.table["row"]))]

    np.testing.assert_array_equal(sets_of(values), sets_of(values.cast(kind)))
