"""What to run: methods of the catalog with each l, or methods as they are given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ldiversity.base.checks import check_integer, name_some
from ldiversity.base.typed import number_text
from ldiversity.catalog import CATALOG, OPTIONS, methods_with
from ldiversity.errors import LDiversityError, ParameterError
from ldiversity.evaluation.compare._fingerprint import fingerprint
from ldiversity.methods import METHODS, Method, rules_of
from ldiversity.publish import ChosenMethod, method_words
from ldiversity.sentences import Parameter, say

__all__ = ["Candidate", "candidates", "left_out"]

_LONG: Final = ("file", "distance", "shares")
"""Kinds of options that the label of a run leaves out where it can."""

_MOST_LEVELS: Final = 200

_MODEL: Final = "model"
"""The option of methods that take privacy models; it replaces the strength that is varied."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A method to run, or the reason why there is none.

    `options` has those that differ from their defaults, as users write them. `chosen` is None when the options do not
    make a method; `reason` and `hint` say why. With `in_full`, the label also names files and distances; `number`
    distinguishes runs that would have the same label.
    """

    name: str
    options: Mapping[str, object]
    chosen: ChosenMethod | None = field(default=None, repr=False)
    reason: str | None = None
    hint: str | None = None
    in_full: bool = False
    number: int | None = None

    @property
    def label(self) -> str:
        """Name and options, for people.

        Examples
        --------
        >>> Candidate("semantic", {"l": 3, "d": 2.0, "distance": "ordered"}).label
        'semantic l=3 d=2'
        """
        shown = {name: value for name, value in self.options.items() if self.in_full or OPTIONS[name].kind not in _LONG}
        numbered = [] if self.number is None else [f"({self.number})"]
        return " ".join([self.name, *(_shown(name, value) for name, value in shown.items()), *numbered])

    @property
    def words(self) -> list[str] | None:
        """The words of the command line that ask for it; None when an option has no text form.

        Examples
        --------
        >>> Candidate("bsgi", {"l": 4, "weights": {"age": 2.0}}).words
        ['--method', 'bsgi', '-l', '4', '--weight', 'age=2']
        """
        return method_words(self.name, self.options)

    @property
    def method(self) -> Method | None:
        """The method; None when the options do not make one."""
        return None if self.chosen is None else self.chosen.method


def candidates(
    methods: Sequence[str | Method] | None,
    levels: Iterable[int],
    options: Mapping[str, object],
    models: Sequence[str | Sequence[str]] = (),
) -> list[Candidate]:
    """List the runs of a comparison, method by method and level by level; the arguments are those of `compare`.

    Examples
    --------
    >>> [run.label for run in candidates(["anatomy"], [2, 3], {})]
    ['anatomy l=2', 'anatomy l=3']
    """
    _check_options(options)
    for model in models:
        rules_of("compare", None, model)  # a text that is no model is a mistake, not a run that cannot be made
    several = _levels(levels)
    chosen = [name for name in CATALOG if not _lacking(name, options)] if methods is None else list(methods)
    if not chosen:
        raise ParameterError("compare", "methods", "must name at least one method", hint=f"Known are {_known()}.")
    unknown = [one for one in chosen if not isinstance(one, Method) and one not in CATALOG]
    if unknown:
        raise ParameterError(
            "compare", "methods", "must name known methods", got=repr(unknown[0]), hint=f"Known are {_known()}."
        )
    asked = {**options, **({_MODEL: models} if models else {})}
    _check_used(asked, [one for one in chosen if not isinstance(one, Method)])
    found: list[Candidate] = []
    for one in chosen:
        if isinstance(one, Method):
            as_it_is = ChosenMethod.of(one)
            found.append(Candidate(one.name, as_it_is.options, as_it_is))
            continue
        name, strength = str(one), METHODS[str(one)].strength
        # A method without a strength is run once.
        runs: list[dict[str, object]] = [{}] if strength is None else [{strength: l} for l in several]
        runs += [{_MODEL: model} for model in models if _MODEL in CATALOG[name].options]
        found += [_candidate(name, own, options) for own in runs]
    return _told_apart(_different(found))


def left_out(options: Mapping[str, object]) -> list[str]:
    """Say which methods were not run, and which options they need.

    Examples
    --------
    >>> left_out({"e": 1, "tree": "diseases.csv"})
    ["'semantic' was not run: it needs 'd', 'distance'."]
    """
    lacking = {name: _lacking(name, options) for name in CATALOG}
    return [f"{name!r} was not run: it needs {name_some(few)}." for name, few in lacking.items() if few]


def _known() -> str:
    return name_some(CATALOG, most=len(CATALOG))


def _lacking(name: str, options: Mapping[str, object]) -> list[str]:
    """The options that a method needs besides its strength, and that were not given."""
    method = METHODS[name]
    return [one for one in method.needed() if one != method.strength and options.get(one) is None]


def _levels(levels: Iterable[int]) -> list[int]:
    several: dict[int, None] = {}
    for l in levels:
        several[check_integer("compare", "l", l, minimum=2)] = None
        if len(several) > _MOST_LEVELS:
            raise ParameterError("compare", "l", f"must hold at most {_MOST_LEVELS} numbers").with_hint(
                "No l can exceed the number of different values of a sensitive column."
            )
    if not several:
        raise ParameterError(
            "compare", "l", "must hold at least one number", got="none", hint="For example range(2, 8)."
        )
    return list(several)


def _check_options(options: Mapping[str, object]) -> None:
    varied = {METHODS[name].strength for name in CATALOG}
    offered = [name for name in OPTIONS if name != _MODEL and name not in varied]
    unknown = [name for name in options if name not in offered]
    if unknown:
        raise ParameterError(
            "compare", "options", f"must be among {name_some(offered, most=len(offered))}", got=repr(unknown[0])
        ).with_hint(say("Use {} for a model; or give a method as an object, with its options.", Parameter("models")))


def _check_used(options: Mapping[str, object], names: Sequence[str]) -> None:
    """Refuse an option that would change nothing."""
    for option in (option for option, value in options.items() if value is not None):
        takers = methods_with(option)
        if not set(takers) & set(names):
            others = {name: _lacking(name, options) for name in takers}
            needs = "; ".join(f"{name!r} also needs {name_some(few)}" for name, few in others.items() if few)
            raise ParameterError(
                "compare", "options", "must belong to methods that are run by name", got=repr(option)
            ).with_hint(f"It is an option of {name_some(takers)}{f'; {needs}' if needs else ''}.")


def _different(found: Sequence[Candidate]) -> list[Candidate]:
    """Leave out runs that are the same as an earlier one."""
    kept: dict[object, Candidate] = {}
    for one in found:
        seen = None if one.method is None else fingerprint(b"", one.method)
        same = (one.name, seen) if seen is not None else (one.label, None if one.method is None else id(one.method))
        kept.setdefault(same, one)
    return list(kept.values())


def _told_apart(found: Sequence[Candidate]) -> list[Candidate]:
    """Give every run its own label: with all options where the short label is not enough, else with a number."""
    short = Counter(one.label for one in found)
    full = [replace(one, in_full=True) if short[one.label] > 1 else one for one in found]
    labels = Counter(one.label for one in full)
    met: Counter[str] = Counter()
    told = []
    for one in full:
        met[one.label] += 1
        told.append(replace(one, number=met[one.label]) if labels[one.label] > 1 else one)
    return told


def _candidate(name: str, own: dict[str, object], options: Mapping[str, object]) -> Candidate:
    own |= {option: options[option] for option in CATALOG[name].options if options.get(option) is not None}
    try:
        return Candidate(name, own, ChosenMethod.named(name, own))
    except LDiversityError as error:
        return Candidate(name, own, None, error.message, error.hint)


def _shown(name: str, value: Any) -> str:  # noqa: ANN401 - any option
    if isinstance(value, bool):
        return name if value else f"no {name}"
    text = number_text(value) if isinstance(value, int | float) else _text(value)
    return f"{name}={text or type(value).__name__}"


def _text(value: Any) -> str | None:  # noqa: ANN401 - any option
    """A text or path as it is, several with "and" between them; None for anything else."""
    if isinstance(value, list | tuple):
        return None if not all(isinstance(one, str) for one in value) else " and ".join(value)
    if isinstance(value, Mapping):
        return ",".join(f"{key}={number_text(number)}" for key, number in value.items())
    return str(value) if isinstance(value, str) or hasattr(value, "__fspath__") else None
