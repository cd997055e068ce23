"""The picture of an estimate, the same on the command line, in reports and in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ldiversity.pictures import plot_estimate
from ldiversity.schema import MISSING_LABEL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from ldiversity.estimation import Estimate

__all__ = ["cell_name", "draw_estimate", "estimate_title", "holds_for_certain", "label_text", "value_name"]

_JOINT: Final = " & "
EMPTY_LABEL: Final = "(empty text)"


def draw_estimate(estimate: Estimate, *, title: str | None = None, truth: ArrayLike | None = None) -> Figure:
    """Draw an estimate.

    Parameters
    ----------
    estimate
        What `ldiversity.estimate` gives.
    title
        What the picture shows; names the columns when None.
    truth
        True shares, shape (cells, values), that only the data holder knows.
    """
    facts = estimate.to_dict()
    records = estimate.records[:, None]
    return plot_estimate(
        [cell_name(cell) for cell in facts["cells"]],
        [value_name(value) for value in facts["cells"][0]["values"]],
        estimate.share,
        estimate.low / records,
        estimate.high / records,
        title=estimate_title(estimate) if title is None else title,
        truth=truth,
        marked=[bool(note) for note in estimate.note],
        records=estimate.records.tolist(),
        confidence=estimate.confidence,
        interval="certain interval" if holds_for_certain(estimate) else None,
    )


def holds_for_certain(estimate: Estimate) -> bool:
    """Whether intervals are the least and the greatest counts that classes allow."""
    return set(estimate.estimator) == {"classes"}


def estimate_title(estimate: Estimate) -> str:
    """What an estimate is about."""
    divided = f" by {', '.join(estimate.by)}" if estimate.by else ""
    return f"{' and '.join(estimate.sensitive)}{divided}, estimated from the release"


def cell_name(cell: Mapping[str, Any]) -> str:
    """Name a cell of `Estimate.to_dict`.

    Examples
    --------
    >>> cell_name({"by": {"sex": "F", "zip": None}}), cell_name({"by": {}})
    ('F, (missing)', 'all records')
    """
    return ", ".join(map(label_text, cell["by"].values())) or "all records"


def value_name(value: Mapping[str, Any]) -> str:
    """Name a value, or a combination of values, of `Estimate.to_dict`.

    Examples
    --------
    >>> value_name({"value": ["flu", "nurse"]}), value_name({"value": "flu"})
    ('flu & nurse', 'flu')
    """
    parts = value["value"] if isinstance(value["value"], list) else [value["value"]]
    return _JOINT.join(map(label_text, parts))


def label_text(value: object) -> str:
    """Write a label, also that of what is missing, and of a text without a letter.

    Examples
    --------
    >>> label_text(None), label_text(" "), label_text(3)
    ('(missing)', '(empty text)', '3')
    """
    text = MISSING_LABEL if value is None else str(value)
    return text if text.strip() else EMPTY_LABEL
