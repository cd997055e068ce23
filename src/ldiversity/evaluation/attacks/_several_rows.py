"""Several rows of one person: what fits all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray
from ldiversity.evaluation.attacks._base import Attack, Beliefs, Criterion, Knowledge, Targets
from ldiversity.evaluation.attacks._matching import Matches, match_evidence, match_rows, number_alike
from ldiversity.evaluation.attacks._posterior import belief_matrix, marginal_of, pick_evidence, plain_beliefs
from ldiversity.schema import Role

if TYPE_CHECKING:
    from ldiversity.release import Evidence, Release

__all__ = ["SeveralRows"]


@dataclass(frozen=True)
class SeveralRows(Attack):
    """Intersect the sets or classes of one person's rows, if the value is the same in all of them.

    Sets that are drawn for each row on its own have little in common but the true value: with four rows of a person it
    is left alone nearly always. Sets of one person that belong together (``person=``) are equal or have nothing in
    common, so that nothing is gained; with an epsilon, every row is a draw of its own. Rows of one person that stand in
    one class, all with the same value, rule out each value that the class has less often. Rows in different classes can
    still be intersected.

    Where no value fits all rows of a person, these have several values, and each row tells what it tells alone.

    Notes
    -----
    Rows are found by their quasi-identifiers. Those of a person that look like rows of others say nothing more than
    each alone. With n_v of n records of a class that have value v, m rows of one person have it all with probability
    n_v (n_v - 1) ... / (n (n - 1) ...). What several classes say is multiplied as for ``composition``.

    Examples
    --------
    >>> SeveralRows().name
    'several-rows'
    """

    name: ClassVar[str] = "several-rows"
    criterion: ClassVar[Criterion] = "linkability"
    attacker: ClassVar[str] = "An attacker who knows which rows are one person's, and intersects what they tell."
    needs: ClassVar[str] = "the column that says whose row it is (person), and the original"
    extra: ClassVar[str | None] = "the person's other rows"

    @classmethod
    def from_knowledge(cls, knowledge: Knowledge) -> tuple[Attack, ...]:
        """The attack, where it is known whose each row is."""
        return () if knowledge.person is None else (cls(),)

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return (
            "They know the quasi-identifiers of all rows of the target, that these rows are one person's, and that "
            "the value is the same in all of them."
        )

    def why_not(self, release: Release, targets: Targets, attribute: str) -> str | None:  # noqa: ARG002 - the same for all
        """Somebody must have several rows, and a row must be found as a whole."""
        if release.rows_per_record > 1:
            return "exploded rows do not say which of them form one record"
        if targets.published and release.generalized:
            return "without the original, nothing says which classes hold rows of one person"
        people = _people(release, targets.everyone)
        if len(np.unique(people)) == len(people):
            return "nobody has several rows"
        return None

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """What fits all rows of a person; what each row tells alone, where nothing does."""
        alone = plain_beliefs(release, targets, attribute)
        everyone = targets.everyone
        people = _people(release, everyone)
        mine = targets.of_everyone(people)
        found = _told(release, everyone, people, mine, attribute)
        prior = marginal_of(release, attribute) if release.grouped else np.ones(len(release.domain(attribute)))
        product = found.factors * np.where(prior > 0, prior, 0.0)
        totals = product.sum(axis=1)
        fits = (totals > 0) & (found.pieces > 1)
        rows = np.flatnonzero(fits)
        joined = product[rows] / totals[rows, None]
        place = np.full(len(totals), -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        own = place[np.searchsorted(found.people, mine)]
        known = (own >= 0) & alone.found
        of_target = np.where(alone.found, alone.of_target + len(rows), -1)
        of_target[known] = own[known]
        several = np.bincount(people)[found.people] > 1
        details = {
            "people_with_several_rows": int(np.count_nonzero(several)),
            "people_whose_rows_were_joined": len(rows),
            "people_whose_rows_contradict": int(np.count_nonzero((totals <= 0) & several)),
            "mean_values_left": float((joined > 0).sum(axis=1).mean()) if len(rows) else None,
        }
        # Someone who looks up the quasi-identifiers of one row finds them all, where they look alike.
        one = pick_evidence(release, targets, attribute)
        single = Beliefs(
            np.asarray(belief_matrix(one.evidence.candidates, one.evidence.shares()).toarray()), one.of_target
        )
        return Beliefs(np.concatenate([joined, alone.probability]), of_target, details=details, without=(single,))


@dataclass(frozen=True, eq=False)
class _Told:
    """What all rows of each person say about each value, by a factor; and how many pieces of evidence they show."""

    people: NDArray[np.int64]
    factors: FloatArray
    pieces: NDArray[np.int64]


def _people(release: Release, everyone: Targets) -> NDArray[np.int64]:
    """Shape (n,): the person of each row; without a column that says so, rows that look alike are one person's."""
    if everyone.person is not None:
        return everyone.person
    names = release.schema.names(Role.QUASI)
    if not names:
        return np.zeros(everyone.n, dtype=np.int64)
    return number_alike([everyone.columns.select(names)], names)[0]


def _told(
    release: Release, everyone: Targets, people: NDArray[np.int64], wanted: NDArray[np.int64], attribute: str
) -> _Told:
    """Multiply what the pieces of evidence say that are surely about one person."""
    evidence = release.evidence(attribute)
    chosen = np.unique(wanted)
    number = np.full(int(people.max()) + 1, -1, dtype=np.int64)
    number[chosen] = np.arange(len(chosen))
    rows = np.flatnonzero(number[people] >= 0)
    exact = not release.generalized
    matches = match_rows(release, everyone) if exact else match_evidence(release, everyone, attribute)
    rows = rows[matches.of_target[rows] >= 0]
    looks = matches.weights.shape[0]
    cells, m = np.unique(number[people[rows]] * looks + matches.of_target[rows], return_counts=True)
    person, piece = _sure(release, matches, cells // looks, cells % looks, m, evidence)
    pairs, times = np.unique(person * evidence.n_pieces + piece, return_counts=True)
    person, piece = pairs // evidence.n_pieces, pairs % evidence.n_pieces
    factors = np.ones((len(chosen), len(evidence.domain)))
    prior, draws = evidence.marginal, times
    if prior is None:
        # Equal sets say the same where a person's draws belong together; elsewhere each is a draw of its own.
        likelihood = belief_matrix(evidence.candidates, evidence.likelihood)
        draws = np.ones_like(times) if release.drawn_together(attribute) else times
        _multiply(factors, person, np.asarray(likelihood[piece].toarray()) ** draws[:, None])
    else:
        counts = belief_matrix(evidence.candidates, evidence.candidates.counts.astype(float))[piece].toarray()
        sizes = evidence.candidates.sizes[piece].astype(float)
        all_same = np.ones_like(counts)
        for taken in range(int(times.max(initial=0))):
            more = times > taken
            left = np.maximum(sizes[more] - taken, 1.0)[:, None]
            all_same[more] *= np.maximum(counts[more] - taken, 0.0) / left
        _multiply(factors, person, all_same / np.where(prior > 0, prior, 1.0))
    pieces = np.bincount(person, weights=draws, minlength=len(chosen))
    return _Told(chosen, factors, pieces.astype(np.int64))


def _sure(
    release: Release,
    matches: Matches,
    person: NDArray[np.int64],
    look: NDArray[np.int64],
    m: NDArray[np.int64],
    evidence: Evidence,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of person and piece, once for each row, where nobody else's row can be meant.

    Where quasi-identifiers are exact, as many rows must look so as the person has. Where they are generalized, only one
    class may fit, or as many classes as the person has rows, each of which holds one of them.
    """
    starts, columns = matches.weights.indptr, matches.weights.indices
    fitting = np.diff(starts)[look]
    if not release.generalized:
        sure = fitting == m
        places, owners = _spans(starts[look[sure]], fitting[sure], person[sure])
        piece = evidence.of_row[columns[places]]
        return owners[piece >= 0], piece[piece >= 0].astype(np.int64)
    apart = release.person
    sure = (fitting == m) if apart else (fitting == 1)
    places, owners = _spans(starts[look[sure]], fitting[sure], person[sure])
    piece = columns[places].astype(np.int64)
    if apart:
        return owners, piece
    return np.repeat(owners, m[sure]), np.repeat(piece, m[sure])


def _spans(
    first: NDArray[Any], lengths: NDArray[Any], owner: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All places of several ranges, one after the other, and the owner of each."""
    ends = np.cumsum(lengths)
    inside = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - lengths, lengths)
    return (np.repeat(first, lengths) + inside).astype(np.int64), np.repeat(owner, lengths)


def _multiply(factors: FloatArray, person: NDArray[np.int64], each: FloatArray) -> None:
    """Multiply the factors of each person by those of all their pieces; `person` ascends."""
    if len(person):
        first = np.flatnonzero(np.diff(person, prepend=-1))
        factors[person[first]] *= np.multiply.reduceat(each, first, axis=0)
