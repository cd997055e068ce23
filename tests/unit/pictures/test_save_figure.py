from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from ldiversity.errors import LDiversityWarning, ParameterError, StorageError
from ldiversity.pictures import plot_estimate, save_figure

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure


def figure_of(label: str = "flu") -> Figure:
    return plot_estimate([label], [label, "cold"], [[0.7, 0.3]], [[0.6, 0.2]], [[0.8, 0.4]], title=label)


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.SVG", b"<?xml"), ("a.pdf", b"%PDF")])
def test_extension_chooses_the_format(name: str, start: bytes, tmp_path: Path) -> None:
    path = save_figure(figure_of(), tmp_path / name)

    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.pdf"])
def test_same_figure_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    first = save_figure(figure_of(), tmp_path / name).read_bytes()
    second = save_figure(figure_of(), tmp_path / name).read_bytes()

    assert first == second


@pytest.mark.parametrize(
    ("name", "word"), [("a.png", b"Software"), ("a.svg", b"<dc:date>"), ("a.pdf", b"CreationDate")]
)
def test_files_carry_no_date_and_no_maker(name: str, word: bytes, tmp_path: Path) -> None:
    assert word not in save_figure(figure_of(), tmp_path / name).read_bytes()


@pytest.mark.parametrize("name", ["a.docx", "a", "a.jpg"])
def test_other_extensions_are_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"^save_figure: path must end in \.png, \.svg or \.pdf, got '.*'\.$"):
        save_figure(figure_of(), tmp_path / name)


def test_missing_folder_is_refused_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="the folder of path must exist") as caught:
        save_figure(figure_of(), tmp_path / "none" / "a.png")

    assert caught.value.hint is not None


def test_existing_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"old")

    save_figure(figure_of(), tmp_path / "a.png")

    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
    assert (tmp_path / "a.png").read_bytes() != b"old"


def test_failed_write_keeps_the_old_file_and_leaves_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.png").write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError

    monkeypatch.setattr("pathlib.Path.replace", full)

    with pytest.raises(StorageError, match=r"'a\.png' could not be written"):
        save_figure(figure_of(), tmp_path / "a.png")
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
    assert (tmp_path / "a.png").read_bytes() == b"old"


def test_marks_of_xml_in_labels_do_not_break_an_svg(tmp_path: Path) -> None:
    path = save_figure(figure_of("<script>--></text>&amp;"), tmp_path / "a.svg")

    tags = {element.tag for element in ET.parse(path).iter()}  # noqa: S314 - written a line above

    assert not any("script" in tag for tag in tags)


def test_characters_that_no_font_has_give_one_warning(tmp_path: Path) -> None:
    with pytest.warns(LDiversityWarning, match="fonts lack some characters") as caught:
        save_figure(figure_of("\U0001f9ec\U0002a6d5"), tmp_path / "a.png")

    assert len(caught) == 1
