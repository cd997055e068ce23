"""``ldiversity collect``: from a file to a release, with a server in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result

import ldiversity as ld
from ldiversity.collection.device import Device
from ldiversity.collection.survey import EXAMPLE, Reports, SignedSurvey
from ldiversity.faces.cli import cli


def run(*words: object, given: str = "") -> Result:
    return CliRunner().invoke(cli, ["collect", *map(str, words)], input=given, prog_name="ldiversity")


def facts(*words: object) -> Any:
    told = run(*words, "--json")
    assert told.exit_code == 0, told.output
    return json.loads(told.stdout)


def sign(toml: Path, **changes: object) -> SignedSurvey:
    """The example with other settings, signed."""
    text = EXAMPLE
    for name, value in changes.items():
        text, found = re.subn(rf"^{name} = .*$", f"{name} = {json.dumps(value)}", text, flags=re.MULTILINE)
        assert found == 1
    toml.write_text(text)
    assert run("new", toml).exit_code == 0
    return SignedSurvey.load(toml.with_suffix(".signed.json"))


@pytest.fixture
def toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "survey.toml"


@contextmanager
def served(toml: Path, *options: str) -> Iterator[dict[str, Any]]:
    """A server in a process of its own: what it says, while it runs."""
    words = ["collect", "serve", str(toml), "--listen", "127.0.0.1:0", "--json", *options]
    process = subprocess.Popen(
        [sys.executable, "-c", "from ldiversity.faces.cli import main; main()", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line == "}\n":
                break
        else:
            pytest.fail(process.stderr.read())
        yield json.loads("".join(lines))
    finally:
        process.send_signal(signal.SIGTERM)
        told, faults = process.communicate(timeout=30)
    assert process.returncode == 0, (told, faults)
    # The log says when it runs, and nothing of those who ask.
    assert faults.splitlines() == ["ldiversity server: started", "ldiversity server: stopped"]


def answers_of(signed: SignedSurvey, place: int = 0) -> dict[str, str | int]:
    given: dict[str, str | int] = {}
    for one in signed.survey.quasi:
        given[one.name] = one.cuts[0] if one.kind == "ranges" else one.values[place % len(one.values)]
    return {**given, **{one.name: one.values[place % len(one.values)] for one in signed.survey.questions}}


def answer(url: str, folder: Path, given: dict[str, str | int], *options: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "ldiversity.collection.answer", url, "--device", str(folder), "--yes", *options]
    return subprocess.run(
        [*words, "--answers", "-"], input=json.dumps(given), capture_output=True, text=True, check=False
    )


def test_a_survey_goes_from_its_file_to_a_release(toml: Path, tmp_path: Path) -> None:
    signed = sign(toml, closes="2099-12-31")
    with served(toml) as said:
        assert said["answer_url"].endswith(f"/#k={signed.fingerprint}")
        assert (said["reports"], said["signed_anew"]) == (0, False)
        for place in range(3):
            told = answer(said["answer_url"], tmp_path / f"device {place}", answers_of(signed, place))
            assert told.returncode == 0, told.stderr
        again = answer(said["answer_url"], tmp_path / "device 0", answers_of(signed, 0))
        assert again.returncode == 0
        assert [part["reports"] for part in facts("status")["parts"]] == [3]
        assert "fewer than 100 reports, so nothing is shown yet" in run("status").stdout

        assert facts("close", "--yes")["reports"] == 3
        late = answer(said["answer_url"], tmp_path / "late", answers_of(signed))
        assert (late.returncode, "closed" in late.stderr.lower()) == (2, True)

    found = facts("export", "-o", "release")
    assert [one["records"] for one in found["releases"]] == [3]
    release = ld.load_release(tmp_path / "release")
    release.verify()
    assert ld.estimate(release, sensitive=release.sensitive[0]).n_records == 3
    assert facts("status")["closed"]


def test_a_file_that_changed_is_signed_anew_only_before_somebody_answered(toml: Path, tmp_path: Path) -> None:
    first = sign(toml, closes="2099-12-31")
    toml.write_text(toml.read_text().replace("2099-12-31", "2099-12-30"))
    with served(toml) as said:
        assert said["signed_anew"]
        assert said["survey"] != first.id
        signed = SignedSurvey.load(toml.with_suffix(".signed.json"))
        assert signed.survey.closes == "2099-12-30"
        assert answer(said["answer_url"], tmp_path / "device", answers_of(signed)).returncode == 0
    toml.write_text(toml.read_text().replace("2099-12-30", "2099-12-29"))
    told = run("serve", toml, "--listen", "127.0.0.1:0")
    assert told.exit_code == 2
    assert "was changed after 1 report came" in told.stderr
    assert "Undo the change" in told.stderr


def test_others_reach_a_server_only_by_https(toml: Path) -> None:
    sign(toml, closes="2099-12-31")
    told = run("serve", toml, "--listen", "0.0.0.0:0")
    assert told.exit_code == 2
    assert "--url must be given" in told.stderr
    told = run("serve", toml, "--listen", "0.0.0.0:0", "--url", "http://survey.example")
    assert (told.exit_code, "https" in told.stderr) == (2, True)


@pytest.mark.parametrize("words", [("status",), ("close", "--yes"), ("export", "-o", "r"), ("serve",), ("invite", "3")])
def test_a_survey_that_was_not_signed_is_one_sentence(toml: Path, words: tuple[str, ...]) -> None:
    told = run(*words)
    assert told.exit_code == 2
    assert told.stderr.count("\n") == 1
    assert "must be signed first" in told.stderr
    assert not (toml.parent / "survey.db").exists()


def test_a_survey_is_exported_only_when_it_is_closed(toml: Path) -> None:
    signed = sign(toml)
    with ld_store(toml) as store:
        store.add_survey(signed)
        store.add(signed.id, [kept_of(signed)])
    told = run("export", "-o", "release")
    assert (told.exit_code, "must be closed before" in told.stderr) == (2, True)
    assert run("export", "-o", "release", "--while-open").exit_code == 0
    told = run("close", given="n\n")
    assert (told.exit_code, facts("status")["closed"]) == (1, False)
    assert run("close", given="y\n").exit_code == 0
    told = run("export", "-o", "release")
    assert (told.exit_code, "must not exist yet" in told.stderr) == (2, True)
    assert run("export", "-o", "release", "--overwrite", "--format", "csv").exit_code == 0


def test_invitations_are_written_once_for_their_owner_and_kept_as_hashes(toml: Path, tmp_path: Path) -> None:
    signed = sign(toml, tokens="invitation", closes="2099-12-31")
    assert facts("invite", 3, "-o", "codes.txt")["codes"] == 3
    codes = (tmp_path / "codes.txt").read_text().split()
    assert stat.S_IMODE((tmp_path / "codes.txt").stat().st_mode) == 0o600
    assert [len(code) for code in codes] == [22] * 3
    assert not any(code.encode() in (tmp_path / "survey.db").read_bytes() for code in codes)
    assert run("invite", 3, "-o", "codes.txt").exit_code == 2
    with served(toml) as said:
        url, given = said["answer_url"], answers_of(signed)
        assert answer(url, tmp_path / "invited", given, "--invitation", codes[0]).returncode == 0
        other = answer(url, tmp_path / "other", given, "--invitation", "A" * 22)
        assert (other.returncode, "invitation" in other.stderr) == (2, True)
        assert facts("status")["parts"][0]["reports"] == 1


def test_links_have_the_code_and_whose_survey_it_is(toml: Path, tmp_path: Path) -> None:
    signed = sign(toml, tokens="invitation", closes="2099-12-31")
    with served(toml) as said:
        start = said["answer_url"].partition("#")[0]
        assert facts("invite", 2, "-o", "links.txt", "--url", start)["links"]
        links = (tmp_path / "links.txt").read_text().split()
        assert all(link.startswith(f"{said['answer_url']}&i=") for link in links)
        assert answer(links[0], tmp_path / "invited", answers_of(signed)).returncode == 0
        assert facts("status")["parts"][0]["reports"] == 1
    told = run("invite", 2, "-o", "more.txt", "--url", "http://survey.example")
    assert (told.exit_code, "--url must begin with https://" in told.stderr) == (2, True), told.stderr
    assert not (tmp_path / "more.txt").exists()


def test_a_survey_to_which_people_were_invited_is_not_changed(toml: Path) -> None:
    sign(toml, tokens="invitation", closes="2099-12-31")
    assert run("invite", 2, "-o", "codes.txt").exit_code == 0
    toml.write_text(toml.read_text(encoding="utf-8").replace("Which of", "Which one of"), encoding="utf-8")
    for words in (("new",), ("serve", "--listen", "127.0.0.1:0")):
        told = run(*words)
        assert (told.exit_code, "was changed after invitations to it were made" in told.stderr) == (2, True)


def test_results_that_cannot_be_remembered_are_said_before_anybody_asks_for_them(toml: Path) -> None:
    sign(toml)
    toml.with_suffix(".results.json").write_text('{"results": {}}')
    told = run("serve", "--listen", "127.0.0.1:0")
    assert (told.exit_code, "must be one that this command wrote" in told.stderr) == (2, True), told.stderr


@pytest.mark.parametrize("how", ["closed", "over"])
def test_a_survey_that_is_over_or_closed_shows_results_and_takes_no_answers(
    toml: Path, tmp_path: Path, how: str
) -> None:
    signed = sign(toml, closes="2020-12-31" if how == "over" else "2099-12-31")
    with ld_store(toml) as store:
        store.add_survey(signed)
        if how == "closed":
            store.close_survey(signed.id)
    with served(toml) as said:
        assert said["over"]
        assert "The survey is closed." in httpx.get(said["results_url"]).text
        late = answer(said["answer_url"], tmp_path / "late", answers_of(signed))
        assert (late.returncode, "closed" in late.stderr.lower()) == (2, True), late.stderr


def test_blind_tokens_are_signed_for_invited_devices_once(toml: Path, tmp_path: Path) -> None:
    signed = sign(toml, tokens="blind", linked=False, closes="2099-12-31")
    assert facts("invite", 2, "-o", "codes.txt")["codes"] == 2
    code, other = (tmp_path / "codes.txt").read_text().split()
    with served(toml) as said:
        url, given = said["answer_url"], answers_of(signed)
        first = answer(url, tmp_path / "invited", given, "--invitation", code)
        assert first.returncode == 0, first.stderr
        assert code not in first.stdout, "the report has a token that nobody can link to the code"
        again = answer(url, tmp_path / "invited", given, "--invitation", code)
        assert (again.returncode, again.stdout) == (0, first.stdout), "the same token and the same signature"
        shared = answer(url, tmp_path / "friend", given, "--invitation", code)
        assert (shared.returncode, "invitation" in shared.stderr) == (2, True)
        assert answer(url, tmp_path / "friend", given, "--invitation", other).returncode == 0
        assert [part["reports"] for part in facts("status")["parts"]] == [2, 2]
    assert run("close", "--yes").exit_code == 0
    assert [one["records"] for one in facts("export", "-o", "releases")["releases"]] == [2, 2]


def test_a_survey_for_every_device_has_no_invitations(toml: Path) -> None:
    sign(toml)
    told = run("invite", 3)
    assert (told.exit_code, "has no invitations" in told.stderr) == (2, True)


@pytest.mark.parametrize("form", ["option", "variable"])
def test_passwords_of_databases_are_never_shown(toml: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    sign(toml)
    url = "postgresql://me:hunter2@127.0.0.1:1/none?connect_timeout=1"
    if form == "variable":
        monkeypatch.setenv("LDIVERSITY_DATABASE", url)
    for words in (("status",), ("close", "--yes"), ("export", "-o", "r"), ("serve", "--listen", "127.0.0.1:0")):
        told = run(*words, *(["--database", url] if form == "option" else []))
        assert told.exit_code == 2, told.output
        assert told.stderr.count("\n") == 1
        assert "hunter2" not in told.output


@pytest.mark.parametrize("words", [("status",), ("close", "--yes"), ("export", "-o", "r")])
def test_a_database_that_is_not_there_is_one_sentence_with_a_way_out(toml: Path, words: tuple[str, ...]) -> None:
    sign(toml)
    told = run(*words)
    assert (told.exit_code, told.stderr.count("\n")) == (2, 1)
    assert "Serve the survey first" in told.stderr
    told = run(*words, "--database", "mysql://me:hunter2@host/name")
    assert (told.exit_code, "--database: must begin with sqlite" in told.stderr) == (2, True), told.stderr
    assert not (toml.parent / "survey.db").exists()


def test_status_shows_shares_and_the_distance_from_the_goal(toml: Path) -> None:
    signed = sign(toml)
    with ld_store(toml) as store:
        store.add_survey(signed)
        kept = [kept_of(signed, place) for place in range(300)]
        store.add(signed.id, kept[:120])
        assert "too few reports in each group, so nothing is shown yet" in run("status").stdout  # 40 of each sex
        store.add(signed.id, kept)
    told = run("status")
    assert told.exit_code == 0, told.output
    for words in ("300 reports", "low (95 %)", "either way; the goal is", "more answers"):
        assert words in told.stdout
    assert facts("status")["results"]["answers"] == 300
    assert ("30-44" in told.stdout, "30-44" in run("status", "--groups").stdout) == (False, True)


def test_status_says_how_many_reports_are_not_counted_in_it(toml: Path) -> None:
    signed = sign(toml)
    with ld_store(toml) as store:
        store.add_survey(signed)
        store.add(signed.id, [kept_of(signed) for _ in range(150)])
        store.add(signed.id, [kept_of(signed, age=80)])
    assert "150 of 151 reports are counted here" in run("status").stdout


def ld_store(toml: Path) -> Any:
    from ldiversity.collection.store import Store

    return Store.open(f"sqlite:///{toml.with_suffix('.db')}")


def kept_of(signed: SignedSurvey, place: int = 0, **given: int) -> Any:
    from ldiversity.collection.device._ledger import Ledger
    from ldiversity.collection.draw import DeviceSecret

    device = Device(DeviceSecret(os.urandom(32)), Ledger(Path("there-is-none.json")))
    (report,) = device.answer(signed, {**answers_of(signed, place), **given}).reports
    return Reports(signed.survey, signed.id).read(report.body)[0]
