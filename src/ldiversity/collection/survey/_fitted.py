"""The mechanism of a question, as the collector estimates with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ldiversity.collection.survey._document import Question
    from ldiversity.mechanisms import SetMechanism
    from ldiversity.schema import Domain

__all__ = ["question_domain", "question_mechanism"]


def question_domain(question: Question) -> Domain:
    """The values of a question, as releases have them."""
    from ldiversity.schema import Domain

    positions = None if question.positions is None else tuple(question.positions)
    return Domain(tuple(question.values), ordered=question.ordered, positions=positions)


def question_mechanism(question: Question) -> SetMechanism:
    """The mechanism of a question: its exact facts, and what estimators need."""
    from ldiversity.mechanisms import mechanism_from_dict

    return mechanism_from_dict(question.mechanism.model_dump(), question_domain(question))
