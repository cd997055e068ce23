"""Re-checking the claims of a grouped release on what was published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ldiversity.base.budget import Budget
from ldiversity.base.spill import Spill
from ldiversity.errors import ClaimError, ReleaseFormatError
from ldiversity.release._cells import cells_of
from ldiversity.release._check_alike import verify_alike
from ldiversity.release._check_classes import verify_classes
from ldiversity.release._claims import PEOPLE, RECORDS, AlikeClaim, subjects_of
from ldiversity.release._class_ranges import verify_in_ranges
from ldiversity.release._class_read import FolderClassRows
from ldiversity.release._class_rows import ClassRows
from ldiversity.release._coded import parse_type
from ldiversity.release._description import ClassDescription
from ldiversity.release._regions import whole_array
from ldiversity.schema import Role
from ldiversity.sentences import say

__all__ = ["verify_class_rows"]


def verify_class_rows(
    rows: ClassRows,
    description: ClassDescription,
    *,
    n_rows: int,
    n_records: int | None = None,
    budget: Budget | None = None,
    scratch: Path | None = None,
) -> None:
    """Raise `ClaimError` unless every class satisfies the claim, and every record is there or counted as left out.

    There must be `n_rows` rows; `n_records` is how many records the holder had, where that is known. With a budget,
    rows of a folder are verified some classes at a time, with the same result; what waits is on the disk of `scratch`.
    """
    if {claim.attribute for claim in description.claims} != set(subjects_of(description.schema)):
        raise ClaimError("release", "every sensitive attribute must have a claim")
    if n_records is not None and n_rows + description.suppressed != n_records:
        raise ClaimError(
            "release",
            f"{n_records} records must be published or counted as left out",
            got=f"{n_rows} and {description.suppressed}",
        )
    try:
        if budget is None or not isinstance(rows, FolderClassRows):
            _verify(rows, description, n_rows)
        else:
            with Spill(scratch) as spill:
                verify_in_ranges(rows, description, n_rows=n_rows, budget=budget, spill=spill)
    except ReleaseFormatError as error:
        raise ClaimError("release", say("what was written cannot be published: {}", error.message)) from None


def _verify(rows: ClassRows, description: ClassDescription, n_rows: int) -> None:
    alike = [claim for claim in description.claims if isinstance(claim, AlikeClaim)]
    if alike:
        shown = rows.columns(description.schema.names(Role.QUASI))
        verify_alike(alike, [shown if shown.num_columns else pa.table({"": pa.nulls(n_rows, pa.int8())})])
    for name in subjects_of(description.schema):
        claims = [one for one in description.claims if one.attribute == name and not isinstance(one, AlikeClaim)]
        class_column = description.class_columns[name]
        row_classes, n_classes = rows.class_of(class_column), rows.n_classes(class_column)
        if len(row_classes) != n_rows:
            raise ClaimError(f"there must be {n_rows} records", column=name, got=len(row_classes))
        domain = RECORDS if name == PEOPLE else description.schema.domain(name)
        said: dict[str, Any] = {"attribute": name, "domain": domain, "n_classes": n_classes, "row_classes": row_classes}
        if description.layout == "bucketized":
            held = rows.counts(name)
            classes = np.repeat(np.arange(held.n_classes), np.diff(held.starts))
            verify_classes(claims, **said, classes=classes, codes=held.codes, counts=held.counts)
        else:
            codes = np.zeros(len(row_classes), dtype=np.int32) if name == PEOPLE else rows.values(name)
            verify_classes(claims, **said, classes=row_classes, codes=codes)
        if description.layout == "generalized" and rows.regions().num_rows != n_classes:
            raise ClaimError("release", f"every class must have one region, and there must be {n_classes}")
    for name, form in description.forms.items():
        if form.grid is not None:  # every end must lie on it
            kind = parse_type(description.schema[name].type)
            cells_of(name, whole_array(rows.regions()[name]), form, kind)
