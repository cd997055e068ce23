"""Nothing that is public tells of a record that was left out: no domain, range, label, bin, hierarchy, file.

Every method that groups records is run with every option that can leave records out, found through the catalog, on
tables in which the records that are likely to be left out hold values of their own in every column.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.catalog import CATALOG, OPTIONS
from ldiversity.methods import GroupingMethod, SensitiveColumn
from ldiversity.publish import _grouping

pytestmark = pytest.mark.filterwarnings("ignore::ldiversity.errors.LDiversityWarning")

LEAVE_OUT: Final[Mapping[str, Any]] = {"overflow": "suppress", "suppression": 0.3}
"""Options with which a method leaves records out instead of refusing the table."""

N, OUTLIERS = 90, 9


def text(rng: np.random.Generator) -> str:
    """Random, so that no compression hides it from a search of the bytes."""
    return rng.bytes(6).hex()


def make_table(seed: int, *, frequent: int = 60) -> pa.Table:
    """Records alike, and a few outliers: their `s` is the most frequent one, all their other values are their own."""
    rng = np.random.default_rng(seed)
    kinds = [text(rng) for _ in range(5)]
    zips, rares = [f"1{text(rng)}" for _ in range(3)], [text(rng) for _ in range(6)]
    rows = []
    for place in range(N):
        out = place < OUTLIERS
        rows.append(
            {
                "id": place,
                "age": int(rng.integers(5_000_000, 9_000_000)) if out else int(rng.integers(20, 40)),
                "zip": f"2{text(rng)}" if out else zips[rng.integers(3)],
                "job": text(rng) if out else rares[rng.integers(2)],
                "s": kinds[0] if place < frequent else kinds[1 + place % 4],
                "t": text(rng) if out else rares[rng.integers(6)],
                "pay": int(rng.integers(6_000_000, 8_000_000)) if out else int(rng.integers(100, 120)) * 1000 + 437,
            }
        )
    return pa.Table.from_pylist([rows[place] for place in rng.permutation(N)])


def settings() -> Iterator[Any]:
    for entry in CATALOG.values():
        if entry.family != "classes":
            continue
        switches = [name for name in entry.options if OPTIONS[name].kind == "switch"]
        fixed = {name: value for name, value in LEAVE_OUT.items() if name in entry.options}
        for chosen in product([False, True], repeat=len(switches)):
            options = {**fixed, **dict(zip(switches, chosen, strict=True))}
            words = [entry.name, *(f"{option}={value}" for option, value in options.items())]
            yield pytest.param(entry.name, options, id="-".join(words))


def method_of(name: str, options: Mapping[str, Any], values: list[str]) -> GroupingMethod:
    module, _, home = CATALOG[name].home.partition(":")
    tree = ld.Hierarchy.from_rows([(value, f"group-{place % 3}") for place, value in enumerate(values)])
    more = {"e": 1, "tree": tree} if name == "le-anatomy" else {}
    made: GroupingMethod = getattr(import_module(module), home).of_level(2, **options, **more)
    return made


def publish(name: str, options: Mapping[str, Any], table: pa.Table, **given: Any) -> ld.ClassRelease:
    method = method_of(name, options, sorted(set(table["s"].to_pylist())))
    arguments = {"sensitive": ["s", "t"], "quasi": ["age", "zip", "job"], "plain": "id", "confirm": "id", **given}
    try:
        release = ld.anonymize(table, method=method, **arguments)
    except ld.UnsupportedError:  # some take one sensitive column only
        release = ld.anonymize(table, method=method, **{**arguments, "sensitive": "s"})
    assert isinstance(release, ld.ClassRelease)
    return release


def table_for(name: str, seed: int) -> pa.Table:
    """One value is so frequent that records must be left out, where a method does that; else nothing is frequent."""
    choosy = "overflow" in CATALOG[name].options or name in {"mbf", "llmsu"}
    return make_table(seed, frequent=60 if choosy else 30)


# --- what a reader can see ------------------------------------------------------------------------------------------


def secrets_of(table: pa.Table, release: ld.ClassRelease, declared: tuple[str, ...] = ()) -> set[str]:
    """What only records that were left out hold, as texts."""
    published = set(release.columns(["id"])["id"].to_pylist())
    seen: dict[bool, set[str]] = {True: set(), False: set()}
    for row in table.to_pylist():
        cells = {str(cell) for column, cell in row.items() if column not in {"id", *declared} and cell is not None}
        seen[row["id"] in published] |= {cell for cell in cells if len(cell) > 3}
    return seen[False] - seen[True]


def facts_of(release: ld.ClassRelease) -> str:
    forms = {
        name: [form.kind, form.low, form.high, form.labels, form.hierarchy and form.hierarchy.rows, repr(form.marginal)]
        for name, form in release.forms.items()
    }
    domains = {name: release.domain(name).to_dict() for name in release.sensitive}
    claims = [[claim.statement, claim.rule.to_dict()] for claim in release.claims]
    mechanisms = {name: release.mechanism(name).to_dict() for name in release.sensitive}
    words = [release.not_protected, release.warnings, release.suppressed]
    return json.dumps([forms, domains, claims, mechanisms, words, release.table.to_pylist()], default=str)


def bytes_of(folder: Path) -> bytes:
    content = b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
    for file in folder.glob("*.parquet"):
        footer = pq.ParquetFile(file)
        content += repr(footer.metadata).encode() + repr(footer.schema_arrow).encode()
        content += json.dumps(footer.metadata.to_dict(), default=str).encode()
        content += json.dumps(footer.read().to_pylist(), default=str).encode()
    return content


def leaks(release: ld.ClassRelease, table: pa.Table, folder: Path, declared: tuple[str, ...] = ()) -> set[str]:
    secrets = secrets_of(table, release, declared)
    for data_format in ("parquet", "csv"):
        release.save(folder / data_format, data_format=data_format)  # type: ignore[arg-type]
    content = facts_of(release).encode() + bytes_of(folder / "parquet") + bytes_of(folder / "csv")
    numbers = {secret for secret in secrets if secret.isdigit()}
    found = {secret for secret in numbers if int(secret).to_bytes(8, "little") in content}
    return found | {secret for secret in secrets if secret.encode() in content}


# --- the contract ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("name", "options"), [*settings()])
def test_nothing_public_tells_of_a_record_that_was_left_out(
    name: str, options: Mapping[str, Any], seed: int, tmp_path: Path
) -> None:
    table = table_for(name, seed)

    release = publish(name, options, table, insecure_seed=seed)

    assert leaks(release, table, tmp_path) == set()
    release.verify()


@pytest.mark.parametrize("how", ["auto", "prefix", "prefix:3/2"])
@pytest.mark.parametrize(("name", "options"), [("bsgi", {"overflow": "suppress"}), ("incognito", {"suppression": 0.3})])
def test_hierarchies_of_texts_are_made_from_what_is_published(
    name: str, options: Mapping[str, Any], how: str, tmp_path: Path
) -> None:
    table = table_for(name, 3)

    release = publish(name, options, table, insecure_seed=1, hierarchies={"zip": how})

    assert release.suppressed
    assert leaks(release, table, tmp_path) == set()


@pytest.mark.parametrize("how", ["auto", "width:5/10", "quantiles:4/2"])
@pytest.mark.parametrize(("name", "options"), [("bsgi", {"overflow": "suppress"}), ("incognito", {"suppression": 0.3})])
def test_hierarchies_of_numbers_are_made_from_what_is_published(
    name: str, options: Mapping[str, Any], how: str, tmp_path: Path
) -> None:
    table = table_for(name, 4)

    release = publish(name, options, table, insecure_seed=1, hierarchies={"age": how})

    assert release.suppressed
    assert leaks(release, table, tmp_path) == set()
    published = set(release.table["id"].to_pylist())
    made = ld.anonymize(
        table.filter(pa.array([row["id"] in published for row in table.to_pylist()])),
        quasi="age",
        sensitive="s",
        method=ld.Incognito(model="k-anonymity:2"),
        hierarchies={"age": how},
        marginals=True,
    )
    assert isinstance(made, ld.ClassRelease)
    alone = {label for row in made.forms["age"].hierarchy.rows for label in row}  # type: ignore[union-attr]
    shown = {label.removesuffix(" (other)") for row in release.forms["age"].hierarchy.rows for label in row}  # type: ignore[union-attr]
    assert shown <= alone


PAYS = {"quantiles": ld.Sensitive("pay", quantiles=4), "width": ld.Sensitive("pay", width=1000)}


@pytest.mark.parametrize("pay", PAYS.values(), ids=PAYS.keys())
@pytest.mark.parametrize("name", ["mbf", "llmsu", "bsgi"])
def test_bins_are_those_of_published_records(name: str, pay: ld.Sensitive, tmp_path: Path) -> None:
    table = make_table(5)
    options = {"overflow": "suppress"} if name == "bsgi" else {}

    release = publish(name, options, table, insecure_seed=1, sensitive=["s", pay])

    published = set(release.table["id"].to_pylist())
    pays = [row["pay"] for row in table.to_pylist() if row["id"] in published]
    fitted = ld.plan(
        table.filter(pa.array([row["id"] in published for row in table.to_pylist()])),
        sensitive=pay,
        method=ld.RandomizedAddition(l=2),
    )
    edges = release.domain("pay").edges
    assert edges is not None
    assert edges[0] <= min(pays) <= max(pays) <= edges[-1]
    assert fitted.attributes[0].n_values == len(release.domain("pay"))  # type: ignore[union-attr]
    assert leaks(release, table, tmp_path) == set()


@pytest.mark.parametrize("seed", range(8))
def test_the_example_of_eight_people(seed: int, tmp_path: Path) -> None:
    table = pa.table(
        {"id": range(8), "age": [59, 33, 51, 63, 54, 47, 69, 40], "s0": list("CDCBBBEA"), "s1": list("DEBADBCC")}
    )

    release = ld.anonymize(
        table,
        quasi="age",
        plain="id",
        confirm="id",
        sensitive=["s0", "s1"],
        method=ld.MBF(l=3),
        output=tmp_path / "release",
        insecure_seed=seed,
    )

    published = set(release.table["id"].to_pylist())
    assert len(published) < 8
    for name in ("s0", "s1"):
        shown = {row[name] for row in table.to_pylist() if row["id"] in published}
        assert set(release.domain(name).values) == shown
    manifest = json.loads((tmp_path / "release" / "release.json").read_text())
    assert {entry["attribute"]: set(entry["domain"]["values"]) for entry in manifest["sensitive"]} == {
        name: set(release.domain(name).values) for name in ("s0", "s1")
    }


def test_a_declared_domain_stays_as_declared() -> None:
    table = make_table(6)
    values = tuple(sorted({*table["t"].to_pylist(), "never"}))

    release = publish("mbf", {}, table, sensitive=["s", ld.Sensitive("t", domain=values)])

    assert release.suppressed
    assert release.domain("t").values == values


# --- rows that are dropped because a sensitive value is missing ------------------------------------------------------


@pytest.mark.parametrize("method", [ld.RandomizedAddition(l=2), ld.BSGI(l=2), ld.MBF(l=2), ld.Incognito(l=2)], ids=repr)
def test_nothing_public_tells_of_a_row_that_was_dropped(method: ld.Method, tmp_path: Path) -> None:
    table = make_table(7, frequent=30)
    dropped = [row["pay"] > 1_000_000 for row in table.to_pylist()]
    missing = pa.array([None if out else value for out, value in zip(dropped, table["s"].to_pylist(), strict=True)])
    table = table.set_column(table.schema.get_field_index("s"), "s", missing)
    wanted = [ld.Sensitive("s", missing="drop"), ld.Sensitive("t"), ld.Sensitive("pay", quantiles=4)]

    roles = {"quasi": ["age", "zip"], "sensitive": wanted, "plain": "id", "confirm": "id"}
    release = ld.anonymize(table, **roles, method=method, output=tmp_path / "release")

    kept = [row for row, out in zip(table.to_pylist(), dropped, strict=True) if not out]
    assert release.n_rows <= len(kept)
    assert set(release.domain("t").values) <= {row["t"] for row in kept}
    lost = {str(row[name]) for row, out in zip(table.to_pylist(), dropped, strict=True) if out for name in ("t", "zip")}
    assert not {cell for cell in lost if cell.encode() in bytes_of(tmp_path / "release")}
    assert release.domain("pay").edges[-1] <= max(row["pay"] for row in kept) * 1.1  # type: ignore[index]
    assert any("9 rows are not published, because the value is missing" in note for note in release.notes)


# --- the claim on the smaller domain --------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["t-closeness:0.4:ordered", "t-closeness:0.4", "beta-likeness:2", "frequency:2"])
def test_the_claim_holds_on_what_is_published(model: str, tmp_path: Path) -> None:
    table = make_table(8, frequent=30)
    given = {"quasi": ["age", "zip"], "sensitive": "s", "plain": "id", "confirm": "id"}
    release = ld.anonymize(table, method=ld.Incognito(model=model, suppression=0.3), **given)  # type: ignore[assignment]

    release.verify()
    assert leaks(release, table, tmp_path) == set()


# --- planted violations: what the contract must find ----------------------------------------------------------------


def test_a_domain_of_all_records_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def unchanged(column: SensitiveColumn, shown: Any) -> SensitiveColumn:
        return column

    monkeypatch.setattr(_grouping, "public_column", unchanged)
    monkeypatch.setattr(_grouping, "tells_nothing", lambda *_: True)
    table = make_table(1)

    release = publish("mbf", {}, table, insecure_seed=1)

    assert leaks(release, table, tmp_path)


def test_a_hierarchy_of_all_records_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_grouping, "tells_nothing", lambda *_: True)
    table = make_table(4, frequent=30)

    release = publish("incognito", {"suppression": 0.3}, table, insecure_seed=1, hierarchies={"age": "quantiles:4/2"})

    assert leaks(release, table, tmp_path)


def test_the_tables_leave_records_out() -> None:
    secrets = {}
    for param in settings():
        name, options = param.values
        table = table_for(str(name), 1)
        secrets[str(name)] = secrets_of(table, publish(str(name), options, table, insecure_seed=1))  # type: ignore[arg-type]

    assert {name for name, found in secrets.items() if found} >= {"anatomy", "bsgi", "incognito", "llmsu", "mbf"}
