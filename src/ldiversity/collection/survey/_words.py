"""What is said to the people who are asked: what holds, what does not, and the figures, in plain sentences.

Pages, terminals and guides take their words from here, so that they all say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb, prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from ldiversity.base.numbers import counted, percent, percent_at_most
from ldiversity.collection.draw import PartitionDraw
from ldiversity.collection.survey._document import Ranges
from ldiversity.collection.survey._fitted import question_mechanism
from ldiversity.collection.survey._mechanism import BalancedForm, UniformForm

if TYPE_CHECKING:
    from ldiversity.collection.survey._document import Question, Survey

__all__ = ["ChangedAnswer", "HonestWords", "best_guess", "changed_answer", "honest_words", "only_common_answer"]

_COMMON: Final = 9
"""How many times as common an answer is in the example of a good guess."""

_TOKENS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "device": ("Your device counts once in this survey. What it sends for that cannot be linked to other surveys."),
        "invitation": (
            "Your invitation counts once. The collector's program keeps no link from an invitation to what was sent "
            "with it."
        ),
        "blind": (
            "Your invitation counts once. The collector signs a ticket for it without seeing the ticket. So nothing in "
            "what you send tells which invitation it came with."
        ),
    }
)
_READ: Final = (
    "Each answer of a set explains what you sent equally well. So nobody can read from a set which one is yours."
)
_SHOWN: Final = "You see exactly what will be sent before it is sent."
_SAME: Final = "If you answer again, the same answer gives the same set."
_KEPT: Final = "The collector's program keeps the sets and ranges. It keeps no time, no address and no order."
_TICKET: Final = (
    "Your ticket is signed shortly before your answers are sent. A server that keeps addresses or times could put "
    "the two together, and so find your invitation. An anonymous network such as Tor hides the address."
)
_NUMBER: Final = (
    "A collector who gives everybody another survey knows whose report it is, because a report names its survey. "
    "Compare the number of the survey with others."
)
_SAME_CODE: Final = (
    "Each question is sent in a report of its own, but your invitation is in all of them. The collector's program does "
    "not keep which of them came with the same one; another program could."
)
_ONE_AFTER_THE_OTHER: Final = (
    "Your reports are sent one after the other, so the network may see that they come from one person."
)
_PAGE: Final = (
    "This page comes from the collector's server. A server that wants your answers could send another page, which "
    "sends them. A program on your own device, such as python -m ldiversity.collection.answer, does not depend on it."
)
_NETWORK: Final = (
    "The network, and the server while you are connected, see that somebody with your address answered. An anonymous "
    "network such as Tor hides that."
)
_COMMON_ANSWERS: Final = "Someone who knows which answers are common can guess better than the set alone allows."


@dataclass(frozen=True)
class HonestWords:
    """What is said to people, in plain sentences.

    Attributes
    ----------
    holds
        What holds.
    limits
        What does not.
    sent
        What is sent for each question and each thing about the person, by its name.
    """

    holds: Sequence[str]
    limits: Sequence[str]
    sent: Mapping[str, str]


@dataclass(frozen=True)
class ChangedAnswer:
    """What somebody learns who sees two sets of one device, knows that they are, and knows that the answer changed.

    Attributes
    ----------
    overlap
        How often the two sets differ and share answers: 0 means never; None that it depends on the answers.
    posterior
        The greatest probability of one earlier answer then, if all answers are equally common; None if it is not known.
    """

    overlap: float | None
    posterior: float | None


def changed_answer(question: Question) -> ChangedAnswer:
    """What a changed answer would tell.

    Notes
    -----
    Partitions give a device sets that are equal or disjoint, except when one of the two answers was left over in the
    first partition: that happens to at most ``2 (F mod l) / F`` of changes. The answer that was left over is then in
    one set only. If the sets share s answers, each of the others is ``(2l - s) / (2l (l - s))`` likely, which is at
    most ``(l + 1) / (2l)``. Words that depend on the answer give two independent sets. Then all ``l**2 - s`` pairs of
    different answers are equally likely, and an answer that is in one set only is at most ``l / (l**2 - l + 1)``
    likely.

    Examples
    --------
    >>> from ldiversity.collection.survey import Question
    >>> of_seven = {"kind": "uniform", "version": 2, "n_values": 7, "l": 3}
    >>> changed_answer(Question(name="q", ask="?", values=list("abcdefg"), ordered=False, mechanism=of_seven)).overlap
    0.2857142857142857
    """
    draw, l = question.draw, question.l
    if not isinstance(draw, PartitionDraw):
        return ChangedAnswer(None, l / (l * l - l + 1))
    if draw.left_over == 0:
        return ChangedAnswer(0.0, 1 / l)
    known = isinstance(question.mechanism, UniformForm)
    return ChangedAnswer(min(1.0, 2 * draw.left_over / draw.n_values), (l + 1) / (2 * l) if known else None)


def only_common_answer(question: Question) -> float | None:
    """How often two independent sets of one answer have nothing else in common; None where it is not uniform.

    That is what somebody gets who answers twice with two devices, or after the storage of one was cleared.
    """
    if not isinstance(question.mechanism, UniformForm):
        return None
    size, l = len(question.values), question.l
    return comb(size - l, l - 1) / comb(size - 1, l - 1)


def best_guess(question: Question, shares: Sequence[float]) -> float | None:
    """How often someone is right who knows the shares, and guesses the most common answer of each set.

    None where the draw is not uniform.

    Notes
    -----
    A guess is right if the true answer is the most common of its set: all ``l - 1`` others come from those that are
    less common.

    Examples
    --------
    >>> from ldiversity.collection.survey import Question
    >>> of_three = {"kind": "uniform", "version": 2, "n_values": 3, "l": 2}
    >>> asked = Question(name="q", ask="?", values=list("abc"), ordered=False, mechanism=of_three)
    >>> best_guess(asked, [0.5, 0.25, 0.25])
    0.625
    """
    if not isinstance(question.mechanism, UniformForm):
        return None
    size, l = len(question.values), question.l
    # The first has size - 1 answers below it, the next one fewer, and so on.
    ranked = sorted(shares, reverse=True)
    return sum(share * comb(size - 1 - rank, l - 1) for rank, share in enumerate(ranked)) / comb(size - 1, l - 1)


def honest_words(
    survey: Survey, shares: Mapping[str, Sequence[float]] | None = None, *, on_page: bool = True
) -> HonestWords:
    """What is said to the people who are asked.

    Parameters
    ----------
    survey
        The survey.
    shares
        For some questions, how common the answers are, for example as estimated: the words then say how well a guess
        can be that knows this. Shares below 0 count as 0.
    on_page
        Whether they stand on a page of the collector's server, and not in a program of the person's own.
    """
    limits = [said for said in _limits(survey, shares or {}) if on_page or said != _PAGE]
    return HonestWords(tuple(_holds(survey)), tuple(limits), _sent(survey))


def _sent(survey: Survey) -> Mapping[str, str]:
    sent: dict[str, str] = {}
    for part in survey.quasi:
        if isinstance(part, Ranges):
            wide = [label for label in part.labels[1:] if not label.lstrip("-").isdigit()]
            sent[part.name] = f"Only the range is sent, such as {next(iter(wide), part.labels[0])}."
        else:
            sent[part.name] = "Your choice is sent as it is."
    for question in survey.questions:
        others = counted(question.l - 1, "other answer")
        pair = question.l == 2  # noqa: PLR2004 - one other answer
        apart = ""
        if isinstance(question.mechanism, BalancedForm):
            apart = ", which is not close to yours" if pair else ", none of them close to yours or to each other"
        of_all = "Both explain" if pair else f"Each of the {question.l} explains"
        sent[question.name] = f"Your device adds {others}{apart}. {of_all} what you sent equally well."
    return MappingProxyType(sent)


def _holds(survey: Survey) -> list[str]:
    sizes = " or ".join(str(l) for l in sorted({question.l for question in survey.questions}))
    said = [
        f"Your answers stay on this device. For each question it sends a set of {sizes} answers; yours is one of them.",
        _READ,
        _SHOWN,
        _SAME,
    ]
    apart = [question.name for question in survey.questions if changed_answer(question).overlap == 0]
    if apart:
        said.append(
            f"If your answer to {_listed(apart, 'or')} changes one day, this device sends the same set again, or one "
            "that shares no answer with it. Two such sets tell that something changed, but not from what or to what."
        )
    if not survey.linked and len(survey.questions) > 1 and survey.tokens != "invitation":
        said.append(_apart(survey))
    return [*said, _TOKENS[survey.tokens], _KEPT]


def _limits(survey: Survey, shares: Mapping[str, Sequence[float]]) -> list[str]:
    said = [_guess(survey, shares)]
    if survey.quasi:
        names = _listed([part.name for part in survey.quasi])
        said.append(
            f"What you say about {names} is not hidden. If few people say the same, somebody who knows you may find "
            "your report, with your sets in it, but not your answers."
        )
    said += _changes(survey)
    if survey.linked and len(survey.questions) > 1:
        combined = prod(question.l for question in survey.questions)
        said.append(
            f"Your {len(survey.questions)} sets are kept together. They leave {combined:,} combinations of answers. If "
            "two questions have to do with each other, some of these are rare in life, and the others are more likely."
        )
    elif len(survey.questions) > 1:
        said += [_SAME_CODE] if survey.tokens == "invitation" else []
        said.append(_ONE_AFTER_THE_OTHER)
    said += [_TICKET, _NUMBER] if survey.tokens == "blind" else []
    return [*said, *_same_answers(survey), _PAGE, _NETWORK, _cleared(survey)]


def _apart(survey: Survey) -> str:
    besides = f", besides what you say about {_listed([part.name for part in survey.quasi])}" if survey.quasi else ""
    said = "Each question is sent in a report of its own. Nothing in the reports tells that they come from one person"
    return f"{said}{besides}."


def _same_answers(survey: Survey) -> list[str]:
    """A device compares questions with those of other surveys only; of one survey, the person is told."""
    values = [{value.casefold() for value in question.values} for question in survey.questions]
    alike = [
        question.name
        for at, question in enumerate(survey.questions)
        if any(
            2 * len(values[at] & other) >= min(len(values[at]), len(other))
            for place, other in enumerate(values)
            if place != at
        )
    ]
    if not alike:
        return []
    same = f"The answers to choose from are much the same in {_listed(alike)}."
    both = "If two of these ask you for the same fact, anyone who sees both sets knows that your answer is in both."
    return [f"{same} {both} Then do not answer, or ask the collector."]


def _guess(survey: Survey, shares: Mapping[str, Sequence[float]]) -> str:
    known = [
        _known_guess(question, shares[question.name])
        for question in survey.questions
        if max(shares.get(question.name, ()), default=0) > 0
    ]
    if known:
        return f"{_COMMON_ANSWERS} With the results so far, such a guess is right in up to {_listed(known)}."
    most = max(_COMMON / (_COMMON + question.l - 1) for question in survey.questions)
    return (
        f"{_COMMON_ANSWERS} For example, if one answer of a set is {_COMMON} times as common as each of the others, it "
        f"is the right one in up to {percent_at_most(most, 2)} of cases."
    )


def _known_guess(question: Question, shares: Sequence[float]) -> str:
    positive = [max(share, 0.0) for share in shares]
    prior = [share / sum(positive) for share in positive]
    worst = float(question_mechanism(question).worst_posterior(prior))  # type: ignore[arg-type]
    average = best_guess(question, prior)
    often = "" if average is None else f" ({percent(average, 2)} on average)"
    return f"{percent(worst, 2)} of cases for {question.name}{often}"


def _changes(survey: Survey) -> list[str]:
    """What changed answers tell: questions of which the same is true, such as those of one scale, share a sentence."""
    alike: dict[tuple[ChangedAnswer, int], list[str]] = {}
    for question in survey.questions:
        alike.setdefault((changed_answer(question), question.l), []).append(question.name)
    return [_change(found, l, names) for (found, l), names in alike.items() if found.overlap != 0]


def _change(found: ChangedAnswer, l: int, names: Sequence[str]) -> str:
    guess = "more likely"
    if found.posterior is not None:
        guess += f", in the worst case {percent(found.posterior, 2)} instead of {percent(1 / l, 2)}"
    asked = _listed(names, "or")
    if found.overlap is None:
        return (
            f"If your answer to {asked} changes one day, this device draws another set for it. Somebody who "
            "sees both sets, and knows that both are yours, knows that it changed. Answers in only one of the sets are "
            f"then {guess}."
        )
    return (
        f"If your answer to {asked} changes one day, the two sets differ and still share answers in up to "
        f"{percent_at_most(found.overlap, 2)} of cases. To somebody who sees both, and knows that both are yours, "
        f"answers in only one of them are then {guess}."
    )


def _cleared(survey: Survey) -> str:
    alone = [share for question in survey.questions if (share := only_common_answer(question)) is not None]
    often = "" if not alone else f" In up to {percent_at_most(max(alone), 2)} of cases that is your answer alone."
    return (
        "If this device's storage is cleared, or if you answer with another device, in another browser or at another "
        "web address, a new set is drawn for the same answer. Somebody who knows that both sets are yours looks for "
        f"what is in both.{often}"
    )


def _listed(names: Sequence[str], joined: str = "and") -> str:
    *first, last = names
    return f"{', '.join(first)} {joined} {last}" if first else last
