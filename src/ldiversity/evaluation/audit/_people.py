"""People instead of rows: everybody counts once in a class, however many rows they have there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, different

__all__ = ["one_value_each"]


def one_value_each(
    ids: NDArray[np.int64], people: NDArray[np.int64], codes: CodeArray
) -> tuple[NDArray[np.int64], CodeArray]:
    """Let everybody count once in a class: with the value that most people of the class have.

    So the sizes of classes are numbers of people, and the share of the most frequent value is exact: the share of
    people who have it, perhaps beside others. The other values of these people count no more, and so no class seems
    more diverse than it is.

    Parameters
    ----------
    ids, people, codes
        Shape (n,): the class, the person and the value of each row; a combination may occur once.

    Returns
    -------
    The class and the value of everybody in each class.

    Examples
    --------
    The first two people of the class have value 0, one of them has value 1 too. A third one has value 2.

    >>> ids, codes = one_value_each(np.zeros(4, int), np.array([0, 0, 1, 2]), np.array([1, 0, 0, 2]))
    >>> sorted(codes.tolist())
    [0, 0, 2]
    """
    n_codes = int(codes.max(initial=0)) + 1
    member = np.unique(ids * (int(people.max(initial=0)) + 1) + people, return_inverse=True)[1].ravel()
    values_of = np.bincount(member)
    single = values_of[member] == 1
    kept_ids, kept_codes = [ids[single]], [codes[single]]
    pairs, pair = np.unique(ids * n_codes + codes, return_inverse=True)
    pair = pair.ravel()
    of_class = pairs // n_codes
    settled = np.bincount(pair[single], minlength=len(pairs))
    open_rows = np.flatnonzero(~single)
    while len(open_rows):
        # Of each class that is open, the value that most people have: those with no other one, and those who are open.
        held = settled + np.bincount(pair[open_rows], minlength=len(pairs))
        wanted = different(pair[open_rows])
        order = wanted[np.lexsort((-held[wanted], of_class[wanted]))]
        first = np.concatenate([[True], of_class[order[1:]] != of_class[order[:-1]]])
        chosen = np.zeros(len(pairs), dtype=bool)
        chosen[order[first]] = True
        now = open_rows[chosen[pair[open_rows]]]
        kept_ids.append(ids[now])
        kept_codes.append(codes[now])
        settled += np.bincount(pair[now], minlength=len(pairs))
        done = np.zeros(len(values_of), dtype=bool)
        done[member[now]] = True
        open_rows = open_rows[~done[member[open_rows]]]
    return np.concatenate(kept_ids), np.concatenate(kept_codes)
