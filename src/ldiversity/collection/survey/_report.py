"""Reports: what a device sends, and what of it is kept."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from ldiversity.collection.survey._document import Survey
from ldiversity.collection.survey._mechanism import Part
from ldiversity.errors import InternalError, ParameterError

__all__ = ["MOST_IN_BATCH", "Kept", "Report", "Reports", "TooManyReports", "write_report"]

_SPENT_BYTES: Final = 16
MOST_IN_BATCH: Final = 1000
"""How many reports one batch may have."""

Code: TypeAlias = Annotated[int, Field(ge=0, le=2047)]


class TooManyReports(ParameterError):  # noqa: N818 - what is wrong with a batch
    """A batch has more reports than one may have."""


class Report(Part):
    """One report, as JSON: codes of ranges and choices, a set of codes for each question, and a token to spend."""

    survey: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    token: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{22,43}$")]
    quasi: Annotated[dict[str, Code], Field(max_length=12)]
    sets: Annotated[dict[str, list[Code]], Field(max_length=24)]
    signature: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{300,700}$")] | None = None


@dataclass(frozen=True)
class Kept:
    """What is kept of a report: nothing links `spent` to `body`.

    Attributes
    ----------
    part
        Which part of the survey it answers.
    spent
        A hash of the token, so that it counts once.
    body
        Codes of two bytes: those of quasi in their order, then the sets of the part's questions.
    """

    part: int
    spent: bytes
    body: bytes


def write_report(
    survey: Survey,
    survey_id: str,
    token: str,
    quasi: Mapping[str, int],
    sets: Mapping[str, Sequence[int]],
    signature: str | None = None,
) -> bytes:
    """The bytes of a report: JSON without blanks, then blanks up to the survey's one length."""
    said: dict[str, object] = {
        "survey": survey_id,
        "token": token,
        "quasi": {part.name: quasi[part.name] for part in survey.quasi},
        "sets": {one.name: list(sets[one.name]) for one in survey.questions if one.name in sets},
    }
    if signature is not None:
        said["signature"] = signature
    written = json.dumps(said, separators=(",", ":")).encode()
    if len(written) > survey.report_bytes:  # its length would tell what is in it
        raise InternalError("report", "does not fit into the one length of its survey")
    return written.ljust(survey.report_bytes)


class Reports:
    """Reads the reports of one survey, and refuses what no device of this survey sends.

    Messages never quote what was sent.
    """

    def __init__(self, survey: Survey, survey_id: str) -> None:
        self._survey, self.survey_id = survey, survey_id
        self._part_of = {frozenset(one.name for one in part): at for at, part in enumerate(survey.parts)}
        self._sizes = {part.name: len(part.labels) for part in survey.quasi}
        self._one, self._many = (
            TypeAdapter(Report),
            TypeAdapter(Annotated[list[Report], Field(max_length=MOST_IN_BATCH)]),
        )

    def read(self, raw: bytes) -> tuple[Kept, Report]:
        """What is kept of one report, and the report itself, whose token may have to be checked."""
        if len(raw) != self._survey.report_bytes:
            raise _refused(f"must be {self._survey.report_bytes} bytes long, padded with blanks")
        try:
            report = self._one.validate_json(raw)
        except ValidationError as error:
            raise _refused(_rule_of(error)) from None
        return self._keep(report), report

    def read_batch(self, raw: bytes) -> list[tuple[Kept, Report]]:
        """The same of a list of reports; one that is refused refuses the batch."""
        try:
            reports = self._many.validate_json(raw)
        except ValidationError as error:
            if any(fault["type"] == "too_long" and not fault["loc"] for fault in error.errors(include_input=False)):
                raise TooManyReports("batch", f"must have at most {MOST_IN_BATCH} reports") from None
            raise _refused(_rule_of(error)) from None
        return [(self._keep(report), report) for report in reports]

    @cached_property
    def body_codes(self) -> tuple[int, ...]:
        """How many codes the body of each part has."""
        return tuple(len(self._sizes) + sum(one.l for one in part) for part in self._survey.parts)

    def _keep(self, report: Report) -> Kept:
        if report.survey != self.survey_id:
            raise _refused("must be for this survey")
        part = self._part_of.get(frozenset(report.sets))
        if part is None:
            raise _refused("must have a set for each question of one part of the survey, and no other")
        if report.quasi.keys() != self._sizes.keys():
            raise _refused("must have a code for each quasi of the survey, and no other")
        if any(code >= self._sizes[name] for name, code in report.quasi.items()):
            raise _refused("must have codes of the survey's ranges and choices")
        codes = [report.quasi[name] for name in self._sizes]
        for question in self._survey.parts[part]:
            members = report.sets[question.name]
            if not question.draw.admits(members):
                raise _refused("must have sets that the survey's mechanisms can publish")
            codes += members
        spent = hashlib.sha256(f"{self.survey_id}/{part}/{report.token}".encode()).digest()[:_SPENT_BYTES]
        return Kept(part, spent, struct.pack(f"<{len(codes)}H", *codes))


def _refused(rule: str) -> ParameterError:
    return ParameterError("report", rule)


def _rule_of(error: ValidationError) -> str:
    """The first broken rule, without what was sent: not even unknown names are repeated."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    known = {"survey", "token", "quasi", "sets", "signature"}
    place = next((str(step) for step in first["loc"] if step in known), None)
    if first["type"] == "json_invalid":
        return "must be JSON"
    if first["type"] == "extra_forbidden":
        return "must not have unknown fields"
    return "must be an object with the fields of a report" if place is None else f"must have {place} of the right form"
