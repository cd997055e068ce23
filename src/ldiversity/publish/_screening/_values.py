"""Findings about the values of a column: spellings, marks of no value, numbers nearly equal, domains of two values."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.findings import Finding
from ldiversity.base.hashing import HashArray
from ldiversity.base.numbers import counted, percent
from ldiversity.publish._screening._spelling import plain_spelling
from ldiversity.publish._screening._tally import HashCounts
from ldiversity.schema import Domain
from ldiversity.sentences import Sentence, Setting, say
from ldiversity.tables import empty_marks, say_no_values

__all__ = ["about_domain", "about_spellings", "merged_codes"]

_SAME: Final = 1e-9
_CLOSE: Final = 0.01
_MANY_NUMBERS: Final = 20
_TWO: Final = 2
_SPELLINGS: Final = "differ only by case, blanks, Unicode form, invisible characters or final zeros"


def merged_codes(domain: Domain) -> HashArray:
    """For each code the first code whose value is spelled the same way, but for case, blanks and the like.

    Examples
    --------
    >>> merged_codes(Domain(("Flu", "cold", "flu "))).tolist()
    [0, 1, 0]
    """
    if domain.edges is not None:
        return np.arange(len(domain), dtype=np.uint64)
    first: dict[object, int] = {}
    spelled = (plain_spelling(value) if isinstance(value, str) else value for value in domain.values)
    codes = [first.setdefault(value, code) for code, value in enumerate(spelled)]
    return np.array(codes, dtype=np.uint64)


def about_domain(
    name: str, domain: Domain, counts: NDArray[np.int64], *, groups: bool, replaced: bool = False
) -> list[Finding]:
    """What a sensitive domain should not hold: spellings of one value, numbers nearly equal, two values alone.

    `groups` says whether records are grouped, `replaced` whether values are replaced, by which two can be hidden.

    Examples
    --------
    >>> domain = Domain(("Flu", "cold", "cut", "flu "))
    >>> about_domain("disease", domain, np.array([3, 2, 2, 1]), groups=False)[0].text.split(":")[0]
    '1 group of values differ only by case, blanks, Unicode form, invisible characters or final zeros'
    """
    found = []
    texts = [value for value in domain.values if isinstance(value, str)]
    if domain.edges is None and texts:
        found += _sensitive_spellings(name, domain, counts)
        found += _no_values(name, domain, counts)
    if domain.edges is None and domain.positions is not None:
        found += _near_numbers(name, domain, counts)
    if len(domain) == _TWO and not replaced:
        found.append(_two_values(name, counts, groups=groups))
    return found


def _sensitive_spellings(name: str, domain: Domain, counts: NDArray[np.int64]) -> list[Finding]:
    groups: dict[str, list[int]] = defaultdict(list)
    for code, value in enumerate(domain.values):
        if isinstance(value, str):
            groups[plain_spelling(value)].append(code)
    several = [codes for codes in groups.values() if len(codes) > 1]
    if not several:
        return []
    share = int(counts[[code for codes in several for code in codes]].sum()) / max(int(counts.sum()), 1)
    text = (
        f"{counted(len(several), 'group')} of values {_SPELLINGS}: they count as different, so one value alone can "
        f"pass for several. {percent(share)} of the rows have such a value."
    )
    remedy = "Write each value in one way before you publish."
    return [Finding(name, "spellings", share, text, remedy, attribute=name)]


def _no_values(name: str, domain: Domain, counts: NDArray[np.int64]) -> list[Finding]:
    """Texts that look like no value."""
    marks = np.array(empty_marks(domain.values))
    n_rows = int(counts[marks].sum())
    if not n_rows:
        return []
    text, remedy = say_no_values(counted(n_rows, "row has", "rows have"), int(np.count_nonzero(marks)))
    return [Finding(name, "no-values", n_rows / int(counts.sum()), text, remedy, attribute=name)]


def about_spellings(name: str, counted_spellings: HashCounts, n_rows: int, *, ids: bool = False) -> list[Finding]:
    """The same of a column that is published, where spellings make people look unlike others, or of ids."""
    _, starts = counted_spellings.groups()
    keys: HashArray = counted_spellings.keys
    sizes = np.diff(starts, append=len(keys))
    if not len(starts) or not (sizes > 1).any():
        return []
    totals = np.add.reduceat(counted_spellings.counts, starts)
    share = int(totals[sizes > 1].sum()) / max(n_rows, 1)
    what, harm = (
        ("ids", "they count as different people, so what is published about one of them can be intersected")
        if ids
        else ("values", "people look more unlike others than they are")
    )
    text = (
        f"{counted(int((sizes > 1).sum()), 'group')} of {what} {_SPELLINGS}: {harm}. {percent(share)} of the rows have "
        f"such {'an id' if ids else 'a value'}."
    )
    return [Finding(name, "spellings", share, text, "Write each value in one way before you publish.")]


def _near_numbers(name: str, domain: Domain, counts: NDArray[np.int64]) -> list[Finding]:
    """Numbers so near to each other that several of them say the same."""
    positions = [(place, code) for code, place in enumerate(domain.positions or ()) if not math.isnan(place)]
    if len(positions) < _TWO:
        return []
    places, codes = (np.array(part) for part in zip(*sorted(positions), strict=True))
    gaps = np.diff(places)
    scale = float(np.abs(places).max())
    equal = gaps <= _SAME * scale
    if equal.any():
        near = codes[np.append(equal, False) | np.append(False, equal)]
        share = int(counts[near.astype(np.int64)].sum()) / max(int(counts.sum()), 1)
        text = (
            f"{counted(len(near), 'number')} are equal to another but for rounding: they count as different values, so "
            f"one value alone can pass for several. {percent(share)} of the rows have such a number."
        )
        remedy = say("Round them, or cut them into bins ({}).", Setting("bins", (name, "width:...")))
        return [Finding(name, "near-numbers", share, text, remedy, attribute=name)]
    span = float(places[-1] - places[0])
    close = gaps <= _CLOSE * span
    share = float(np.mean(np.append(close, False) | np.append(False, close)))
    if len(places) <= _MANY_NUMBERS or share <= 1 / 2:
        return []
    text = (
        f"{percent(share)} of its {len(places)} values are nearer to another than 1 % of their range: several values "
        "that a person may have can say nearly the same."
    )
    remedy = say(
        "Cut them into bins ({}), or keep values apart with a d and a distance.", Setting("bins", (name, "width:..."))
    )
    return [Finding(name, "near-numbers", share, text, remedy, attribute=name)]


def _two_values(name: str, counts: NDArray[np.int64], *, groups: bool) -> Finding:
    most = int(counts.max(initial=0)) / max(int(counts.sum()), 1)
    text = f"It has two values, of which the more frequent has {percent(most)} of the rows."
    if not groups:
        why: str | Sentence = say(
            "A set of two values tells nothing: {} hides them by randomized response.", Setting("epsilon", 1)
        )
    elif most > 1 / 2:
        why = "Classes in which both are equally frequent must leave rows out."
    else:
        why = "Classes can hold both equally often."
    remedy = say(
        "{} Methods that group can keep the shares of each class near those of the table ({} with {}).",
        why,
        Setting("method", "mondrian"),
        Setting("model", "t-closeness:0.1"),
    )
    return Finding(name, "two-values", most, text, remedy, attribute=name)
