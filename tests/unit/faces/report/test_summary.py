"""The first box of a report: nothing further down is worse than it says, and no sentence contradicts another."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.base.findings import Confirmed
from ldiversity.evaluation.attacks import AttackReport, AttackResult, Criterion, PrivacyRisk, Rate
from ldiversity.evaluation.audit import audit
from ldiversity.faces.report._criteria import answer_criteria
from ldiversity.faces.report._parts import Published
from ldiversity.faces.report._summary import Found, summarize

ROLES = {"quasi": ["age"], "sensitive": "disease"}


@pytest.fixture(scope="module")
def people() -> pa.Table:
    """One value is common: whoever knows that is surer than the sets alone allow."""
    drawn = np.random.default_rng(3)
    return pa.table(
        {
            "age": drawn.integers(20, 24, 400),
            "disease": drawn.choice(["flu", "cold", "cut", "gout", "sty", "ache"], 400, p=[0.7, *[0.06] * 5]),
        }
    )


@pytest.fixture(scope="module")
def release(people: pa.Table) -> ld.Release:
    return ld.anonymize(people, **ROLES, method=ld.RandomizedAddition(l=3), insecure_seed=1)


@pytest.fixture(scope="module")
def safe() -> ld.Release:
    people = pa.table({"age": [30, 40] * 60, "disease": ["flu", "cold", "cut", "gout", "sty", "ache"] * 20})
    return ld.anonymize(people, **ROLES, method=ld.Mondrian(l=3), insecure_seed=1)


def result(success: float, *, claim: float | None = 1 / 3, broken: bool = False, scored: bool = True) -> AttackResult:
    return AttackResult(
        attack="planted", knowledge="They know it.", attribute="disease", targets=9, found=9, success=success,
        interval=None, certain=0.0, certain_success=None, mean_belief=success, claim=claim, baseline=0.1,
        scored=scored, broken=broken,
    )  # fmt: skip


def found(release: ld.Release, *results: AttackResult, limit: float = 1.0) -> Found:
    published = Published("r", release.layout, "Sets.", release.n_rows, 0, (), (), ())
    attacks = AttackReport(tuple(results)) if results else None
    promised = {name: float(release.claim(name).posterior) for name in release.sensitive}
    return Found(published, audit(release, threshold=limit), attacks, None, "2026-01-02", None, promised)


def test_the_box_shows_the_greatest_figure_of_the_audit_not_the_claim(release: ld.Release) -> None:
    report = ld.user_report(release)
    worst = {one.what: one for one in report.summary.worst}["Learning a person's 'disease'"]

    assert report.audit.attribute_risk["disease"].largest_share == pytest.approx(1 / 3)
    assert worst.value == report.audit.attribute_risk["disease"].informed.largest_share > 0.5
    assert worst.state == "not covered"
    assert report.summary.verdict == "decide"


def test_an_attack_that_is_worse_than_the_audit_is_what_the_box_shows(safe: ld.Release) -> None:
    without, planted = summarize(found(safe)), summarize(found(safe, result(0.9, broken=True)))

    assert without.verdict == "within"
    assert planted.verdict == "stop"
    assert planted.worst[0].value == 0.9
    assert planted.reasons[0] == "An attack beats what the release promises: planted."
    assert not any("as promised" in text for text in planted.reasons)


def test_an_attack_within_chance_above_the_promise_is_no_green_box(safe: ld.Release) -> None:
    assert summarize(found(safe, result(0.5))).verdict == "decide"
    assert summarize(found(safe, result(0.5, claim=None))).worst[0].state == "not covered"
    assert summarize(found(safe, result(0.2))).verdict == "within"


def test_an_audit_that_fails_stops_the_release(safe: ld.Release) -> None:
    given = found(safe)
    failing = replace(given, audit=audit(safe, models="k-anonymity:100"))

    assert summarize(failing).verdict == "stop"


def test_a_figure_above_the_limit_of_being_found_is_no_green_box(safe: ld.Release) -> None:
    summary = summarize(found(safe, limit=0.001))

    assert summary.verdict == "decide"
    assert summary.worst[0].state == "above"


@pytest.mark.parametrize("attacks", [False, True])
def test_no_figure_of_a_report_is_worse_than_its_box(release: ld.Release, people: pa.Table, *, attacks: bool) -> None:
    for report in (ld.user_report(release, attacks=attacks), ld.holder_report(release, people, attacks=attacks)):
        worst = max(one.value for one in report.summary.worst)
        every = [gauge.value for gauge in report.risks]
        every += [] if report.attacks is None else [one.success for one in report.attacks.results]

        assert worst >= max(every)


def test_the_box_is_the_first_thing_on_the_page_and_says_at_worst_once_of_each(release: ld.Release) -> None:
    page = ld.user_report(release, attacks=True).to_html()
    box = page[page.index('id="summary"') : page.index("<nav>")]

    assert page.index('id="summary"') < page.index("<h2>")
    assert "To be decided" in box
    said = re.findall(r"(Learning a person&#x27;s &#x27;disease&#x27;|Finding a person&#x27;s record): at worst", box)
    assert sorted(said) == sorted(set(said))
    assert "33.4 %" in box  # only as the promise that does not cover the attacker
    assert "does not cover this attacker" in box


def test_the_release_is_known_by_the_checksum_of_its_description(release: ld.Release, tmp_path: Path) -> None:
    from hashlib import sha256

    release.save(tmp_path / "r")
    report = ld.user_report(tmp_path / "r")
    checksum = sha256((tmp_path / "r" / "release.json").read_bytes()).hexdigest()

    assert (report.summary.checksum, report.summary.release_id) == (checksum, checksum[:12])
    assert ld.user_report(release).summary.checksum is None
    assert checksum in report.to_html()
    assert str(tmp_path) not in report.to_html()


def test_a_confirmed_column_that_names_people_or_tells_a_value_is_the_worst_figure(safe: ld.Release) -> None:
    given = found(safe)
    naming = replace(given, published=replace(given.published, confirmed=(Confirmed("notes", "free-text"),)))
    telling = replace(given, published=replace(given.published, confirmed=(Confirmed("icd", "tells", "disease"),)))

    named = summarize(replace(naming, audit=audit(safe, threshold=0.5)))
    assert (named.verdict, named.worst[0].value, named.worst[0].who) == (
        "decide",
        1.0,
        "by the published column 'notes' alone",
    )
    told = summarize(telling)
    assert (told.verdict, told.worst[0].value, told.worst[0].state) == ("decide", 1.0, "not covered")
    assert any("about the column 'icd', and chose to publish it: it tells 'disease'" in text for text in told.reasons)


@pytest.mark.parametrize("criterion", ["singling-out", "linkability", "inference"])
def test_a_risk_above_the_limit_is_in_the_box(safe: ld.Release, criterion: Criterion) -> None:
    planted = PrivacyRisk(criterion, "planted", "", "succeed", ("age",), 0.9, (0.8, 1.0), Rate(9, 10), Rate(1, 10))
    given = replace(found(safe), audit=audit(safe, threshold=0.5), attacks=AttackReport((), risks=(planted,)))

    summary = summarize(given)

    assert summary.verdict == "decide"
    assert (summary.worst[0].value, summary.worst[0].state) == (0.9, "above")


def test_people_with_several_rows_are_in_the_box(people: pa.Table) -> None:
    rows = people.append_column("patient", pa.array(np.arange(400) // 2))
    apart = ld.anonymize(rows, **ROLES, method=ld.Anatomy(l=2, overflow="suppress"), person="patient")
    single = ld.anonymize(rows.drop_columns("patient"), **ROLES, method=ld.RandomizedAddition(l=3), insecure_seed=1)

    kept = ld.holder_report(apart, rows, person="patient").summary
    lost = ld.holder_report(single, rows, person="patient").summary

    assert kept.people == lost.people == 200
    assert any("no class holds two of them" in text for text in kept.reasons)
    assert lost.verdict == "decide"
    assert any("as if each record were another person's" in text for text in lost.reasons)
    assert ld.user_report(single).summary.people is None
    assert any("about single records" in text for text in ld.user_report(single).summary.reasons)


def test_known_rows_of_one_person_keep_a_box_from_being_green(safe: ld.Release) -> None:
    given = found(safe)

    def verdict(people: int) -> str:
        return summarize(replace(given, audit=replace(given.audit, people=people))).verdict

    assert (verdict(120), verdict(60)) == ("within", "decide")


def test_a_user_s_report_takes_no_column_of_people(safe: ld.Release) -> None:
    with pytest.raises(ld.ParameterError, match="person must be left out without the original"):
        ld.user_report(safe, person="patient")


def test_each_measured_sentence_stands_once_in_its_section(safe: ld.Release) -> None:
    planted = PrivacyRisk("linkability", "planted", "", "succeed", ("age",), 0.9, (0.8, 1.0), Rate(9, 10), Rate(1, 10))
    for section in answer_criteria(audit(safe), AttackReport((result(0.5),), risks=(planted,))):
        assert len(section.measured) == len(set(section.measured))
        assert any("planted" in text for text in section.measured) == (section.criterion != "singling-out")


@pytest.mark.parametrize(("l", "always"), [(3, True), (2, True), (4, False)])
def test_sets_of_a_person_are_called_disjoint_only_where_l_divides_the_values(
    people: pa.Table,
    l: int,
    always: bool,  # noqa: FBT001 - a case
) -> None:
    rows = people.append_column("patient", pa.array(np.arange(400) // 2))
    release = ld.anonymize(rows, **ROLES, method=ld.RandomizedAddition(l=l), person="patient")

    (said,) = [text for text in ld.user_report(release).summary.reasons if "several records" in text]

    assert said.endswith("the sets of one person are equal or disjoint.") == always
    assert ("overlap in at most" in said) != always
