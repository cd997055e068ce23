"""The holder's question as one value, and its verbs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.datasets import patients

ROLES: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease", "drop": "name"}
PATIENTS = patients(200, seed=4)


def publication(method: str = "bsgi:l=2", **given: Any) -> ld.Publication:
    return ld.Publication(**{**ROLES, "method": method, **given})


@pytest.mark.parametrize("method", ["bsgi:l=2", "randomized-addition:l=2", "anatomy:l=2"])
def test_a_publication_publishes_what_anonymize_does(method: str) -> None:
    asked = publication(method)

    mine, theirs = (
        asked.publish(PATIENTS, insecure_seed=1),
        ld.anonymize(PATIENTS, **ROLES, method=method, insecure_seed=1),
    )

    assert mine.table.equals(theirs.table)


def test_one_publication_serves_every_month(tmp_path: Path) -> None:
    asked = publication()

    for month, seed in (("january", 1), ("february", 2)):
        asked.publish(patients(100, seed=seed), tmp_path / month)

    assert [ld.load_release(tmp_path / month).n_rows for month in ("january", "february")] == [100, 100]


@pytest.mark.parametrize("method", ["mondrian:l=2,model=k-anonymity:3", "semantic:l=2,d=1,distance=ordered"])
def test_a_check_says_what_would_be_promised(method: str) -> None:
    disease = ld.Sensitive("disease", domain=sorted(set(PATIENTS["disease"].to_pylist())))

    found = publication(method, sensitive=disease).check(PATIENTS)

    assert (found.records, found.roles) == (200, {"age": "quasi", "sex": "quasi", "disease": "sensitive"})
    assert found.promises
    assert all("disease" in promise for promise in found.promises)


@pytest.mark.parametrize(
    "given",
    [
        {"quasi": ["nobody"]},
        {"quasi": ["age", "disease"]},
        {"sensitive": ld.Sensitive("disease", domain=["flu"])},
        {"method": "randomized-addition:l=99"},
        {"method": "anatomy:l=99"},
        {"hierarchies": {"age": "nobody.csv"}},
        {"types": {"nobody": "text"}},
        {"method": "randomized-addition:l=2", "key": "nobody.key", "record_id": "zip"},
    ],
)
def test_a_check_raises_what_publishing_would(given: dict[str, Any]) -> None:
    asked = publication(**given)
    with pytest.raises(ld.LDiversityError) as published:
        asked.publish(PATIENTS)

    with pytest.raises(type(published.value)) as checked:
        asked.check(PATIENTS)

    assert str(checked.value) == str(published.value)


def test_a_check_raises_before_records_are_grouped_when_no_l_can_be_reached() -> None:
    with pytest.raises(ld.InfeasibleError, match="l must be at most"):
        publication("bsgi:l=99").check(PATIENTS)


def test_a_row_of_nobody_is_refused_before_records_are_grouped() -> None:
    someone = [None, *PATIENTS["name"].to_pylist()[1:]]
    table = PATIENTS.drop_columns("name").append_column("name", pa.array(someone))

    with pytest.raises(ld.SchemaError, match="person: column 'name' must not have missing values"):
        publication("mbf:l=2", person="name", drop=()).check(table)


def test_a_published_column_that_names_people_is_refused_until_confirmed() -> None:
    named = PATIENTS.append_column("patient_id", pa.array(range(200)))
    asked = publication(plain="patient_id")

    for act in (asked.check, asked.publish):
        with pytest.raises(ld.SchemaError, match="column 'patient_id' must be dropped or confirmed"):
            act(named)
    assert asked.plan(named).refused
    confirmed = publication(plain="patient_id", confirm="patient_id")
    assert not confirmed.plan(named).refused
    assert not any(one.blocking for one in confirmed.check(named).findings)
    assert [one.column for one in confirmed.publish(named).confirmed] == ["patient_id"]


def test_a_column_that_counts_the_rows_is_told() -> None:
    hidden = PATIENTS.append_column("shoe", pa.array(range(200)))

    assert "shoe" in [one.column for one in publication(plain="shoe").check(hidden).findings]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"method": "magic:l=2"}, "method must be one of randomized-addition, semantic"),
        ({"method": "bsgi:l"}, "a name and options such as 'bsgi:l=4', got 'l'"),
        ({"method": "bsgi:l=two"}, "method must have an integer for l, got 'two'"),
        ({"method": "mondrian:l=2,strict=perhaps"}, "method must have true or false for strict"),
        ({"method": "bsgi"}, "bsgi: l must be given"),
        ({"method": 3}, "must be a method or its text form, got int"),
        ({"method": {"job": "bsgi:l=2"}}, "must name every sensitive column and no other"),
        ({"types": {"zip": "color"}}, r"types\['zip'\] must be one of text, integer"),
        ({"data_format": "xml"}, "data_format must be one of 'parquet', 'csv'"),
        ({"layout": "sets"}, "layout must be left out with bsgi, a method that groups records"),
        ({"method": "randomized-addition:l=2", "key": "k"}, "record_id or person must be given with key"),
        (
            {"method": "randomized-addition:l=2", "person": "name", "record_id": "name"},
            "record_id must be left out when",
        ),
        ({"stable_order": True}, "stable_order must be left out with bsgi, a method that groups records"),
    ],
)
def test_what_breaks_a_rule_is_refused_when_it_is_made(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ld.ParameterError, match=sentence):
        publication(**given)


def test_unknown_and_lacking_arguments_are_faults_of_the_program() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'quasy'"):
        publication(quasy="age")
    with pytest.raises(TypeError, match="needs the keyword argument 'method'"):
        ld.Publication(sensitive="disease")  # type: ignore[typeddict-item]


def test_types_in_arrow_s_words_are_the_same_publication() -> None:
    assert publication(types={"zip": "string"}) == publication(types={"zip": "text"})


def test_one_method_for_all_columns_is_one_for_each() -> None:
    columns = {"sensitive": ["disease", "job"]}
    each = {"disease": "randomized-addition:l=2", "job": ld.RandomizedAddition(l=2)}

    assert publication("randomized-addition:l=2", **columns) == publication(**columns, method=each)


def test_an_option_that_is_given_several_times_is_a_list() -> None:
    asked = publication("mondrian:model=k-anonymity:3,model=entropy:2")

    assert asked.grouping == ld.Mondrian(model=["k-anonymity:3", "entropy:2"])


def test_a_key_is_given_once_and_with_record_ids(tmp_path: Path) -> None:
    key = ld.Key.new()
    key.save(tmp_path / "holder.key")
    sets = publication("randomized-addition:l=2", drop=(), record_id="name")
    named = publication("randomized-addition:l=2", drop=(), record_id="name", key=tmp_path / "holder.key")

    with pytest.raises(ld.ParameterError, match="key must be given with record_id"):
        sets.publish(PATIENTS)
    with pytest.raises(ld.ParameterError, match="key must be left out, because the publication names a key file"):
        named.publish(PATIENTS, key=key)
    with pytest.raises(ld.ParameterError, match="insecure_seed must be left out when there is a key"):
        named.publish(PATIENTS, insecure_seed=1)
    with pytest.raises(ld.ParameterError, match="key must be left out with bsgi"):
        publication().publish(PATIENTS, key=key)


def test_a_policy_without_a_table_takes_one_and_says_so(tmp_path: Path) -> None:
    publication().save(tmp_path / "policy.toml")
    policy = ld.Policy.read(tmp_path / "policy.toml")

    with pytest.raises(ld.ParameterError, match="a table must be given, because the policy names none"):
        policy.publish()

    assert policy.publish(table=PATIENTS).n_rows == policy.plan(PATIENTS).n_rows == 200


# --- what is given as a key ----------------------------------------------------------------------


def keyed(key: Any) -> ld.Publication:
    return ld.Publication(quasi="age", sensitive="disease", method="randomized-addition:l=2", record_id="id", key=key)


@pytest.mark.parametrize("given", [b"sEcRetsEcRetsEcRetsEcRetsEcRet!!", 5, ["sEcRet"]], ids=["bytes", "int", "list"])
def test_what_is_no_path_of_a_key_is_refused_without_showing_it(given: Any) -> None:
    table = pa.table({"id": [1, 2], "age": [30, 40], "disease": ["flu", "cut"]})
    for attempt in (lambda: keyed(given), lambda: ld.Key.load(given), lambda: keyed(None).publish(table, key=given)):
        with pytest.raises(ld.ParameterError, match="key must be") as refused:
            attempt()
        assert "sEcRet" not in str(refused.value)


@pytest.mark.parametrize("header", ["ldiversity-key-v1 ", ""])
def test_a_key_in_the_place_of_its_path_is_in_no_message_and_no_file(header: str, tmp_path: Path) -> None:
    ld.Key.new().save(tmp_path / "holder.key")
    secret = (tmp_path / "holder.key").read_text("ascii").split()[1]
    policy = {
        "sensitive": {"disease": {"method": "randomized-addition", "l": 2}},
        "key": {"file": header + secret, "record_id": ["id"]},
    }
    text = header + secret
    attempts = (
        lambda: keyed(text),
        lambda: ld.Key.load(f"{text}\n"),
        lambda: ld.Key.new().save(text),
        lambda: ld.Policy.from_dict(policy, folder=tmp_path),
    )
    for attempt in attempts:
        with pytest.raises(ld.ParameterError, match="must be the path of a key file") as refused:
            attempt()
        assert secret not in str(refused.value)


def test_a_publication_is_not_saved_over_a_key(tmp_path: Path) -> None:
    ld.Key.new().save(tmp_path / "holder.key")
    before = (tmp_path / "holder.key").read_bytes()

    for path in (tmp_path / "holder.key", None):
        with pytest.raises(ld.ParameterError, match="must not be that of a key"):
            keyed(path).save(tmp_path / "holder.key")
    assert (tmp_path / "holder.key").read_bytes() == before


@pytest.mark.parametrize("content", ["age,disease\n20,flu\n", "[tool]\nname = 1\n", "\x00\x01"])
def test_a_publication_is_not_saved_over_something_else(tmp_path: Path, content: str) -> None:
    table = tmp_path / "people.csv"
    table.write_text(content, encoding="utf-8")
    publication = ld.Publication(quasi="age", sensitive="disease", method="anatomy:l=2")

    with pytest.raises(ld.ParameterError, match="must be new or a publication's"):
        publication.save(table)

    assert table.read_text(encoding="utf-8") == content


def test_a_publication_is_saved_over_another(tmp_path: Path) -> None:
    for l in (2, 3):
        ld.Publication(quasi="age", sensitive="disease", method=f"anatomy:l={l}").save(tmp_path / "policy.toml")

    assert "l = 3" in (tmp_path / "policy.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("ending", "chosen", "stored"),
    [
        ("csv", None, "csv"),
        ("tsv", None, "csv"),
        ("csv", "parquet", "parquet"),
        ("parquet", None, "parquet"),
        ("parquet", "csv", "csv"),
        ("arrow", None, "parquet"),
        ("jsonl", None, "parquet"),
        ("xlsx", None, "parquet"),
        (None, None, "parquet"),
    ],
)
@pytest.mark.parametrize("method", ["randomized-addition:l=2", "anatomy:l=2"])
def test_the_format_follows_the_table_unless_it_is_chosen(
    tmp_path: Path, ending: str | None, chosen: Any, stored: str, method: str
) -> None:
    import pandas as pd

    frame = pd.DataFrame({"age": [41, 50, 68, 20], "disease": ["flu", "cut", "flu", "cold"]})
    file = tmp_path / f"table.{ending}"
    writers: dict[str | None, Any] = {
        "csv": lambda: frame.to_csv(file, index=False),
        "tsv": lambda: frame.to_csv(file, index=False, sep="\t"),
        "parquet": lambda: frame.to_parquet(file),
        "arrow": lambda: frame.to_feather(file),
        "jsonl": lambda: frame.to_json(file, orient="records", lines=True),
        "xlsx": lambda: frame.to_excel(file, index=False),
        None: lambda: None,
    }
    writers[ending]()
    asked = ld.Publication(quasi="age", sensitive="disease", method=method, data_format=chosen)

    release = asked.publish(frame if ending is None else file, tmp_path / "release")

    assert [one.name for one in (tmp_path / "release").glob("data.*")] == [f"data.{stored}"]
    assert release.n_rows == 4
    asked.save(tmp_path / "policy.toml")
    assert ld.Publication.load(tmp_path / "policy.toml") == asked
