from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import ldiversity as ld
from ldiversity.errors import ClaimError, LDiversityWarning, StorageError

Run = Callable[..., Result]
DescribeWith = Callable[[BaseException], Result]

CELL = "Zaphod-has-the-plague"


def raising(fault: BaseException) -> Callable[..., None]:
    def fail(*_args: object, **_options: object) -> None:
        raise fault

    return fail


@pytest.fixture
def describe_with(run: Run, monkeypatch: pytest.MonkeyPatch) -> DescribeWith:
    def invoke(fault: BaseException) -> Result:
        monkeypatch.setattr(ld, "describe", raising(fault), raising=False)
        return run("describe", "table.csv")

    return invoke


def test_an_error_of_the_package_is_one_line_and_exit_2(describe_with: DescribeWith) -> None:
    result = describe_with(ClaimError("disease: the claim is broken.", hint="Report it."))

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "Error: disease: the claim is broken. Report it.\n"


def test_a_storage_error_is_shown_by_its_sentence(describe_with: DescribeWith) -> None:
    result = describe_with(StorageError("release: the disk is full."))

    assert (result.exit_code, result.stderr) == (2, "Error: release: the disk is full.\n")


def test_an_operating_system_error_names_file_and_reason(describe_with: DescribeWith) -> None:
    result = describe_with(PermissionError(13, "Permission denied", "table.csv"))

    assert result.exit_code == 2
    assert result.stderr == "Error: file 'table.csv' cannot be read or written: Permission denied.\n"


def test_an_unexpected_exception_is_exit_70_and_tells_only_its_class(describe_with: DescribeWith) -> None:
    result = describe_with(RuntimeError(CELL))

    assert (result.exit_code, result.stdout) == (70, "")
    assert "internal error (RuntimeError)" in result.stderr
    assert "LDIVERSITY_DEBUG=1" in result.stderr
    assert CELL not in result.stderr
    assert "Traceback" not in result.stderr


def test_an_operating_system_error_without_a_reason_tells_only_its_class(describe_with: DescribeWith) -> None:
    result = describe_with(OSError(CELL))

    assert result.exit_code == 70
    assert CELL not in result.stderr


def test_debug_shows_the_traceback(describe_with: DescribeWith, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LDIVERSITY_DEBUG", "1")

    result = describe_with(RuntimeError("reason"))

    assert result.exit_code == 70
    assert "Traceback" in result.stderr
    assert "RuntimeError: reason" in result.stderr


def test_an_interrupt_is_exit_130(describe_with: DescribeWith) -> None:
    result = describe_with(KeyboardInterrupt())

    assert result.exit_code == 130
    assert "Interrupted" in result.stderr


def test_a_warning_of_the_package_is_shown_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def warn_twice(*_args: object, **_options: object) -> None:
        for _ in range(2):
            warnings.warn("Estimates will be poor.", LDiversityWarning, stacklevel=1)
        raise ClaimError("stop.")

    monkeypatch.setattr(ld, "describe", warn_twice, raising=False)

    result = run("describe", "table.csv")

    assert result.stderr == "Warning: Estimates will be poor.\nError: stop.\n"


def test_warnings_of_other_packages_are_not_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def warn_elsewhere(*_args: object, **_options: object) -> None:
        warnings.warn(CELL, UserWarning, stacklevel=1)
        raise ClaimError("stop.")

    monkeypatch.setattr(ld, "describe", warn_elsewhere, raising=False)

    assert run("describe", "table.csv").stderr == "Error: stop.\n"


@pytest.mark.parametrize(
    "words",
    [
        ["no-such-command"],
        ["--no-such-option"],
        ["describe"],
        ["describe", "a.csv", "--no-such-option"],
        ["describe", "a.csv", "--type", "zip=colour"],
        ["plan", "a.csv", "-l", "three"],
        ["schema", "nothing"],
    ],
)
def test_wrong_usage_is_exit_2_without_output(run: Run, words: list[str]) -> None:
    result = run(*words)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1


def test_wrong_usage_names_the_command_whose_help_helps(run: Run) -> None:
    assert run("key", "new").stderr == "Error: Missing argument 'FILE'. See 'ldiversity key new --help'.\n"


def test_a_group_with_nothing_to_do_shows_its_help(run: Run) -> None:
    assert "Commands:" in run().output
    assert "Commands:" in run("key").output


def test_a_file_that_does_not_exist_is_named(run: Run, tmp_path: Path) -> None:
    result = run("describe", tmp_path / "nobody.csv")

    assert result.exit_code == 2
    assert "nobody.csv" in result.stderr
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
