"""What a device is about to send, for people to read, and to the byte."""

from __future__ import annotations

from dataclasses import dataclass

from ldiversity.collection.survey import Question

__all__ = ["Hidden", "Prepared", "Preview"]


@dataclass(frozen=True)
class Hidden:
    """One question, and the set that is sent in place of the answer."""

    question: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class Prepared:
    """One report: what it says, and its bytes.

    Attributes
    ----------
    part
        Which part of the survey it answers.
    shown
        The ranges and choices that it has, by name.
    hidden
        The sets that it has.
    body
        All that is sent, to the byte.
    """

    part: int
    shown: tuple[tuple[str, str], ...]
    hidden: tuple[Hidden, ...]
    body: bytes


@dataclass(frozen=True)
class Preview:
    """All that a device is about to send. The answers themselves are not in it.

    Attributes
    ----------
    survey_id
        The survey.
    reports
        One report for each part of the survey.
    questions
        The questions that are answered, for the device's ledger.
    token
        What the token of a report is, in one sentence.
    linked_by
        What links the reports to each other, if there are several.
    agreed
        Whether questions that may ask for the same fact as one before were agreed to.
    """

    survey_id: str
    reports: tuple[Prepared, ...]
    questions: tuple[Question, ...]
    token: str
    linked_by: str | None
    agreed: bool

    @property
    def lines(self) -> tuple[str, ...]:
        """What is sent, one line each."""
        lines = []
        links = "nothing in it links" if self.linked_by is None else f"{self.linked_by} links"
        for number, report in enumerate(self.reports, 1):
            if len(self.reports) > 1:
                lines.append(f"Report {number} of {len(self.reports)}, which {links} to the others:")
            lines += [f"{name}: {label}" for name, label in report.shown]
            lines += [f"{one.question}: one of {', '.join(one.members)}" for one in report.hidden]
        return (*lines, self.token)

    def __str__(self) -> str:
        return "\n".join(self.lines)
