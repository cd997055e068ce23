"""`check`: whether one privacy model holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ldiversity.base.checks import column_names, name_some
from ldiversity.errors import ParameterError
from ldiversity.evaluation.audit._asked import ask
from ldiversity.evaluation.audit._classes import MissingQuasi
from ldiversity.evaluation.audit._question import check_of_release, read_models, release_of, see_table
from ldiversity.evaluation.audit._releases import see_release
from ldiversity.models import PrivacyModel, Verdict
from ldiversity.tables import GivenReadOptions, Reading, Sensitive, as_read_options, as_sensitive, open_source

__all__ = ["check"]


def check(  # noqa: PLR0913 - as for `audit`
    model: str | PrivacyModel,
    data: Any,  # noqa: ANN401 - any frame, path or release
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sensitive | None = None,
    missing: MissingQuasi = "category",
    types: Mapping[str, str] | None = None,
    read: GivenReadOptions = None,
    person: str | None = None,
) -> Verdict:
    """Check one privacy model on a table or a release, for one sensitive attribute.

    Parameters
    ----------
    model
        The model, or its text form.
    data
        A path or frame, or a release or its folder.
    quasi, missing, types, read, person
        As for `audit`.
    sensitive
        The attribute. It may be left out for k-anonymity, and for a release that has only one.

    Returns
    -------
    Verdict
        Whether it holds, the value reached, the margin, and the sizes of the worst classes.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [30, 30, 40, 40], "disease": ["flu", "cut", "flu", "flu"]})
    >>> verdict = check("frequency:2", table, quasi="age", sensitive="disease")
    >>> verdict.passed, verdict.reached, verdict.n_records_failing
    (False, 1.0, 2)
    """
    (wanted,), _ = read_models(model)
    given = () if sensitive is None else sensitive
    reading: Reading = {"types": dict(types or {}), "read": as_read_options("check", read)}
    attributes, names = as_sensitive("check", given), column_names("audit", "quasi", quasi)
    release = release_of(data)
    if release is None:
        seen = see_table(open_source(data, **reading), names, attributes, missing, person)
    else:
        check_of_release(joint_knowledge=False, person=person, original=False)
        seen = see_release(release, quasi=names, sensitive=[one.name for one in attributes])
    if not wanted.of_people and len(seen.views) != 1:
        named = f"one of {name_some(seen.views)}" if seen.views else "the sensitive column"
        raise ParameterError("check", "sensitive", f"must name {named} to check {wanted.name!r}")
    return ask(seen, [wanted])[0].verdict
