"""Classes of tables that are cut into parts: all that holds in one piece holds for every method that can be cut."""

from __future__ import annotations

import pickle
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.base.randomness import Key
from ldiversity.catalog import CATALOG, LISTED, MethodEntry
from ldiversity.engines import LocalEngine, Rows, Secrets
from ldiversity.methods import GroupingMethod
from ldiversity.models import count_classes
from ldiversity.publish import _publish_classes
from ldiversity.publish._parts import PartSizes, _publish
from ldiversity.publish._parts._show import ClassNumbers

DISEASES: Final = ["angina", "asthma", "cold", "cut", "flu", "measles", "sty"]
QUASI: Final = ["age", "zip", "born", "weight"]
TREE: Final = ld.Hierarchy.from_rows([(disease, f"group-{code % 3}") for code, disease in enumerate(DISEASES)])
REQUIRED: Final[dict[str, dict[str, Any]]] = {"le-anatomy": {"e": 1, "tree": TREE}}
N: Final = 2500


def load(entry: MethodEntry, **options: Any) -> GroupingMethod:
    module, _, name = entry.home.partition(":")
    made: GroupingMethod = getattr(import_module(module), name).of_level(2, **REQUIRED.get(entry.name, {}), **options)
    return made


GROUPING: Final = [entry for entry in CATALOG.values() if entry.family == "classes"]
METHODS: Final = [pytest.param(entry, id=entry.name) for entry in GROUPING if load(entry).parts is not None]


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Records of which everyone can be told by their number; every sixth has another record."""
    rng = np.random.default_rng(3)
    age = rng.integers(18, 80, N)
    return pa.table(
        {
            "id": np.arange(N),
            "who": np.arange(N) % (N * 5 // 6),
            "age": pa.array(age, mask=rng.random(N) < 0.03),
            "zip": [f"{code:05d}" for code in rng.choice([10115, 10117, 20095, 20097, 80331], N)],
            "born": pa.array(19000 - age * 365 + rng.integers(0, 300, N), pa.int32()).cast(pa.date32()),
            "weight": rng.normal(70, 10, N).round(1),
            "disease": rng.choice(DISEASES, N),
            "job": rng.choice(["baker", "clerk", "judge", "nurse", "smith"], N),
        }
    )


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of five hundred rows, whatever the memory."""
    monkeypatch.setattr(_publish_classes, "part_sizes", lambda _: PartSizes(500))


def publish(table: pa.Table, method: GroupingMethod, output: Path | None, **given: Any) -> ld.ClassRelease:
    decisions = {
        "quasi": QUASI,
        "sensitive": ld.Sensitive("disease", domain=DISEASES),
        "plain": "id",
        "drop": ["who", "job"],
        "confirm": "id",
        **given,
    }
    release = ld.anonymize(table, method=method, output=output, **decisions)
    assert isinstance(release, ld.ClassRelease)
    return release


def in_one_piece(monkeypatch: pytest.MonkeyPatch, table: pa.Table, method: GroupingMethod, **given: Any) -> Any:
    with monkeypatch.context() as context:
        context.setattr(_publish_classes, "part_sizes", lambda _: None)
        return publish(table, method, None, **given)


def values_of(release: ld.ClassRelease, table: pa.Table, attribute: str = "disease") -> np.ndarray:
    """The classes of the release by values, as the source has them."""
    domain = release.domain(attribute)
    codes = np.array([domain.code_of[value] for value in table[attribute].to_pylist()], dtype=np.int32)
    own = codes[release.columns(["id"])["id"].to_numpy()]
    return count_classes(release.class_of(attribute), own, release.classes(attribute).n_classes, domain).dense()


@pytest.mark.parametrize("entry", METHODS)
def test_every_record_is_there_and_the_claim_holds_on_the_files(
    table: pa.Table, entry: MethodEntry, tmp_path: Path
) -> None:
    made = publish(table, load(entry), tmp_path / "release")

    read = ld.load_release(tmp_path / "release")
    assert isinstance(read, ld.ClassRelease)
    read.verify()
    ids = read.columns(["id"])["id"].to_pylist()
    assert len(set(ids)) == len(ids) == N - read.suppressed
    assert sorted(set(read.class_of("disease").tolist())) == list(range(read.classes("disease").n_classes))
    assert np.array_equal(read.classes("disease").dense(), values_of(read, table))
    assert any("grouped in" in note for note in made.notes)
    assert sorted(path.name for path in (tmp_path / "release").iterdir() if "sensitive" not in path.name) == [
        "data.parquet",
        "release.json",
    ]


@pytest.mark.parametrize("entry", METHODS)
def test_what_is_public_is_what_one_piece_would_say(
    table: pa.Table, entry: MethodEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apart = publish(table, load(entry), tmp_path / "release")
    whole = in_one_piece(monkeypatch, table, load(entry))

    for name in QUASI:
        ours, theirs = apart.forms[name], whole.forms[name]
        assert (ours.kind, ours.low, ours.high, ours.labels, ours.grid) == (
            theirs.kind,
            theirs.low,
            theirs.high,
            theirs.labels,
            theirs.grid,
        )
    assert apart.domain("disease") == whole.domain("disease")
    assert apart.claims == whole.claims
    assert apart.schema == whole.schema
    assert apart.not_protected == whole.not_protected
    ours, theirs = (one.mechanism("disease") for one in (apart, whole))
    assert (ours.parameters, ours.facts.keys()) == (theirs.parameters, theirs.facts.keys())


@pytest.mark.parametrize("entry", METHODS)
def test_neither_batches_nor_threads_change_a_release(table: pa.Table, entry: MethodEntry, tmp_path: Path) -> None:
    engines = [LocalEngine(workers=1, chunk_rows=5000), LocalEngine(workers=2, chunk_rows=611)]

    first, second = (
        publish(table, load(entry), tmp_path / str(place), insecure_seed=7, engine=engine)
        for place, engine in enumerate(engines)
    )

    assert first.table.equals(second.table)
    assert first.sensitive_table.equals(second.sensitive_table)
    assert not publish(table, load(entry), tmp_path / "fresh").table.equals(first.table)


@pytest.mark.parametrize("entry", METHODS)
def test_the_records_of_a_person_are_in_different_classes(table: pa.Table, entry: MethodEntry, tmp_path: Path) -> None:
    if load(entry).decides_by_counts:
        with pytest.raises(ld.UnsupportedError, match="person cannot be given"):
            publish(table, load(entry), tmp_path / "release", person="who", drop="job")
        return
    try:
        release = publish(table, load(entry), tmp_path / "release", person="who", drop="job")
    except ld.UnsupportedError:
        assert entry.name not in LISTED, "methods of other packages may refuse people with several rows"
        return

    release.verify()
    who = table["who"].to_numpy()[release.columns(["id"])["id"].to_numpy()]
    pairs = set(zip(release.class_of("disease").tolist(), who.tolist(), strict=True))
    assert len(pairs) == release.n_rows


@pytest.mark.parametrize("entry", METHODS)
def test_several_sensitive_columns_keep_their_claims(table: pa.Table, entry: MethodEntry, tmp_path: Path) -> None:
    both = [ld.Sensitive("disease", domain=DISEASES), "job"]
    try:
        release = publish(table, load(entry), tmp_path / "release", sensitive=both, drop="who")
    except ld.UnsupportedError:
        return  # some take one sensitive column only

    release.verify()
    for attribute in ("disease", "job"):
        assert release.claim(attribute).rule.failing(release.classes(attribute)).size == 0
        assert np.array_equal(release.classes(attribute).dense(), values_of(release, table, attribute))


@pytest.mark.filterwarnings("ignore::ldiversity.errors.LDiversityWarning")
def test_separate_classes_of_each_column_are_kept_apart(table: pa.Table, tmp_path: Path) -> None:
    both = [ld.Sensitive("disease", domain=DISEASES), "job"]

    release = publish(table, ld.LLMSU(l=3, joint=False), tmp_path / "release", sensitive=both, drop="who")

    release.verify()
    assert release.n_rows + release.suppressed == N
    assert not np.array_equal(release.class_of("disease"), release.class_of("job"))


def test_levels_of_all_records_are_chosen_by_counts(
    table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = ld.Hierarchy.from_rows([(code, code[:2], "*") for code in sorted(set(table["zip"].to_pylist()))])
    given: dict[str, Any] = {"quasi": ["age", "zip"], "drop": ["who", "job", "born", "weight"]}
    given |= {"hierarchies": {"zip": tree}}

    release = publish(table, ld.Incognito(l=3), tmp_path / "release", **given)

    whole = in_one_piece(monkeypatch, table, ld.Incognito(l=3), **given)
    assert release.mechanisms["disease"].facts["levels"] == whole.mechanisms["disease"].facts["levels"]
    assert release.classes("disease").n_classes == whole.classes("disease").n_classes > 1
    members = [
        {
            frozenset(one.columns(["id"])["id"].to_numpy()[one.class_of("disease") == number].tolist())
            for number in range(one.classes("disease").n_classes)
        }
        for one in (release, whole)
    ]
    assert members[0] == members[1]


def test_records_are_left_out_of_chosen_levels_in_one_piece_only(table: pa.Table, tmp_path: Path) -> None:
    with pytest.raises(ld.UnsupportedError, match="no record can be left out"):
        publish(table, ld.Incognito(l=3, suppression=0.1), tmp_path / "release")

    assert not list(tmp_path.iterdir())


class NeedsAll(ld.Anatomy):
    """A stranger's method that says nothing about parts."""

    parts = None


def test_a_method_that_needs_all_records_says_so_before_it_reads_them(table: pa.Table, tmp_path: Path) -> None:
    with pytest.raises(ld.UnsupportedError, match="needs all records at once"):
        publish(table, NeedsAll(l=2), tmp_path / "release")

    assert not list(tmp_path.iterdir())


def test_a_release_that_does_not_fit_into_memory_needs_a_folder(table: pa.Table) -> None:
    with pytest.raises(ld.ParameterError, match="output must be given"):
        publish(table, ld.BSGI(l=2), None)


def correlation(first: np.ndarray, second: np.ndarray) -> float:
    """The correlation of ranks, in standard deviations of what chance gives."""
    ranks = [np.argsort(np.argsort(one, kind="stable")) for one in (first, second)]
    return float(np.corrcoef(*ranks)[0, 1]) * np.sqrt(len(first) - 1)


def told_by_numbers(table: pa.Table, output: Path) -> float:
    release = publish(table, ld.BSGI(l=2), output, quasi="age", drop=["who", "job", "zip", "born", "weight"])
    lows = release.table["age"].combine_chunks().field("low").to_numpy(zero_copy_only=False)
    known = ~np.isnan(lows)
    return correlation(release.class_of("disease")[known], lows[known])


def test_the_number_of_a_class_and_the_order_of_rows_do_not_tell_the_part(table: pa.Table, tmp_path: Path) -> None:
    """Parts are ranges of age. Records of a class share a number, so about N / 2 are independent: 7 is 5 deviations."""
    assert abs(told_by_numbers(table, tmp_path / "release")) < 7

    release = ld.load_release(tmp_path / "release")
    lows = release.table["age"].combine_chunks().field("low").to_numpy(zero_copy_only=False)
    known = np.flatnonzero(~np.isnan(lows))
    assert abs(correlation(known, lows[known])) < 5


def test_numbers_in_the_order_of_parts_would_be_found(
    table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class InOrder:
        def of(self, numbers: np.ndarray) -> np.ndarray:
            return numbers

    monkeypatch.setattr(ClassNumbers, "order", lambda *_: InOrder())

    assert abs(told_by_numbers(table, tmp_path / "release")) > 7


@pytest.mark.parametrize("entry", METHODS)
def test_what_travels_to_workers_can_be_pickled_and_holds_no_key(
    table: pa.Table, entry: MethodEntry, tmp_path: Path
) -> None:
    class Travelling(LocalEngine):
        """Sends every factory through bytes, and searches them for the key of the job."""

        def map(self, factory: Any, *given: Any, secrets: Secrets) -> Rows:
            return super().map(sent(factory), *given, secrets=secrets)

        def partition(self, factory: Any, *given: Any, **more: Any) -> Rows:
            return super().partition(sent(factory), *given, **more)

    def sent(factory: Any) -> Any:
        travelling = pickle.dumps(factory)
        assert Key.from_insecure_seed(7)._secret not in travelling
        return pickle.loads(travelling)  # noqa: S301 - our own

    apart = publish(table, load(entry), tmp_path / "sent", insecure_seed=7, engine=Travelling(workers=1))
    here = publish(table, load(entry), tmp_path / "here", insecure_seed=7)

    assert apart.table.equals(here.table)


def test_a_person_with_too_many_records_for_a_part_is_one_sentence(table: pa.Table, tmp_path: Path) -> None:
    oldest = np.argsort(np.argsort(-np.asarray(table["age"].fill_null(0)), kind="stable"))
    crowd = np.where(oldest < 3 * N // 10, -1, np.arange(N))
    often = table.set_column(1, "who", pa.array(crowd))
    alone = {"quasi": "age", "drop": ["job", "zip", "born", "weight"], "person": "who"}

    with pytest.raises(ld.UnsupportedError, match="memory must hold larger parts of the table"):
        publish(often, ld.BSGI(l=3), tmp_path / "release", **alone)

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("method", "more_often"), [(ld.Mondrian(l=3), 2), (ld.TP(l=3), 0)])
def test_parts_that_became_too_large_are_cut_finer_where_that_helps(
    table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: GroupingMethod, more_often: int
) -> None:
    made, asked = _publish.cut_table, []

    def joined(preparation: Any, shape: Any, n_parts: int, **more: Any) -> Any:
        asked.append(n_parts)
        cut = made(preparation, shape, n_parts, **more)
        return replace(cut, largest=N) if len(asked) <= 2 or not more_often else cut

    monkeypatch.setattr(_publish, "cut_table", joined)
    if more_often:
        publish(table, method, tmp_path / "release")
    else:
        with pytest.raises(ld.UnsupportedError, match=f"memory must hold {N} of"):
            publish(table, method, tmp_path / "release")

    assert asked == [asked[0] * 2**power for power in range(more_often + 1)]


def of_large_classes(n: int = 4900) -> pa.Table:
    """In each of two towns, all diseases are equally frequent."""
    places = np.arange(n)
    return pa.table(
        {
            "id": places,
            "town": np.array(["north", "south"])[places // 7 % 2],
            "disease": np.array(DISEASES)[places % 7],
        }
    )


def test_records_that_agree_and_are_too_many_for_a_part_become_several_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In pieces of a thousand, chance gives a value a fifth instead of a seventh once in a million times.
    monkeypatch.setattr(_publish_classes, "part_sizes", lambda _: PartSizes(1000))
    table = of_large_classes()
    made = publish(table, ld.Incognito(l=5), tmp_path / "release", quasi="town", drop=[])

    made.verify()
    classes = values_of(made, table)
    towns = np.asarray(table["town"])[made.columns(["id"])["id"].to_numpy()]
    assert sorted(made.columns(["id"])["id"].to_pylist()) == list(range(table.num_rows))
    assert (classes.max(axis=1) * 5 <= classes.sum(axis=1)).all()
    assert classes.sum(axis=1).max() < 1000  # neither town fits into a part
    assert all(len(set(towns[made.class_of("disease") == number])) == 1 for number in range(len(classes)))


def test_pieces_in_which_a_value_exceeds_its_share_are_not_published(tmp_path: Path) -> None:
    """Where every value has exactly its share, chance divides it unequally."""
    with pytest.raises(ld.UnsupportedError, match="memory must hold"):
        publish(of_large_classes(), ld.Incognito(l=7), tmp_path / "release", quasi="town", drop=[])

    assert not list(tmp_path.iterdir())
