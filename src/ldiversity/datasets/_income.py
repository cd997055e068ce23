"""A made-up survey of yearly incomes, with a known truth."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ldiversity.base.checks import check_choice, check_integer
from ldiversity.datasets._frames import as_frame
from ldiversity.schema import Domain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ldiversity.base.arrays import FloatArray

__all__ = ["INCOME_EDGES", "income", "income_domain", "income_truth"]

INCOME_EDGES: Final = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0)
"""Edges between the 14 bands, in million yen; the last band is open."""

_SEXES: Final = ("female", "male")
_AGES: Final = (20, 70)
_SPREAD: Final = 0.52
# Median yearly income in million yen at these ages; in between, it is interpolated on the log scale.
_PROFILE_AGES: Final = (20.0, 25.0, 35.0, 45.0, 55.0, 60.0, 69.0)
_MEDIANS: Final = ((2.1, 2.8, 3.0, 3.0, 2.9, 2.6, 2.1), (2.3, 3.2, 4.6, 5.6, 6.3, 5.2, 3.5))


def income(n: int = 100_000, seed: int = 0, frame: str = "arrow") -> Any:  # noqa: ANN401 - `frame` chooses the type
    """Make up a survey of yearly incomes in 14 bands.

    The shape is that of salary statistics: log-normal around a median that rises until the middle fifties
    and then falls, lower and flatter for women. The numbers are made up.

    Parameters
    ----------
    n
        How many people.
    seed
        The same `n` and `seed` give the same table. The generator is not a secure one: these are test data.
    frame
        ``"arrow"``, ``"pandas"`` or ``"polars"``.

    Returns
    -------
    pyarrow.Table, pandas.DataFrame or polars.DataFrame
        `age` (20 to 69), `sex` and `income`, a band in million yen. Sorting the bands as texts sorts them by amount.

    See Also
    --------
    income_domain : the bands in order, including those that do not occur.
    income_truth : the probabilities behind the table.

    Examples
    --------
    >>> income(1000).column_names
    ['age', 'sex', 'income']
    """
    n = check_integer("income", "n", n, minimum=0)
    rng = np.random.default_rng(check_integer("income", "seed", seed, minimum=0))
    age = rng.integers(*_AGES, size=n)
    sex = rng.integers(len(_SEXES), size=n)
    amount = np.exp(_log_median(age, sex) + _SPREAD * rng.standard_normal(n))
    band = np.searchsorted(INCOME_EDGES, amount, side="right")
    table = pa.table(
        {
            "age": pa.array(age, pa.int64()),
            "sex": pa.array(_SEXES, pa.string()).take(pa.array(sex)),
            "income": pa.array(_bands(), pa.string()).take(pa.array(band)),
        }
    )
    return as_frame("income", table, frame)


def income_domain() -> Domain:
    """Return the 14 bands of `income`, in order.

    Examples
    --------
    >>> income_domain().values[:2], income_domain().values[-2:]
    (('00-01M', '01-02M'), ('20-25M', '25M+'))
    """
    return Domain(values=_bands(), ordered=True)


def income_truth(age: int, sex: str) -> FloatArray:
    """Return the probability of each band for an age and a sex, shape (14,).

    Examples
    --------
    >>> income_domain().values[income_truth(50, "male").argmax()]
    '04-05M'
    """
    check_integer("income_truth", "age", age, minimum=_AGES[0], maximum=_AGES[1] - 1)
    check_choice("income_truth", "sex", sex, _SEXES)
    center = float(_log_median(np.array([age]), np.array([_SEXES.index(sex)]))[0])
    below = [0.5 * (1 + math.erf((math.log(edge) - center) / (_SPREAD * math.sqrt(2)))) for edge in INCOME_EDGES]
    return np.diff([0.0, *below, 1.0])


def _bands() -> tuple[str, ...]:
    edges = [0, *(int(edge) for edge in INCOME_EDGES)]
    closed = [f"{low:02d}-{high:02d}M" for low, high in pairwise(edges)]
    return (*closed, f"{edges[-1]}M+")


def _log_median(age: NDArray[np.int64], sex: NDArray[np.int64]) -> FloatArray:
    by_sex = np.array([np.interp(age, _PROFILE_AGES, np.log(medians)) for medians in _MEDIANS])
    centers: FloatArray = by_sex[sex, np.arange(len(age))]
    return centers
