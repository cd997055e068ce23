"""The joint attack: what one sensitive attribute tells about another that was hidden on its own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

import numpy as np

from ldiversity.base.arrays import FloatArray
from ldiversity.evaluation.attacks._assign import Entries, deal_out, share_out
from ldiversity.evaluation.attacks._base import Attack, Beliefs, Knowledge, Targets
from ldiversity.evaluation.attacks._matching import match_shown_rows
from ldiversity.evaluation.attacks._posterior import marginal_of, plain_beliefs, row_matrix
from ldiversity.evaluation.measures import code_sensitive, read_columns
from ldiversity.release import Evidence, Release

__all__ = ["JointAttributes"]

_ROUNDS: Final = 50
_CLOSE: Final = 1e-6


@dataclass(frozen=True, eq=False)
class JointAttributes(Attack):
    """Use the classes (or sets) of a record's other sensitive attributes to weigh its values of this one.

    It applies where each attribute was hidden on its own: releases of sets with several attributes, and grouped
    releases with classes for each attribute (L-LMSU's separate mode).

    Parameters
    ----------
    known
        A table with the sensitive columns that tells the attacker how they depend on each other. When None, they learn
        it from the release, by expectation maximization.

    Notes
    -----
    Given value a of this attribute, what a record shows of another one has the probability: sum over b of
    P(b | a) P(what is shown | b). With these odds, the values of a class are dealt out to its records.

    Examples
    --------
    >>> JointAttributes().name
    'joint'
    """

    name: ClassVar[str] = "joint"
    row_bytes: ClassVar[int] = 5000
    attacker: ClassVar[str] = "An attacker who uses one sensitive column to guess another."
    compared: ClassVar[bool] = True
    extra: ClassVar[str | None] = "the other attributes"

    known: Any = field(default=None, repr=False)

    @classmethod
    def from_knowledge(cls, knowledge: Knowledge) -> tuple[Attack, ...]:
        """The attack with the given table, if any."""
        return (cls(knowledge.known),)

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        source = "learn from the release" if self.known is None else "know from a public table"
        return f"They know the quasi-identifiers of the target, and {source} how the sensitive columns are related."

    def why_not(self, release: Release, targets: Targets, attribute: str) -> str | None:  # noqa: ARG002 - the base's
        """It needs several attributes, each hidden on its own."""
        if len(release.sensitive) == 1:
            return "it needs several sensitive attributes"
        if release.rows_per_record > 1:
            return "exploded rows do not say which sets belong to one record"
        if release.grouped and len(set(release.class_columns.values())) == 1:
            return "all attributes share their classes, and nothing in a class links their values"
        return "it needs exact quasi-identifiers" if release.generalized else None

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """Odds from the other attributes, dealt out within the class or set."""
        evidence = release.evidence(attribute)
        own = row_matrix(evidence, evidence.likelihood)
        odds = np.ones((release.n_rows, own.shape[1]))
        for other in (name for name in release.sensitive if name != attribute):
            theirs = row_matrix(release.evidence(other), release.evidence(other).likelihood)
            told = np.asarray(theirs @ self._given(release, attribute, other, (own, theirs)).T)
            # A record that shows nothing of the other attribute tells nothing.
            odds *= np.where(told.sum(axis=1, keepdims=True) > 0, told, 1.0)
        posteriors = _posteriors(evidence, odds, marginal_of(release, attribute))
        found = match_shown_rows(release, targets, attribute).beliefs(posteriors)
        # Without the other attributes, attackers believe the shares of classes. Sets promise nothing here.
        return replace(found, without=(plain_beliefs(release, targets, attribute),)) if evidence.counted else found

    def promise(self, release: Release, attribute: str) -> float | None:
        """The promise of classes; sets promise only for attackers without prior knowledge."""
        return super().promise(release, attribute) if release.grouped else None

    def _given(self, release: Release, attribute: str, other: str, likelihoods: tuple[Any, Any]) -> FloatArray:
        """Shape (F, G): the probability of each value of the other attribute given each value of this one."""
        if self.known is None:
            together = _learn_together(likelihoods, [marginal_of(release, name) for name in (attribute, other)])
        else:
            table = read_columns("JointAttributes", self.known, [attribute, other])
            codes = [
                code_sensitive(table.column(name), name, release.domain(name), release.schema[name].type)
                for name in (attribute, other)
            ]
            together = np.zeros((likelihoods[0].shape[1], likelihoods[1].shape[1]))
            full = (codes[0] >= 0) & (codes[1] >= 0)
            np.add.at(together, (codes[0][full], codes[1][full]), 1.0)
        totals = together.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(together, totals, out=np.zeros_like(together), where=totals > 0))


def _learn_together(likelihoods: tuple[Any, Any], marginals: list[FloatArray]) -> FloatArray:
    """The joint distribution that makes what is published most likely, by expectation maximization."""
    from scipy.sparse import csr_array, diags_array

    shown = np.flatnonzero(np.all([np.diff(part.indptr) > 0 for part in likelihoods], axis=0))
    first, second = (csr_array(part[shown]) for part in likelihoods)
    together = np.outer(*marginals)
    for _ in range(_ROUNDS):
        evidence = np.asarray(second.multiply(first @ together).sum(axis=1)).reshape(-1)
        scale = np.divide(1.0, evidence, out=np.zeros_like(evidence), where=evidence > 0)
        updated = together * np.asarray(((diags_array(scale) @ first).T @ second).todense())
        updated /= updated.sum()
        moved = float(np.abs(updated - together).sum())
        together = updated
        if moved < _CLOSE:
            break
    return np.asarray(together)


def _posteriors(evidence: Evidence, odds: FloatArray, marginal: FloatArray) -> Any:  # noqa: ANN401 - a sparse matrix
    """Rows by values: the candidates of each row by its odds; values of a class are dealt out to its records."""
    from scipy.sparse import csr_array

    entries = Entries(evidence.of_row, evidence.candidates)
    own = odds[entries.row, entries.code]
    if evidence.counted:
        share = deal_out(own, entries, evidence.of_row, evidence.candidates)
    else:
        share = share_out(evidence.likelihood[entries.pair] * own * marginal[entries.code], entries)
    return csr_array((share, (entries.row, entries.code)), shape=odds.shape)
