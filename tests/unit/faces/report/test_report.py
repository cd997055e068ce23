"""Reports: one dictionary, one page that needs nothing else, and two audiences that never mix."""

from __future__ import annotations

import base64
import csv
import json
import re
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.errors import ParameterError, StorageError

HOSTILE = [
    '<script>alert("x")</script>',
    '"><img src=x onerror=alert(1)>',
    "=cmd()",
    "+1",
    "-2",
    "@x",
    "a&b --> </svg>",
]
COLUMN = '<b onclick="x()">'
METHODS = [ld.RandomizedAddition(l=3), ld.Anatomy(l=3), ld.Mondrian(l=3)]


class Seen(HTMLParser):
    """The elements and attributes of a page, as a browser reads them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.sources: list[str] = []
        self.alts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names.update(name for name, _ in attrs)
        found = dict(attrs)
        self.sources += [found["src"] or ""] if "src" in found else []
        self.alts += [found["alt"] or ""] if tag == "img" else []


def published(table: pa.Table, method: ld.Method, **options: object) -> ld.Release:
    return ld.anonymize(table, quasi=["age", "sex"], drop="name", sensitive="disease", method=method, **options)  # type: ignore[arg-type]


@pytest.fixture(params=METHODS, ids=lambda method: type(method).__name__)
def any_release(request: pytest.FixtureRequest, people: pa.Table) -> ld.Release:
    return published(people, request.param)


@pytest.fixture(scope="module")
def hostile() -> pa.Table:
    n = 280
    return pa.table(
        {
            COLUMN: [HOSTILE[i % 2] for i in range(n)],
            "disease <i>": [HOSTILE[(i // 2) % len(HOSTILE)] for i in range(n)],
        }
    )


@pytest.fixture(scope="module")
def hostile_report(hostile: pa.Table) -> ld.Report:
    release = ld.anonymize(hostile, quasi=COLUMN, sensitive="disease <i>", method=ld.RandomizedAddition(l=2))
    return ld.holder_report(release, hostile, attacks=True)


def pictures_of(page: str) -> list[str]:
    found = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    return [base64.b64decode(one).decode("utf-8") for one in found]


def test_a_report_for_the_user_holds_no_true_count(any_release: ld.Release) -> None:
    assert "true" not in re.findall(r'"(true)_', json.dumps(ld.user_report(any_release).to_dict()["distributions"]))


def test_a_report_for_the_holder_has_the_truth(any_release: ld.Release, people: pa.Table) -> None:
    facts = ld.holder_report(any_release, people).to_dict()

    counts = {one["value"]: one["true_count"] for one in facts["distributions"][0]["values"]}
    true = people["disease"].to_pylist()
    assert {value: count for value, count in counts.items() if count} == {
        value: true.count(value) for value in set(true)
    }


def test_true_counts_are_those_of_each_cell(release: ld.Release, people: pa.Table) -> None:
    cells = ld.holder_report(release, people, by="sex").to_dict()["contingency"][0]["cells"]

    sexes = people["sex"].to_pylist()
    assert {cell["cell"]: cell["true_records"] for cell in cells} == {"F": sexes.count("F"), "M": sexes.count("M")}


def test_the_dictionary_is_json(any_release: ld.Release, people: pa.Table) -> None:
    facts = ld.holder_report(any_release, people, attacks=True).to_dict()

    assert json.loads(json.dumps(facts, allow_nan=False)) == facts


def test_the_dictionary_says_its_schema(release: ld.Release) -> None:
    facts = ld.user_report(release).to_dict()

    assert (facts["schema"], facts["version"]) == ("report", 1)


@pytest.mark.usefixtures("undrawn")
def test_the_holder_is_warned_in_red_at_the_top(release: ld.Release, people: pa.Table) -> None:
    page = ld.holder_report(release, people).to_html()

    warning = re.search(r'<p class="alarm" role="alert" style="[^"]*color:#a40000[^"]*">Do not hand out', page)
    assert warning is not None
    assert warning.start() < page.index("<h2>")


@pytest.mark.usefixtures("undrawn")
def test_the_user_is_not_warned(release: ld.Release) -> None:
    assert "Do not hand out" not in ld.user_report(release).to_html()


def test_the_page_loads_nothing_and_runs_nothing(any_release: ld.Release, people: pa.Table) -> None:
    page = ld.holder_report(any_release, people, attacks=True).to_html()

    seen = Seen(page)
    assert not seen.tags & {"script", "link", "iframe", "object", "embed", "base", "form"}
    assert not [name for name in seen.names if name.startswith("on")]
    assert all(source.startswith("data:image/svg+xml;base64,") for source in seen.sources)
    assert "url(" not in page
    assert "@import" not in page


def test_every_picture_has_words_and_a_table(any_release: ld.Release) -> None:
    page = ld.user_report(any_release, attacks=True).to_html()

    alts = Seen(page).alts
    assert len(alts) >= 5
    assert all(len(alt) > 30 for alt in alts)
    assert page.count("<details><summary>The numbers of this picture") == len(alts)


def test_hostile_names_stay_texts_on_the_page(hostile_report: ld.Report) -> None:
    seen = Seen(hostile_report.to_html())

    assert not seen.tags & {"script", "b", "i", "svg"}
    assert not seen.names & {"onerror", "onclick"}
    assert all(source.startswith("data:image/svg+xml") for source in seen.sources)


def test_hostile_names_stay_texts_in_pictures(hostile_report: ld.Report) -> None:
    roots = [ET.fromstring(picture) for picture in pictures_of(hostile_report.to_html())]  # noqa: S314 - our own

    tags = {element.tag.rpartition("}")[2] for root in roots for element in root.iter()}
    texts = {element.text for root in roots for element in root.iter() if element.tag.endswith("}text")}
    assert tags <= {"svg", "defs", "style", "g", "path", "use", "text", "clipPath", "rect", "image", "pattern", "tspan"}
    assert HOSTILE[0] in texts
    assert "a&b --> </svg>" in texts


def test_hostile_names_are_no_formulas_in_tables(hostile_report: ld.Report, tmp_path: Path) -> None:
    written = hostile_report.pictures(tmp_path, formats=())

    rows = [row for file in written for row in csv.reader(file.read_text(encoding="utf-8").splitlines())]
    cells = {cell for row in rows for cell in row}
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@")) or cell == "-2"]
    assert "'=cmd()" in cells


def test_hostile_names_cannot_name_files(hostile_report: ld.Report, tmp_path: Path) -> None:
    names = {file.name for file in hostile_report.pictures(tmp_path, formats=())}

    assert all(re.fullmatch(r"holder-\d\d-[a-z0-9-]*\.csv", name) for name in names)


def test_pictures_are_written_in_every_format(release: ld.Release, tmp_path: Path) -> None:
    written = ld.user_report(release, by=()).pictures(tmp_path / "new", formats=("png", "svg", "pdf"))

    assert {file.suffix for file in written} == {".csv", ".png", ".svg", ".pdf"}
    assert all(file.stat().st_size for file in written)


def test_the_same_release_gives_the_same_page(release: ld.Release) -> None:
    assert ld.user_report(release).to_html() == ld.user_report(release).to_html()


@pytest.mark.usefixtures("undrawn")
def test_the_page_says_what_is_promised_and_what_is_not_protected(any_release: ld.Release) -> None:
    report = ld.user_report(any_release)

    words = re.sub(r"&#x27;", "'", report.to_html())
    assert any_release.claim("disease").statement in words
    assert all(text in words for text in report.to_dict()["not_protected"])


def test_attackers_without_the_original_only_expect(release: ld.Release) -> None:
    results = ld.user_report(release, attacks=True).to_dict()["attacks"]["results"]

    assert results
    assert not any(result["scored"] for result in results)


def test_attacks_are_scored_for_the_holder(release: ld.Release, people: pa.Table) -> None:
    results = ld.holder_report(release, people, attacks=True).to_dict()["attacks"]["results"]

    assert all(result["scored"] for result in results)


def test_risks_are_held_against_their_thresholds(release: ld.Release) -> None:
    risks = ld.user_report(release).to_dict()["risks"]

    states = {(risk["attribute"], risk["state"]) for risk in risks}
    assert (None, "above") in states
    assert ("disease", "within") in states


def test_a_threshold_of_one_is_never_passed(release: ld.Release) -> None:
    assert "above" not in {risk["state"] for risk in ld.user_report(release, threshold=1).to_dict()["risks"]}


def test_numbers_are_cut_into_round_bins(release: ld.Release) -> None:
    assert [one["by_text"] for one in ld.user_report(release).to_dict()["contingency"]] == ["age:5", "sex"]


def test_a_text_divides_as_on_the_command_line(release: ld.Release) -> None:
    facts = ld.user_report(release, by="sex,age:20").to_dict()

    assert facts["contingency"][0]["cells"][0]["cell"] == "F, [20, 40)"
    assert facts["commands"][0]["line"] == "ldiversity report RELEASE -o report.html --by sex,age:20"


def test_bins_are_written_as_the_command_line_reads_them(release: ld.Release) -> None:
    facts = ld.user_report(release, by=["sex", ld.bins("age", width=20)]).to_dict()

    assert facts["contingency"][0]["by_text"] == "sex,age:20"


def test_a_folder_is_named_in_the_commands_of_the_holder(release: ld.Release, people: pa.Table, tmp_path: Path) -> None:
    release.save(tmp_path / "out")

    facts = ld.holder_report(tmp_path / "out", people).to_dict()
    assert str(tmp_path / "out") in facts["commands"][0]["line"]


def test_no_path_of_the_holder_is_in_the_report_for_users(release: ld.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "hiv-ward")

    report = ld.user_report(tmp_path / "hiv-ward", by="sex")
    assert "hiv-ward" not in json.dumps(report.to_dict()) + report.to_html()


def test_no_file_of_groups_is_named_in_the_report_for_users(release: ld.Release, tmp_path: Path) -> None:
    groups = tmp_path / "anna.csv"
    groups.write_text("F,all\nM,all\n", encoding="utf-8")

    report = ld.user_report(release, by=f"sex@{groups}")
    assert "anna" not in json.dumps(report.to_dict())


@pytest.mark.usefixtures("undrawn")
def test_a_page_for_users_is_not_replaced_by_that_of_the_holder(
    release: ld.Release, people: pa.Table, tmp_path: Path
) -> None:
    ld.user_report(release, by=()).save(tmp_path / "report.html")

    with pytest.raises(StorageError, match="must not name the report for the user"):
        ld.holder_report(release, people, by=()).save(tmp_path / "report.html")


@pytest.mark.usefixtures("undrawn")
def test_a_page_for_the_holder_is_not_replaced_by_that_for_users(
    release: ld.Release, people: pa.Table, tmp_path: Path
) -> None:
    ld.holder_report(release, people, by=()).save(tmp_path / "report.html")

    with pytest.raises(StorageError, match="must not name the report for the holder"):
        ld.user_report(release, by=()).save(tmp_path / "report.html")


@pytest.mark.usefixtures("undrawn")
def test_a_page_for_the_same_audience_is_replaced(release: ld.Release, tmp_path: Path) -> None:
    ld.user_report(release, by=()).save(tmp_path / "report.html")

    assert ld.user_report(release, by="sex").save(tmp_path / "report.html").exists()


def test_pictures_of_both_audiences_share_no_file(release: ld.Release, people: pa.Table, tmp_path: Path) -> None:
    mine = ld.holder_report(release, people, by=()).pictures(tmp_path, formats=())

    assert not {*mine} & {*ld.user_report(release, by=()).pictures(tmp_path, formats=())}


def test_a_missing_font_is_said_once() -> None:
    people = pa.table({"disease": ["\U00012000", "\U00012001", "\U00012002"] * 20})
    release = ld.anonymize(people, quasi=[], sensitive="disease", method=ld.RandomizedAddition(l=2))

    with tempfile.TemporaryDirectory() as folder, pytest.warns(ld.LDiversityWarning, match="fonts lack") as said:
        ld.user_report(release).pictures(folder, formats=("png", "svg"))
    assert len(said) == 1


@pytest.mark.usefixtures("undrawn")
def test_a_notebook_shows_the_page_without_its_head(release: ld.Release) -> None:
    report = ld.user_report(release)

    assert report._repr_html_() in report.to_html()


def test_a_page_must_be_html(release: ld.Release, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"path must end in \.html, got '\.pdf'"):
        ld.user_report(release).save(tmp_path / "page.pdf")


def test_a_page_that_cannot_be_written_says_so(release: ld.Release, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        ld.user_report(release).save(tmp_path / "nowhere" / "page.html")


def test_an_unknown_attribute_is_refused(release: ld.Release) -> None:
    with pytest.raises(ParameterError, match="user_report: sensitive must name some of 'disease', got"):
        ld.user_report(release, sensitive="age")


def test_another_table_is_refused_as_the_original(release: ld.Release, people: pa.Table) -> None:
    with pytest.raises(ParameterError, match="original must be the table that the release was made from"):
        ld.holder_report(release, people.slice(0, 10))


def test_an_unknown_format_is_refused(release: ld.Release, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="formats must be some of 'png', 'svg', 'pdf'"):
        ld.user_report(release).pictures(tmp_path, formats=["bmp"])
