"""Risks where a person has several rows: people are attacked and counted, not rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.errors import ParameterError, SchemaError
from ldiversity.evaluation.attacks._shown import People, draw_people

N_PEOPLE, VISITS = 120, 3
RISKS = ["singling-out", "linkability", "inference"]


def visits(seed: int, *, shared: int = 1) -> pa.Table:
    """Everybody has three rows with the same quasi-identifiers; `shared` people have the same ones."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(N_PEOPLE), VISITS)
    looks = rng.permutation(10 * N_PEOPLE)[who // shared] * 7
    return pa.table(
        {
            "who": [f"p{one}" for one in who],
            "age": looks,
            "height": (looks * 31) % 9973,
            "disease": [f"d{code}" for code in rng.integers(0, 8, len(who))],
        }
    )


def published(table: pa.Table) -> ld.Release:
    return ld.anonymize(
        table, quasi=["age", "height"], sensitive="disease", person="who", method=ld.RandomizedAddition(l=3),
        confirm=["age", "height"], insecure_seed=1,
    )  # fmt: skip


def found(table: pa.Table, control: pa.Table | None = None, **more: object) -> dict[str, ld.PrivacyRisk]:
    report = ld.attack(published(table), table, control=control, attacks=RISKS, person="who", **more)  # type: ignore[arg-type]
    return {one.attack: one for one in report.risks}


def shares(table: pa.Table, person: str | None) -> dict[str, float]:
    """How often somebody is singled out where quasi-identifiers alone are published, as they are."""
    report = ld.attack_table(table.select(["age", "height"]), table, attacks="singling-out", person=person)
    return {one.attack: one.success.share for one in report.risks if "univariate" not in one.attack}


def test_rows_of_one_person_single_them_out() -> None:
    # Three rows look alike, so no row is alone; but all three are one person's.
    assert shares(visits(1), None)["singling-out (record)"] == 0
    assert shares(visits(1), "who")["singling-out (record)"] == 1


def test_rows_of_several_people_single_nobody_out() -> None:
    assert set(shares(visits(1, shared=2), "who").values()) == {0}


def test_people_are_drawn_and_not_rows() -> None:
    of_people = found(visits(1), visits(2))

    assert {name: one.success.tries for name, one in of_people.items() if "singling" not in name} == {
        "linkability": N_PEOPLE,
        "inference ('disease')": N_PEOPLE,
    }
    assert {one.details["people"] for one in of_people.values()} == {N_PEOPLE}
    assert of_people["linkability"].control is not None
    assert of_people["linkability"].control.tries == N_PEOPLE


def test_any_value_of_a_person_is_right() -> None:
    """Each value of the table is somebody's: with all values in all rows of everybody, every guess is right."""
    who = np.repeat(np.arange(60), 3)
    table = pa.table({"who": who, "age": who * 10, "disease": [f"d{place % 3}" for place in range(len(who))]})
    release = ld.anonymize(
        table, quasi="age", sensitive="disease", person="who", method=ld.Anatomy(l=2), confirm="age", insecure_seed=1
    )

    report = ld.attack(release, table, attacks="inference", person="who")

    assert report.risks[0].success.successes == report.risks[0].success.tries == 60
    assert report.risks[0].baseline.share == 1
    assert "no better than guessing" in str(report.risks[0].caution)


def test_everybody_is_drawn_once_and_equally_often() -> None:
    """Somebody with 9 of 12 rows is drawn no more often than the others.

    Each of four people is in a draw of two with probability 1/2. In 400 draws, a count leaves 200 +- 50 with a
    probability below 2 * exp(-2 * 50**2 / 400) < 1e-5, for each of four people.
    """
    whose = np.array([0] * 9 + [1, 2, 3])
    people = People({"age": np.arange(12)}, 12, whose)
    rng = np.random.default_rng(5)
    drawn = [draw_people(people, 2, rng).whose for _ in range(400)]

    assert all(one is not None and len(set(one.tolist())) == 2 for one in drawn)
    assert np.all(np.abs(np.bincount(np.concatenate([one for one in drawn if one is not None])) - 200) <= 50)


def test_a_control_table_must_say_whose_row_it_is() -> None:
    table = visits(1)

    with pytest.raises(ParameterError, match=r"control must have the column 'who', which says whose row it is"):
        found(table, visits(2).drop_columns("who"))


def test_somebody_without_a_name_is_refused() -> None:
    table = visits(1)
    nameless = table.set_column(0, "who", pa.array([None, *table["who"].to_pylist()[1:]]))

    with pytest.raises(SchemaError, match="must not have missing values"):
        ld.attack(published(table), nameless, attacks="singling-out", person="who")
