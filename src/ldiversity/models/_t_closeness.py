"""t-closeness: the values of a class are distributed as those of all records, but for an earth mover's distance t."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray, Json
from ldiversity.base.checks import check_choice, check_number
from ldiversity.base.numbers import percent_at_most
from ldiversity.base.typed import number_text
from ldiversity.errors import ParameterError
from ldiversity.hierarchies import Hierarchy
from ldiversity.models._base import PrivacyModel
from ldiversity.models._counts import Population
from ldiversity.models._exact import as_written, at_most, widened
from ldiversity.models._measured import Measured
from ldiversity.schema import Domain

__all__ = ["TCloseness"]

_FIGURES: Final = {
    "equal": Measured(
        "t_equal", "the share of a class that would have to change its value to look like all records, at worst"
    ),
    "ordered": Measured("t_ordered", "the same, where near values in their order are cheaper to change into"),
    "hierarchical": Measured("t_hierarchical", "the same, where near values in their tree are cheaper to change into"),
}
_GROUNDS: Final = tuple(_FIGURES)


@dataclass(frozen=True)
class TCloseness(PrivacyModel):
    """The earth mover's distance between the values of a class and those of all records is at most `t`.

    Reached is the distance, from 0 to 1.

    Parameters
    ----------
    t
        From 0 to 1.
    ground
        What moving a record from one value to another costs. ``equal``: 1. ``ordered``: the steps between them in the
        order of the domain, over the most steps there are. ``hierarchical``: the level at which they meet, over the
        level of the root.
    hierarchy
        For ``hierarchical``: a tree with a leaf for each value. The missing category may be left out; it then hangs
        from the root.

    Notes
    -----
    Monotone: the distance to a fixed distribution is convex, and a merged class is a mixture of the two.

    With u = q - p the distances are ``sum |u| / 2``; ``sum |u_1 + ... + u_i| / (F - 1)``; and, for a tree of height H,
    the sum of ``|u(node)|`` over all nodes below the root, over 2H. The last is the least cost on a tree whose edges
    have length 1/(2H) each, where two leaves that meet at level h are ``h/H`` apart, and equals the recursion of the
    paper. All are decided in integers.

    References
    ----------
    Li, Li and Venkatasubramanian, "t-closeness", 2007, Section 4.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> everyone = Population(Domain(tuple(range(3, 12)), ordered=True), np.ones(9, dtype=np.int64))
    >>> counts = np.array([[1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0, 1]])
    >>> TCloseness(0.2, ground="ordered").reached(counts, everyone).round(3).tolist()
    [0.375, 0.167]
    """

    name: ClassVar[str] = "t-closeness"
    monotone: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False
    scale: ClassVar[str] = "t"
    example: ClassVar[str] = "t-closeness:0.2, t-closeness:0.2:ordered or t-closeness:0.2:hierarchical:<file>"
    probes: ClassVar[tuple[tuple[Any, ...], ...]] = ((1.0,), (1.0, "ordered"))
    of_sets: ClassVar[Literal["possible", "likely", "learned"]] = "learned"

    t: float
    ground: Literal["equal", "ordered", "hierarchical"] = "equal"
    hierarchy: Hierarchy | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", check_number("TCloseness", "t", self.t, minimum=0, maximum=1))
        check_choice("TCloseness", "ground", self.ground, _GROUNDS)
        if (self.ground == "hierarchical") != isinstance(self.hierarchy, Hierarchy):
            raise ParameterError(
                "TCloseness", "hierarchy", "must be given with ground='hierarchical', and only then"
            ).with_hint("Hierarchy.read reads one from a file.")

    @property
    def figure(self) -> Measured:
        """Every ground has a figure of its own."""
        return _FIGURES[self.ground]

    def unfit(self, domain: Domain) -> str | None:
        """The ordered ground needs values in order."""
        return "The values have no order." if self.ground == "ordered" and not domain.ordered else None

    def reached(self, counts: NDArray[np.int64], population: Population) -> FloatArray:
        """The earth mover's distance of each class from all records."""
        cost, whole = self._costs(counts, population)
        reached: FloatArray = (cost / whole).astype(np.float64)
        return reached

    def holds(self, counts: NDArray[np.int64], population: Population) -> BoolArray:
        """Whether the distance is at most t."""
        cost, whole = self._costs(counts, population)
        return at_most(cost, as_written(self.t), whole)

    @property
    def text(self) -> str:
        """The text form; of a tree it lacks the file."""
        return ":".join([self.name, number_text(self.t), *([] if self.ground == "equal" else [self.ground])])

    @property
    def phrase(self) -> str:
        """The rule in a few words."""
        return f"values are spread as in all records, but for at most {percent_at_most(self.t)} (t-closeness)"

    def statement(self, attribute: str) -> str:
        """The rule in plain words."""
        means = {
            "equal": "at most this share of the class would have to change its value",
            "ordered": "values are compared by their places in their order",
            "hierarchical": "values are compared by where they meet in their tree",
        }
        return (
            f"In every class the values of {attribute!r} are distributed as in all records, up to an earth mover's "
            f"distance of {self.t:.6g}: {means[self.ground]}."
        )

    def to_dict(self) -> dict[str, Json]:
        """The model in JSON's types, with the rows of the hierarchy."""
        tree = {} if self.hierarchy is None else {"hierarchy": self.hierarchy.to_rows()}
        return {"name": self.name, "t": self.t, "ground": self.ground, **tree}

    @classmethod
    def from_dict(cls, described: Mapping[str, Json]) -> Self:
        """Read what `to_dict` wrote."""
        said: Any = described  # not trusted: the class checks what it is given
        rows = said.get("hierarchy")
        tree = None if rows is None else Hierarchy(tuple(tuple(row) for row in rows))
        return cls(said["t"], said["ground"], tree)

    @classmethod
    def from_text(cls, parts: Sequence[str], base: Path | None = None) -> Self:
        """Read ``t``, then the ground, then the file of the hierarchy."""
        number = cls._named(parts[:1])
        ground, *files = parts[1:] or ["equal"]
        if ground != "hierarchical":
            if files:
                raise ValueError(files[0])
            return cls(**number, ground=check_choice("TCloseness", "ground", ground, _GROUNDS))  # type: ignore[arg-type]
        if not any(files):
            raise ParameterError("model", "'t-closeness' must name the file of its hierarchy").with_hint(
                "Write for example t-closeness:0.2:hierarchical:diseases.csv."
            )
        file = Path(":".join(files))  # a path may have colons of its own
        return cls(**number, ground="hierarchical", hierarchy=Hierarchy.read(file if base is None else base / file))

    @classmethod
    def place_files(cls, parts: Sequence[str], place: Callable[[str], str]) -> Sequence[str]:
        """The file stands last."""
        return [*parts[:2], place(":".join(parts[2:]))] if parts[2:] else parts

    def _costs(self, counts: NDArray[np.int64], population: Population) -> tuple[NDArray[Any], NDArray[Any]]:
        """Shape (classes,) each: integers whose quotient is the distance."""
        n_values, total = counts.shape[1], int(population.counts.sum())
        sizes = counts.sum(axis=1)
        height = n_values if self.hierarchy is None else self.hierarchy.depth
        counts = widened(counts, 2 * total * int(sizes.max(initial=0)) * max(height, 2))
        sizes = counts.sum(axis=1)
        # With u = count / size - share, this is u * size * total.
        excess = counts * total - sizes[:, None] * population.counts
        if self.ground == "equal":
            return np.abs(excess).sum(axis=1), sizes * (2 * total)
        if self.ground == "ordered":
            return np.abs(np.cumsum(excess, axis=1)).sum(axis=1), sizes * (total * max(n_values - 1, 1))
        return self._climb(excess, population), sizes * (2 * total * max(height - 1, 1))

    def _climb(self, excess: NDArray[Any], population: Population) -> NDArray[Any]:
        """The sum of ``|excess|`` of every node below the root."""
        tree: Any = self.hierarchy
        listed = [code for code, value in enumerate(population.domain.values) if value is not None or None in tree]
        alone = sorted(set(range(len(population.domain))) - set(listed))
        paths = tree.nodes[tree.positions(population.domain.values[code] for code in listed)]
        cost: NDArray[Any] = np.abs(excess[:, alone]).sum(axis=1) * (tree.depth - 1)
        for nodes in paths.T[:-1]:
            order = np.argsort(nodes, kind="stable")
            starts = np.flatnonzero(np.diff(nodes[order], prepend=-1))
            cost = cost + np.abs(np.add.reduceat(excess[:, np.asarray(listed)[order]], starts, axis=1)).sum(axis=1)
        return cost
