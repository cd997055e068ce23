"""The pages of a survey: what the server draws without a browser."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from ldiversity.collection.results import ResultsAnswer, ShownCell, ShownDivision, ShownQuestion, ShownValue
from ldiversity.collection.server._pages import Pages
from ldiversity.collection.survey import Survey, honest_words


@pytest.fixture
def survey() -> Survey:
    """A survey whose texts would be markup if they were not escaped."""
    return Survey.model_validate(
        {
            "format": "ldiversity-survey",
            "version": 1,
            "title": 'Health "at" work & <3',
            "collector": "Office of Statistics",
            "contact": "surveys@office.example",
            "purpose": "One paragraph.\n\nAnother one.",
            "consent": "Taking part is voluntary.",
            "language": "en",
            "closes": None,
            "linked": True,
            "tokens": "device",
            "results": {"public": True, "minimum": 50, "step": 25, "goal": 0.02},
            "quasi": [
                {"kind": "ranges", "name": "age", "ask": "How old are you?", "low": 18, "cuts": [40], "high": None}
            ],
            "questions": [
                {
                    "name": "disease",
                    "ask": "Which one?",
                    "values": ["flu", "a < b", "cancer", "asthma"],
                    "ordered": False,
                    "mechanism": {"kind": "uniform", "version": 1, "n_values": 4, "l": 2},
                }
            ],
        }
    )


@pytest.fixture
def pages(survey: Survey) -> Pages:
    """Its pages."""
    return Pages(survey, "ab" * 32, "k" * 22)


def results(overall: ShownCell | None, *by: ShownDivision) -> ResultsAnswer:
    """Results with one question."""
    question = ShownQuestion("disease", "Which one?", 2, overall, by)
    return ResultsAnswer("ab" * 32, "Health", 50, 25, 0.02, 0.95, (question,), ("Shares are estimates.",))


def cell(label: str, answers: int) -> ShownCell:
    """Four shares, one of them below zero, as estimates can be."""
    shares = {"flu": 0.55, "a < b": 0.31, "cancer": 0.16, "asthma": -0.02}
    values = tuple(ShownValue(value, share, share - 0.04, share + 0.04) for value, share in shares.items())
    return ShownCell(label, answers, values)


class _Reader(HTMLParser):
    """All attributes, and all text between tags."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page.decode())
        self.text = re.sub(r"\s+", " ", self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(params=["answer", "results"])
def page(request: pytest.FixtureRequest, pages: Pages) -> _Reader:
    """Each page, read."""
    if request.param == "answer":
        return _Reader(pages.answer(closed=False))
    return _Reader(pages.results(results(cell("all", 400)), closed=False))


def test_texts_of_a_survey_never_become_markup(page: _Reader) -> None:
    assert 'Health "at" work & <3' in page.text


def test_a_page_has_no_inline_script_or_style(page: _Reader) -> None:
    names = {name for _, attributes in page.tags for name in attributes}
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]

    assert "style" not in {tag for tag, _ in page.tags}
    assert not {name for name in names if name == "style" or name.startswith("on")}
    assert all(attributes.get("src") for attributes in scripts)


def test_a_page_loads_nothing_from_elsewhere(page: _Reader) -> None:
    linked = [attributes[name] for _, attributes in page.tags for name in ("src", "href") if name in attributes]

    assert linked
    assert all(link is not None and not re.match(r"(\w+:|/)", link) for link in linked)


def test_both_pages_say_what_holds_and_what_does_not(page: _Reader, survey: Survey) -> None:
    words = honest_words(survey)

    assert all(sentence in page.text for sentence in words.holds)
    assert all(sentence in page.text for sentence in words.limits[1:])


def test_results_say_how_good_a_guess_is_with_them(pages: Pages) -> None:
    text = _Reader(pages.results(results(cell("all", 400)), closed=False)).text

    # Someone with flu or asthma, of which the first has a share of .55 and the other none.
    assert "With the results so far, such a guess is right in up to 100 % of cases for disease (" in text


def test_the_results_are_drawn_again_only_when_they_changed(pages: Pages) -> None:
    first, second = results(cell("all", 400)), results(cell("all", 425))
    drawn = pages.results(first, closed=False)

    assert pages.results(first, closed=False) is drawn
    assert "425 answers" in _Reader(pages.results(second, closed=False)).text
    assert "These are the final results." in _Reader(pages.results(second, closed=True)).text


def test_the_answer_page_says_why_it_needs_javascript(pages: Pages) -> None:
    text = _Reader(pages.answer(closed=False)).text

    assert "Your answer is hidden on your own device before anything is sent" in text


def test_the_page_of_a_closed_survey_has_no_script(pages: Pages) -> None:
    read = _Reader(pages.answer(closed=True))

    assert "It takes no more answers." in read.text
    assert "script" not in {tag for tag, _ in read.tags}


def test_results_say_how_far_the_goal_is_and_when_they_change(pages: Pages) -> None:
    text = _Reader(pages.results(results(cell("all", 400)), closed=False)).text

    assert "in steps of 25 answers" in text
    assert "±4.0 points the goal is ±2.0" in text
    assert "1,200 more answers, about" in text
    assert "400 answers, each sent as a set of 2" in text


def test_cells_with_too_few_answers_are_hidden_and_named(pages: Pages) -> None:
    by = ShownDivision("age", "How old are you?", (cell("18-39", 60),), ("40 or more",))
    text = _Reader(pages.results(results(cell("all", 400), by), closed=False)).text

    assert "18-39 60 answers" in text
    assert "Not shown, because fewer than 50 answers can be counted without showing single ones: 40 or more." in text


@pytest.mark.parametrize("closed", [False, True])
def test_results_of_few_answers_show_no_share(pages: Pages, *, closed: bool) -> None:
    read = _Reader(pages.results(results(None), closed=closed))

    assert "Each group of people that is shown needs 50 answers." in read.text.replace("each", "Each")
    assert ("The survey is closed." in read.text, "final results" in read.text) == (closed, False)
    assert "table" not in {tag for tag, _ in read.tags}


def test_bars_stay_inside_their_drawing(pages: Pages) -> None:
    read = _Reader(pages.results(results(cell("all", 400)), closed=True))
    places = [
        float(value.rstrip("%"))
        for tag, attributes in read.tags
        if tag in {"line", "rect"}
        for name in ("x1", "x2", "width")
        if (value := attributes.get(name)) is not None
    ]

    assert places
    assert all(0 <= place <= 100 for place in places)
