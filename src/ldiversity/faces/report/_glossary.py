"""Words of a page that not everybody knows. Estimators and attacks bring their own meanings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ldiversity.estimation import CLASS_ESTIMATORS, ESTIMATORS
from ldiversity.evaluation.attacks import ATTACKS

if TYPE_CHECKING:
    from ldiversity.faces.report._report import Report

__all__ = ["glossary", "words_in"]

_GLOSSARY: Final = (
    (
        "quasi-identifier",
        r"quasi",
        "A column such as age or zip code that others may know of a person. Several together can tell who it is.",
    ),
    ("sensitive", r"sensitive", "What nobody may learn about one person."),
    (
        "class",
        r"\bclass(es)?\b(?!=)",
        "Records that are published together: nothing says which of its values belongs to which of its records.",
    ),
    ("set", r"\bsets?\b", "The values that are published for one record, of which one is true."),
    # Each mark is looked at once, however long a name with an open bracket is.
    (
        "[20, 30)",
        r"\[[^\[\]<,]*(?:,(?! )[^\[\]<,]*)*, [^\[\]<]*[)\]]",
        "From 20 on, to below 30. With ] at its end, 30 belongs to it too.",
    ),
    (
        "interval",
        r"interval",
        "From a low to a high share, made so that it holds the true share as often as the page says.",
    ),
    ("percentage point", r"percentage point", "The step from 10 % to 11 % is one percentage point."),
    ("standard error", r"[Ss]tandard error", "How far an estimate is typically off."),
    ("posterior", r"posterior", "How likely a value is to someone who has seen the release."),
    (
        "prosecutor, journalist",
        r"prosecutor|journalist",
        "Someone who knows that a person is in the table, and someone who does not, both looking for one record.",
    ),
    ("marginal", r"\bmarginal", "How frequent each value is in the whole table."),
    ("prior", r"prior", "What someone knows or assumes before seeing the release, such as how frequent values are."),
    ("l", r"\bl\b", "Among how many values the true one hides; more is safer, and less accurate."),
)
"""Words, the pattern that finds each of them on a page, and what they mean."""


def glossary(report: Report, text: str) -> list[tuple[str, str]]:
    """Words of a page that not everybody knows, and what they mean; `text` is the page without its glossary."""
    return [*words_in(text), *dict.fromkeys(_entries(report))]


def words_in(text: str) -> list[tuple[str, str]]:
    """The terms that a text uses, and what they mean.

    Examples
    --------
    >>> [word for word, _ in words_in("<p>quasi-identifiers, by age [0, 10)</p>")]
    ['quasi-identifier', '[20, 30)']
    """
    return [(word, meaning) for word, pattern, meaning in _GLOSSARY if re.search(pattern, text)]


def _entries(report: Report) -> Iterator[tuple[str, str]]:
    """The estimators and attacks that the report speaks of. Their names are common words, so prose is not searched."""
    used = {one.estimator for one in report.distributions}
    used |= {cell.estimator for one in report.contingency for cell in one.cells}
    for one in (*report.distributions, *report.contingency):
        used |= {word for caveat in one.caveats for word in re.findall(r"[\w-]+", caveat)}
    for registry in (ESTIMATORS, CLASS_ESTIMATORS):
        yield from ((name, registry[name].meaning) for name in registry if name in used and registry[name].meaning)
    run = set() if report.attacks is None else {attack.split()[0] for attack in report.attacks.knowledge}
    yield from ((name, ATTACKS[name].attacker) for name in ATTACKS if name in run and ATTACKS[name].attacker)
