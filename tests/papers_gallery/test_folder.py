from __future__ import annotations

import json
from pathlib import Path

import pytest

import ldiversity as ld
from papers.folder import FACTS_FILE, FORMAT, staged


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    folder = tmp_path / "rerun"
    folder.mkdir()
    (folder / FACTS_FILE).write_text(json.dumps({"format": FORMAT, "files": ["page.md"]}))
    (folder / "page.md").write_text("earlier")
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_new_rerun_takes_the_place_of_the_earlier_one(earlier: Path) -> None:
    with staged(earlier, overwrite=True) as staging:
        (staging / "new.md").write_text("new")
        assert (earlier / "page.md").read_text() == "earlier"

    assert (names(earlier.parent), names(earlier)) == (["rerun"], ["new.md"])


def test_the_earlier_rerun_is_removed_only_after_the_new_one_has_its_name(
    earlier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: seen.append(names(earlier)))

    with staged(earlier, overwrite=True) as staging:
        (staging / "new.md").write_text("new")

    assert seen
    assert all(there == ["new.md"] for there in seen)


@pytest.mark.parametrize("fault", [OSError, KeyboardInterrupt, SystemExit])
def test_a_failed_renaming_puts_the_earlier_rerun_back(
    earlier: Path, monkeypatch: pytest.MonkeyPatch, fault: type[BaseException]
) -> None:
    rename = Path.rename

    def fail(path: Path, target: Path) -> Path:
        if ".partial-" in path.name:
            raise fault
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(ld.StorageError if fault is OSError else fault), staged(earlier, overwrite=True):
        pass

    assert (names(earlier.parent), (earlier / "page.md").read_text()) == (["rerun"], "earlier")


def test_a_link_to_a_folder_stays_a_link(earlier: Path) -> None:
    link = earlier.with_name("link")
    link.symlink_to(earlier, target_is_directory=True)

    with staged(link, overwrite=True) as staging:
        (staging / "new.md").write_text("new")

    assert (link.is_symlink(), names(link), names(earlier.parent)) == (True, ["new.md"], ["link", "rerun"])
