"""Models that were asked for, and their verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ldiversity.base.answers import BESIDE, fact
from ldiversity.errors import UnsupportedError
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._views import View, people_alike
from ldiversity.models import PrivacyModel, Verdict
from ldiversity.sentences import say

__all__ = ["Asked", "ask"]


@dataclass(frozen=True)
class Asked:
    """A model that was asked for, and its verdict for one attribute; no attribute for models of people."""

    attribute: str | None
    verdict: Verdict = field(metadata=BESIDE)

    @property
    def model(self) -> PrivacyModel:
        """The model."""
        return self.verdict.model

    @fact
    def text(self) -> str:
        """The model as users write it."""
        return self.model.text

    @fact
    def promise(self) -> str:
        """What it asks for, in words."""
        return self.model.phrase


def ask(
    seen: AttackerView, models: Sequence[PrivacyModel], attributes: Sequence[str] | None = None
) -> tuple[Asked, ...]:
    """Judge each attribute by each model, or raise `UnsupportedError` for a model that does not suit the release."""
    asked: list[Asked] = []
    for model in models:
        if model.of_people:
            asked.append(Asked(None, people_alike(seen.sizes).judge(model)))
            continue
        names = seen.views if attributes is None else attributes
        asked += [Asked(name, _judged(seen.view(name, type(model)), model)) for name in names]
    return tuple(asked)


def _judged(view: View, model: PrivacyModel) -> Verdict:
    try:
        return view.judge(model)
    except UnsupportedError as refused:
        rule = say("{} cannot be checked here. {}", repr(model.name), refused.message)
        raise UnsupportedError("audit", rule, hint=refused.hint) from None
