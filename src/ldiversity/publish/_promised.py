"""What a grouping method may promise, and what it may leave out: methods of other packages say both themselves."""

from __future__ import annotations

from collections.abc import Mapping

from ldiversity.base.numbers import counted
from ldiversity.errors import ClaimError, LDiversityError, UnsupportedError
from ldiversity.methods import GroupingMethod
from ldiversity.models import PrivacyModel
from ldiversity.release import PEOPLE, RECORDS
from ldiversity.schema import Domain
from ldiversity.sentences import Setting, say

__all__ = ["check_left_out", "check_promises"]


def check_promises(method: GroupingMethod, domains: Mapping[str, Domain]) -> None:
    """Refuse a method that promises nothing, or what its classes say nothing about.

    `domains` are those of the sensitive columns; without one, promises are about records.
    """
    for name, domain in (domains or {PEOPLE: RECORDS}).items():
        try:
            promised = method.promises_of(name, domain)
        except LDiversityError:
            continue  # some of these values may be left out; what is published is checked again
        if not promised or not all(isinstance(rule, PrivacyModel) for rule in promised):
            about = f"every class of {name!r}" if name else "every class"
            raise UnsupportedError(
                method.name, f"must promise at least one privacy model for {about}, and only such"
            ).with_hint("Choose another method, or ask its author to return a model from promises.")
        alike = [rule.text for rule in promised if rule.of_people]
        if alike and method.layout == "bucketized":
            raise UnsupportedError(
                method.name,
                f"must not promise {alike[0]!r}, because records keep their quasi-identifiers in every class",
            ).with_hint(
                say("Ask for it beside a method that promises nothing of the kind, {}.", Setting("model", alike[0]))
            )


def check_left_out(method: GroupingMethod, *, left_out: int, n_records: int, again: bool) -> None:
    """Refuse to publish fewer records than the method may leave out.

    `again` says that the others were grouped once more, which may leave out as many of them.
    """
    allowed = method.may_leave_out
    if method.leaves_out or not left_out or (allowed and again) or left_out <= allowed * n_records:
        return
    share = "none" if not allowed else f"at most {allowed:.4g} of them"
    raise ClaimError(
        method.name, f"leaves out {left_out:,} of {counted(n_records, 'record')}, and says that it leaves out {share}"
    ).with_hint("Nothing was published. Choose another method, or ask its author to set may_leave_out.")
