"""The first thing to do after an audit. It names a command only where the result is sure to pass.

Classes of enough different values satisfy all models that look only at counts. Cutting the table keeps other models,
where all records together satisfy them. Else the advice says that no command is known.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ldiversity.base.answers import HIDDEN, fact
from ldiversity.base.checks import name_all, name_some
from ldiversity.base.findings import Confirmed
from ldiversity.base.numbers import counted, percent
from ldiversity.base.usual_l import LEAST_L, usual_l
from ldiversity.evaluation.audit._asked import Asked
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._found import Found
from ldiversity.evaluation.audit._risk import Recognized
from ldiversity.evaluation.audit._sampled import Sampled
from ldiversity.evaluation.audit._views import View
from ldiversity.evaluation.audit._words import given_away
from ldiversity.models import Population, PrivacyModel, model_text
from ldiversity.schema import Domain

__all__ = ["Advice", "advise", "advise_sample"]


@dataclass(frozen=True)
class Advice:
    """The first thing to do.

    Attributes
    ----------
    text
        In plain words.
    words
        A command that does it, word by word; ``TABLE`` stands for the table. Empty when there is none.
    largest_l
        The greatest l that classes can reach without leaving records out; None when there are no sensitive columns,
        or people may have several records, of which no class may hold two.
    """

    text: str
    words: tuple[str, ...] = field(default=(), metadata=HIDDEN)
    largest_l: int | None = None

    @fact
    def command(self) -> str | None:
        """The same command as a line for a shell."""
        return shlex.join(self.words) or None


def advise(
    seen: AttackerView,
    found: Found,
    texts: Mapping[PrivacyModel, str],
    roles: Sequence[str],
    risk: Recognized,
) -> Advice:
    """Say what to do first; `texts` has the text forms of models as users wrote them, `roles` the flags for columns."""
    asked = found.asked
    failing = [one for one in asked if not one.verdict.passed]
    if seen.kind != "table":
        return _advise_release(failing, risk, seen.confirmed)
    largest = _largest_l(seen)
    harmful = any(one.belief.most >= 1 for one in found.attributes.values())
    if not failing and not seen.views:
        held = "All models that were asked for hold. " if asked else ""
        return Advice(
            f"{held}The audit looked only at the sizes of classes: name the sensitive columns to see what leaks."
        )
    if not failing and not harmful:
        held = "All models that were asked for hold" if asked else "No class gives a value away for certain"
        return Advice(f"{held}. Before publishing, decide what must hold, and ask for it as a model.", (), largest)
    if not seen.views or largest is None:
        return Advice("Generalize the quasi-identifiers so that more people look alike.")
    if seen.joint:
        return Advice(
            "No method here protects against someone who knows the other sensitive columns: publish fewer of them, "
            "or ask what holds without --joint-knowledge.",
            (),
            largest,
        )
    # The advice must keep every model that was asked for, not only repair those that fail.
    models = list(dict.fromkeys(one.model for one in asked))
    return _Search(seen, models, texts, ("ldiversity", "anonymize", "TABLE", *roles), largest).advice()


def advise_sample(seen: AttackerView, asked: Sequence[Asked], sampled: Sampled | None) -> Advice | None:
    """Say what to do where a model fails against the population that a sample was drawn from; else None.

    Of the models that were `asked` for, those that fail in the table alone are named, too.
    """
    if sampled is None or sampled.passed:
        return None
    failing = dict.fromkeys(one.model.text for one in sampled.asked if not one.verdict.passed)
    others = dict.fromkeys(one.model.text for one in asked if not one.verdict.passed and one.model.text not in failing)
    text = (
        f"{name_some(failing)} must hold against the shares of the population, which people may know, but no method "
        "here groups records by them. Publish coarser quasi-identifiers, or ask for a model that looks at a class "
        "alone, such as frequency."
    )
    if others:
        text += (
            f" In the table itself, {name_all(others, 'must hold and does', 'must hold and do')} not: an audit without "
            "weights that asks for no other model says what to do about it."
        )
    return Advice(text, (), _largest_l(seen))


def _advise_release(failing: Sequence[Asked], risk: Recognized, confirmed: Sequence[Confirmed]) -> Advice:
    above = risk.prosecutor.records_above
    without = name_some(dict.fromkeys(one.column for one in confirmed))
    if not failing and confirmed:
        return Advice(
            f"All models that were asked for hold, but none counts what is published knowingly: "
            f"{given_away(confirmed)}. Publish the table again without {without}, unless those who receive the release "
            "may know that."
        )
    if not failing and above:
        return Advice(
            f"All models that were asked for hold, but {counted(above, 'record')} can be found with a probability "
            f"above the limit, {percent(risk.threshold)}. Publish the quasi-identifiers more coarsely, or decide "
            "whether that is acceptable for those who receive the release."
        )
    if not failing:
        return Advice("All models that were asked for hold; attacks show what the models do not stop.")
    method = f"a stronger method, and without {without}" if confirmed else "a stronger method"
    return Advice(
        f"Do not share this release. Publish the table again with {method}; an audit of the table that asks "
        "for the same models names one."
    )


@dataclass(frozen=True)
class _Search:
    """Looks for a command whose result satisfies all models."""

    seen: AttackerView
    models: Sequence[PrivacyModel]
    texts: Mapping[PrivacyModel, str]
    start: tuple[str, ...]
    largest: int

    def advice(self) -> Advice:
        values = min(int(np.count_nonzero(view.marginal)) for view in self.seen.views.values())
        if values < LEAST_L:
            one = next(name for name, view in self.seen.views.items() if np.count_nonzero(view.marginal) < LEAST_L)
            return self._say(
                f"Everybody has the same value of {one!r}, and nothing can hide it: leave it out of the sensitive "
                "columns, and publish it only if anyone may know it."
            )
        needed = [_needed_l(model, values) for model in self.models]
        known = [l for l in needed if l is not None]
        wanted = max(known, default=usual_l(self.largest))
        if self.several_rows:
            return self._apart(wanted if len(known) == len(needed) else None)
        if len(known) == len(needed) and wanted <= self.largest:
            return self._classes(wanted)
        texts = [self.texts.get(model) or model_text(model) for model in self.models]
        written = [text for text in texts if text is not None]
        if written and len(written) == len(texts) and all(map(self._holds_together, self.models)):
            return self._cuts(written)
        if len(known) == len(needed):
            return self._leaving_out(wanted)
        return self._say(self._why_none(values, needed))

    def _say(self, text: str, words: Sequence[str] = ()) -> Advice:
        largest = None if self.several_rows else self.largest
        return Advice(text, (*self.start, *words) if words else (), largest)

    @property
    def several_rows(self) -> bool:
        """Whether people may have several records: how many of them classes can hold is then not known here."""
        return self.seen.person is not None

    def _cuts(self, texts: Sequence[str]) -> Advice:
        """Classes that satisfy all models, with all records."""
        models = [word for text in texts for word in ("--model", text)]
        words = ("--method", "mondrian", *models, "--output", "release")
        return self._say(f"Group the records into classes that satisfy {' and '.join(texts)}.", words)

    def _classes(self, l: int) -> Advice:
        """Classes of l different values, with all records where that is sure."""
        several = len(self.seen.views) > 1
        # The values of several columns may not fit into classes at once, nor may records of a person share a class.
        # Then as few records as possible are left out.
        some_left_out = several or self.several_rows
        where = " in each sensitive column" if several else ""
        whose = ", none with two records of a person" if self.several_rows else ""
        some = ", and leave records out where that is not possible with all" if some_left_out else ""
        most = "" if self.several_rows else f"; at most l = {self.largest} is possible without leaving records out"
        overflow = ("--overflow", "suppress") if some_left_out else ()
        words = ("--method", "bsgi", "-l", str(l), *overflow, "--output", "release")
        return self._say(f"Group the records into classes of {l} different values{where}{whose}{some}{most}.", words)

    def _apart(self, l: int | None) -> Advice:
        """The same where no class may hold two records of a person; only classes by counts are sure to exist then."""
        people = self.seen.n_people or 0
        if l is None:
            return self._say(
                "Group the records into classes that satisfy the models, none with two records of a person: Mondrian "
                "does so where the records allow it. If they do not, ask for less."
            )
        if people < l:
            return self._say(f"Classes of {l} different people need more than {counted(people, 'person', 'people')}.")
        return self._classes(l)

    def _leaving_out(self, l: int) -> Advice:
        why = (
            "One value has more than half of the records"
            if self.largest < LEAST_L
            else f"One value has more than 1/{l} of the records"
        )
        return self._say(
            f"{why}, so classes of {l} different values cannot hold all records: leave some of its records out, or "
            "merge rare values.",
            ("--method", "bsgi", "-l", str(l), "--overflow", "suppress", "--output", "release"),
        )

    def _holds_together(self, model: PrivacyModel) -> bool:
        """Whether all records together satisfy a model; if not, no classes do."""
        return all(bool(_holds(model, view)) for view in self.seen.views.values())

    def _why_none(self, values: int, needed: Sequence[int | None]) -> str:
        alone = [model for model, l in zip(self.models, needed, strict=True) if l is None]
        short = [model for model in alone if model.only_counts and not self._holds_together(model)]
        if short:
            fewest = min(self.seen.views, key=lambda name: int(np.count_nonzero(self.seen.views[name].marginal)))
            return (
                f"No release of this table is known to satisfy {name_some([model.text for model in short])}: "
                f"{fewest!r} has {counted(values, 'value')}, of which one may be too frequent. Ask for less."
            )
        too_much = [model.text for model in self.models if not self._holds_together(model)]
        if too_much:
            return f"All records together do not satisfy {name_some(too_much)}: ask for less, or leave records out."
        return f"Group the records by a method that keeps {name_some([m.name for m in self.models])}, such as Mondrian."


def _largest_l(seen: AttackerView) -> int | None:
    """The greatest l for which no value has more than 1/l of the records: then classes can hold all of them."""
    reach = [int(view.marginal.sum()) // max(int(view.marginal.max(initial=0)), 1) for view in seen.views.values()]
    return min(reach) if reach else None


def _holds(model: PrivacyModel, view: View) -> bool:
    counts = np.asarray(view.marginal, dtype=np.int64)
    return bool(model.holds(counts[None, :], Population(view.domain, counts))[0])


def _needed_l(model: PrivacyModel, most: int) -> int | None:
    """The least l such that classes of l or more records with different values satisfy a model; None when none does."""
    if not model.only_counts:
        return None
    # Records that are left over join classes, which become up to twice as large. The first test is the cheap one.
    return next(
        (l for l in range(LEAST_L, most + 1) if _unique_hold(model, [l]) and _unique_hold(model, range(l, 2 * l))),
        None,
    )


def _unique_hold(model: PrivacyModel, sizes: Sequence[int]) -> bool:
    width = max(sizes)
    counts = (np.arange(width) < np.asarray(sizes)[:, None]).astype(np.int64)
    everyone = Population(Domain(tuple(range(width))), np.ones(width, dtype=np.int64))
    return bool(model.holds(counts, everyone).all())
