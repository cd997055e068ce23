"""The ICD-10-CM classification of diseases as a hierarchy, from the optional package simple-icd-10-cm."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Final

from ldiversity.errors import SchemaError, UnsupportedError
from ldiversity.hierarchies._text import text_of
from ldiversity.hierarchies._tree import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ldiversity.base.arrays import Scalar

__all__ = ["icd_hierarchy"]

_ROOT: Final = "ICD-10-CM"


def icd_hierarchy(codes: Iterable[Scalar]) -> Hierarchy:
    """Build the tree of ICD-10-CM above some codes.

    Needs the extra `icd`: ``pip install ldiversity[icd]``.

    Parameters
    ----------
    codes
        Categories (``E11``) and subcategories (``E11.9``), with or without the dot. None is skipped.

    Raises
    ------
    SchemaError
        When a code is unknown; counts them.
    UnsupportedError
        When the extra is not installed.

    Notes
    -----
    The last four columns of every row are category, block, chapter and root: a code that is shorter than the longest
    one is repeated at the low levels. So a level, counted from the top, means the same for all codes. Let the longest
    code have m parts (``E11`` has 1, ``E11.9`` 2, ..., ``S52.521A`` 5). Then the tree distance of two codes is at
    least m in different categories, at least m + 1 in different blocks, and m + 2 in different chapters.

    Examples
    --------
    >>> icd_hierarchy(["E11.9", "E11", "B20"]).rows[0]
    ('E11.9', 'E11', 'E08-E13', 'Chapter 4', 'ICD-10-CM')
    >>> icd_hierarchy(["E11.9", "E11", "B20"]).rows[2]
    ('B20', 'B20', 'B20', 'Chapter 1', 'ICD-10-CM')
    """
    icd = _load()
    texts = [text_of(code) for code in codes if code is not None]
    unknown = sum(not icd.is_category_or_subcategory(_looked_up(code)) for code in texts)
    if unknown:
        raise SchemaError(
            "icd_hierarchy", "every code must be an ICD-10-CM category or subcategory", got=f"{unknown} that are not"
        ).with_hint("Correct the codes, or use tree:<file> with a hierarchy of your own.")
    spelled_twice = len(texts) - len({_looked_up(code).replace(".", "") for code in texts})
    if spelled_twice:
        raise SchemaError(
            "icd_hierarchy", "codes", "must be distinct", got=f"{spelled_twice} more than once"
        ).with_hint("List each of them once.")
    return Hierarchy.from_rows([_row(icd, code) for code in texts])


def _load() -> Any:  # noqa: ANN401 - the package carries no types
    try:
        with warnings.catch_warnings():
            # The package reads its data files with a function that newer Pythons deprecate.
            warnings.simplefilter("ignore", DeprecationWarning)
            import simple_icd_10_cm
    except ImportError as error:
        raise UnsupportedError(
            "icd_hierarchy", "the ICD-10-CM tree needs the package simple-icd-10-cm, which is not installed"
        ).with_hint("Run: pip install ldiversity[icd]") from error
    return simple_icd_10_cm


def _looked_up(code: str) -> str:
    return code.strip().upper()


def _row(icd: Any, code: str) -> tuple[str, ...]:  # noqa: ANN401 - the package carries no types
    *above, chapter = icd.get_ancestors(_looked_up(code))
    return (code, *above, f"Chapter {chapter}", _ROOT)
