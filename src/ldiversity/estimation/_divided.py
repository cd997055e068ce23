"""Labels that a question would divide: a cell is refused when it would lack what such a label holds of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from ldiversity.errors import UnsupportedError
from ldiversity.sentences import Sentence, Setting, say
from ldiversity.tables import Bins

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["bins_near", "check_whole", "divided"]

_MOST_TRIED: Final = 50


def divided(cells_of: Mapping[str, tuple[str, ...]]) -> tuple[str, str] | None:
    """A label that lies in several cells, and one of these that other labels fill; None where there is none.

    `cells_of` has the cells in which values under each label are.

    Examples
    --------
    Bins of 7 years and labels of 5: nothing says which of the second label belongs to the first bin.

    >>> divided({"[15, 20)": ("[14, 21)",), "[20, 25)": ("[14, 21)", "[21, 28)")})
    ('[20, 25)', '[14, 21)')

    Where every label is divided, each can be a cell of its own, and cells mean what they are called.

    >>> divided({"1984": ("1984-01", "1984-02"), "1985": ("1985-01", "1985-02")})
    """
    filled = {cells[0] for cells in cells_of.values() if len(cells) == 1}
    several = ((label, cell) for label, cells in cells_of.items() if len(cells) > 1 for cell in cells)
    return next(((label, cell) for label, cell in several if cell in filled), None)


def check_whole(name: str, cells_of: Mapping[str, tuple[str, ...]], fitting: Callable[[], Bins | None]) -> None:
    """Refuse cells of a column that would lack a part of what they are called; `fitting` gives bins that do not."""
    found = divided(cells_of)
    if found is None:
        return
    label, cell = found
    raise UnsupportedError(
        "estimate",
        f"the cell {cell!r} of {name!r} cannot be filled, because the release shows the label {label!r}, of which only "
        "a part belongs to it",
    ).with_hint(_way_out(name, fitting()))


def _way_out(name: str, fitting: Bins | None) -> Sentence:
    alone = Setting("by", name)
    if fitting is None:
        return say("Name the column alone for a cell of each label: {}.", alone)
    if fitting.width is not None:
        text = _as_asked(fitting.width)
        given = f"width={text}"
    else:
        numbers = [_as_asked(edge) for edge in fitting.edges or ()]
        text, given = "/".join(numbers), f"edges=[{', '.join(numbers)}]"
    whole = Setting("by", f"{name}:{text}", python=f"bins({name!r}, {given})")
    return say("Use bins that hold whole labels: {}; or name the column alone for a cell of each: {}.", whole, alone)


def _as_asked(number: float) -> str:
    """A number as questions take it."""
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def bins_near(asked: Bins, label_width: float, highest: float) -> Iterator[Bins]:
    """Bins that may hold whole labels, the nearest to what was asked first.

    Widths are multiples of the width of labels. The last of declared bins holds its upper edge too, which begins a
    label: another edge above the highest number of all labels ends that.

    Examples
    --------
    >>> [one.width for one in bins_near(Bins(width=7), 5, 99)]
    [5, 10]
    >>> [one.edges for one in bins_near(Bins(edges=(0, 20, 65)), 5, 99)]
    [(0.0, 20.0, 65.0, 100.0)]
    """
    if asked.width is not None and label_width > 0:
        times = min(int(asked.width // label_width), _MOST_TRIED)
        widths = [label_width * number for number in range(1, times + 2)]
        yield from (Bins(width=one) for one in sorted(widths, key=lambda one: abs(one - (asked.width or 0))))
    elif asked.edges is not None:
        yield Bins(edges=(*asked.edges, max(highest, asked.edges[-1]) + 1))
