"""What an attacker sees of a table or release: who looks alike, and what that says about sensitive values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.evaluation.audit._views import View
from ldiversity.models import PrivacyModel

__all__ = ["AttackerView"]


@dataclass(frozen=True, eq=False)
class AttackerView:
    """A table or release as an attacker sees it who knows the quasi-identifiers of people.

    Parameters
    ----------
    kind
        ``"table"``, or the layout of a release: ``"sets"``, ``"exploded"``, ``"generalized"``, ``"bucketized"``.
    name
        What messages call it.
    quasi
        The quasi-identifiers.
    keys
        One row a class: its quasi-identifiers; None where they are generalized. Never shown.
    sizes
        Shape (classes,): how many records look alike.
    views
        What is seen of each sensitive attribute.
    by_class_id
        The same by the published numbers of classes, where classes with equal regions were merged in `views`.
    n_dropped, n_suppressed
        How many rows the audit left out, and how many records the holder did not publish.
    joint
        Whether each view of several counts the other sensitive attributes as known.
    unseen
        How many rows show no value of an attribute.
    """

    kind: str
    name: str
    quasi: tuple[str, ...]
    keys: pa.Table | None = field(repr=False)
    sizes: NDArray[np.int64]
    views: Mapping[str, View]
    by_class_id: Mapping[str, View] = field(default_factory=dict)
    n_dropped: int = 0
    n_suppressed: int = 0
    frame_kind: str = "arrow"
    notes: tuple[str, ...] = ()
    joint: bool = False
    unseen: Mapping[str, int] = field(default_factory=dict)

    def view(self, attribute: str, model: type[PrivacyModel]) -> View:
        """What a kind of model looks at.

        Classes with equal regions look alike and are seen as one. Merging keeps what monotone models say; those that
        are not monotone speak of the classes as they are numbered.
        """
        if not model.monotone and attribute in self.by_class_id:
            return self.by_class_id[attribute]
        return self.views[attribute]

    @property
    def n_records(self) -> int:
        """The number of records."""
        return int(self.sizes.sum())
