"""Lines that lie on each other in a picture, so that it can say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

__all__ = ["overlapping_lines", "tell_overlaps"]

_CLOSE: Final = 0.1
"""Heights that differ by a smaller share can hardly be told apart, on a logarithmic axis or near the top of another."""

_Lines: TypeAlias = Mapping[str, tuple[Sequence[float], Sequence[float | None]]]


def overlapping_lines(panels: Sequence[_Lines]) -> list[list[str]]:
    """Names of lines that lie on each other in every panel, wherever both have points, group by group.

    Parameters
    ----------
    panels
        The lines of each panel: a list of x and one of y by name; points without a y are not drawn.

    Examples
    --------
    >>> panel = {"a": ([1, 2, 3], [0.5, 0.25, None]), "b": ([1, 2, 3], [0.5, 0.26, 0.2]), "c": ([1, 2], [0.5, 0.5])}
    >>> overlapping_lines([panel])
    [['a', 'b']]
    """
    points = {name: _points(panels, name) for panel in panels for name in panel}
    groups: list[list[str]] = []
    for name, own in points.items():
        for group in groups:
            if all(_same(points[other], own) for other in group):
                group.append(name)
                break
        else:
            groups.append([name])
    return [group for group in groups if len(group) > 1]


def tell_overlaps(groups: Sequence[Sequence[str]]) -> str:
    """Name the lines that lie on each other, on one line.

    Examples
    --------
    >>> tell_overlaps([["Ex-Simple", "N-Simple"], ["BSGI, ours", "BSGI, published", "1/l"]])
    'Ex-Simple and N-Simple; BSGI, ours / BSGI, published and 1/l'
    """
    return "; ".join(f"{' / '.join(group[:-1])} and {group[-1]}" for group in groups)


def _points(panels: Sequence[_Lines], name: str) -> dict[tuple[int, float], float]:
    return {
        (number, x): y
        for number, panel in enumerate(panels)
        if name in panel
        for x, y in zip(*panel[name], strict=True)
        if y is not None
    }


def _same(one: Mapping[tuple[int, float], float], other: Mapping[tuple[int, float], float]) -> bool:
    both = one.keys() & other.keys()
    return len(both) > 1 and all(
        abs(one[place] - other[place]) <= _CLOSE * max(abs(one[place]), abs(other[place])) for place in both
    )
