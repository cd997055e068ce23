"""Surveys as their collector writes them: TOML, from which mechanisms are fitted."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, Field, ValidationError

from ldiversity.collection.survey._document import Results, Survey
from ldiversity.collection.survey._faults import first_fault
from ldiversity.collection.survey._mechanism import DistanceForm, Part, kinds_of
from ldiversity.errors import LDiversityError, ParameterError, StorageError
from ldiversity.sentences import Owner, Sentence

if TYPE_CHECKING:
    from ldiversity.distances import Distance
    from ldiversity.mechanisms import SetMechanism
    from ldiversity.schema import Domain

__all__ = ["DraftForm", "blind_key_file", "draft_survey"]

_MOST_BYTES: Final = 1_000_000
_HINT: Final = "`ldiversity collect new` writes an example where there is no file."
_KNOWN_DISTANCES: Final = kinds_of(DistanceForm)
"""What devices know; another distance is sent as the matrix of its numbers."""

_APART: Final = 2
"""How far values of different groups are apart, and what `d` is with groups unless it is given."""

_ROOT: Final = "*"


class DraftQuasi(Part):
    """Something about the person: `cuts` for a whole number that is sent as a range, or `values` to choose from."""

    name: str
    ask: str
    low: int | None = None
    cuts: list[int] | None = None
    high: int | None = None
    values: list[str] | None = None


class DraftQuestion(Part):
    """A question whose answer is hidden among `l`."""

    name: str
    ask: str
    values: list[str | int | float] | None = None
    ordered: bool = False
    positions: list[float] | None = None
    l: int
    d: float | None = None
    distance: str | None = None
    groups: dict[str, list[str]] | None = None


class DraftResults(Results):
    """When and how results are shown; what is usual need not be said."""

    public: bool = True
    minimum: Annotated[int, Field(ge=10, le=1_000_000)] = 100
    step: Annotated[int, Field(ge=10, le=1_000_000)] = 50
    goal: Annotated[float, Field(gt=0, le=0.5, allow_inf_nan=False)] = 0.02


class DraftForm(Part):
    """The file from which a survey is made. `ldiversity collect new` writes a commented one."""

    title: str
    collector: str
    contact: str
    purpose: str
    consent: str
    language: str = "en"
    closes: date | str | None = None
    linked: bool = True
    tokens: Literal["device", "invitation", "blind"] = "device"
    results: DraftResults = DraftResults()
    quasi: Annotated[list[DraftQuasi], Field(max_length=12, default_factory=list)]
    questions: Annotated[list[DraftQuestion], Field(min_length=1, max_length=24)]


def blind_key_file(path: str | os.PathLike[str]) -> Path:
    """The file of the key for blind signatures, beside the file of a survey.

    Examples
    --------
    >>> blind_key_file("health.toml").name
    'health.blind.key'
    """
    return Path(path).with_name(f"{Path(path).name.removesuffix('.toml')}.blind.key")


def draft_survey(path: str | os.PathLike[str], *, new_keys: bool = False) -> Survey:
    """Make a survey from a TOML file: find the weights of each question, and check everything that devices check.

    Distances in files are looked for beside it, and so is the key for blind signatures if tokens are blind.

    Parameters
    ----------
    path
        The TOML file.
    new_keys
        Whether to make the key for blind signatures where it is needed and there is none.

    Raises
    ------
    StorageError
        When a file cannot be read.
    ParameterError
        When a key breaks its rule; names the key.
    InfeasibleError
        When no sets of `l` values `d` apart hide every answer equally well, or shares could not be estimated.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ldiversity.collection.survey import EXAMPLE
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "survey.toml").write_text(EXAMPLE, encoding="utf-8")
    ...     survey = draft_survey(Path(folder) / "survey.toml")
    >>> [(one.name, one.l, one.draw.kind) for one in survey.questions]
    [('illness', 3, 'partition'), ('income', 3, 'chain')]
    """
    file = Path(path)
    try:
        said = DraftForm.model_validate(_content(file))
    except ValidationError as error:
        raise first_fault(error, known=_model_at) from None
    questions = [_question(f"questions[{at}]", one, file.parent) for at, one in enumerate(said.questions)]
    quasi = [_quasi(f"quasi[{at}]", one) for at, one in enumerate(said.quasi)]
    described = {
        "format": "ldiversity-survey",
        "version": 1,
        **said.model_dump(include={"language", "linked", "tokens"}),
        "blind_key": _blind_key(file, new=new_keys) if said.tokens == "blind" else None,
        **{name: getattr(said, name).strip() for name in ("title", "collector", "contact", "purpose", "consent")},
        "closes": said.closes.isoformat() if isinstance(said.closes, date) else said.closes,
        "results": said.results.model_dump(),
        "quasi": quasi,
        "questions": questions,
    }
    try:
        return Survey.model_validate(described)
    except ValidationError as error:
        raise first_fault(error) from None


def _content(file: Path) -> Mapping[str, Any]:
    try:
        with file.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise StorageError("survey", f"file {str(file)!r} cannot be read: {error.strerror}", hint=_HINT) from None
    if len(content) > _MOST_BYTES:
        raise ParameterError("survey", f"file {str(file)!r} must be at most {_MOST_BYTES // 1000} kB long")
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        why = f": {error}" if isinstance(error, tomllib.TOMLDecodeError) else " in UTF-8"
        raise ParameterError("survey", f"file {str(file)!r} must be TOML{why}", hint=_HINT) from None


def _blind_key(survey: Path, *, new: bool) -> str:
    from ldiversity.collection.blind import BlindKey

    file = blind_key_file(survey)
    if new and not file.exists():
        key = BlindKey.new()
        key.save(file)
        return key.public.text
    return BlindKey.load(file).public.text


def _model_at(place: Sequence[str | int]) -> type[BaseModel] | None:
    models: Mapping[Any, type[BaseModel]] = {"quasi": DraftQuasi, "questions": DraftQuestion, "results": Results}
    return models.get(place[0]) if place else DraftForm


def _quasi(place: str, said: DraftQuasi) -> Mapping[str, object]:
    if (said.cuts is None) == (said.values is None):
        raise _wrong(place, "must have either cuts, for ranges of a number, or values to choose from")
    if said.cuts is None:
        if said.low is not None or said.high is not None:
            raise _wrong(place, "must have low and high only with cuts")
        return {"kind": "choice", "name": said.name, "ask": said.ask, "values": said.values}
    return {"kind": "ranges", **said.model_dump(include={"name", "ask", "low", "cuts", "high"})}


def _question(place: str, said: DraftQuestion, folder: Path) -> Mapping[str, object]:
    from ldiversity.distances import CyclicDistance, OrderedDistance
    from ldiversity.schema import Domain

    values, positions = _values(place, said)
    _check_sizes(place, said, len(values))
    ordered = said.ordered or (said.distance or "").strip() in {OrderedDistance.kind, CyclicDistance.kind}
    described = {"name": said.name, "ask": said.ask, "values": values, "ordered": ordered, "positions": positions}
    try:
        domain = Domain(tuple(values), ordered, None if positions is None else tuple(positions))
        mechanism = _mechanism(place, said, domain, folder)
    except LDiversityError as error:
        if error.owner != "survey":
            error.about(f"{place} ({said.name})" if said.name.isidentifier() else place)
            error.spell(_as_keys)
        raise
    return {**described, "mechanism": mechanism.to_dict()}


def _values(place: str, said: DraftQuestion) -> tuple[list[str], list[float] | None]:
    """The values as texts, and a number for each of them if there are numbers."""
    from ldiversity.base.typed import number_text

    grouped = None if said.groups is None else [value for group in said.groups.values() for value in group]
    values = grouped if said.values is None else said.values
    if values is None:
        raise _wrong(f"{place}.values", "must be given")
    numbers = [value for value in values if not isinstance(value, str)]
    positions = said.positions
    if numbers and positions is None and len(numbers) == len(values):
        positions = [float(number) for number in numbers]
    return [value if isinstance(value, str) else number_text(value) for value in values], positions


def _check_sizes(place: str, said: DraftQuestion, n_values: int) -> None:
    """Refuse what no sets can hide, in the words of the file."""
    if n_values == len(("yes", "no")):
        raise _wrong(
            f"{place}.values",
            "must be at least 3: with two, such as yes and no, a set of both would tell nothing",
            "Ask for more (never, formerly, now), or ask two such questions as one with four answers.",
        )
    if said.l >= n_values > 0:
        raise _wrong(
            f"{place}.l",
            f"must be below the number of values, which is {n_values}",
            "A set of all values would tell nothing.",
        )
    if said.groups and (said.d is None or 1 < said.d <= _APART):
        name, largest = max(((name, len(group)) for name, group in said.groups.items()), key=lambda one: one[1])
        if largest * said.l > n_values:
            smaller = n_values // largest
            less = f"Use l = {smaller}, split" if smaller > 1 else "Split"
            raise _wrong(
                f"{place}.groups",
                f"must each have at most {n_values // said.l} of the {n_values} values, one in l = {said.l}; the "
                f"largest, {name}, has {largest}",
                f"{less} that group, or add values to the others. Otherwise a member of a large group stands out.",
            )


def _as_keys(said: str) -> Sentence:
    """The same sentence with parameters as keys of the file, also on the command line, where they are no options."""
    parts = said.parts if isinstance(said, Sentence) else (said,)
    return Sentence(*(part if isinstance(part, str | Owner) else str(part) for part in parts))


def _mechanism(place: str, said: DraftQuestion, domain: Domain, folder: Path) -> SetMechanism:
    from ldiversity.distances import DiscreteDistance, MatrixDistance
    from ldiversity.mechanisms import BalancedSelection, UniformSelection

    distance, d = _distance(place, said, domain, folder), said.d
    if distance is None or (isinstance(distance, DiscreteDistance) and d is not None and d <= 1):
        return UniformSelection(len(domain), said.l)
    if distance.to_dict(domain)["kind"] not in _KNOWN_DISTANCES:
        distance = MatrixDistance(domain.values, distance.matrix(domain))
    if d is None:
        if said.groups is None:
            raise _wrong(f"{place}.d", "must be given with a distance", "Values of a set are at least d apart.")
        d = _APART
    return BalancedSelection.fit(domain, distance, said.l, d)


def _distance(place: str, said: DraftQuestion, domain: Domain, folder: Path) -> Distance | None:
    """The distance that is meant; None if there is none, and any values may share a set."""
    from ldiversity.distances import DiscreteDistance, OrderedDistance, parse_distance

    if said.groups is not None:
        if said.distance is not None:
            raise _wrong(f"{place}.distance", "must not be given with groups, which are one")
        return _grouped(place, said.groups, domain)
    if said.distance is not None:
        return parse_distance(said.distance, folder)
    if said.d is None:
        return None
    if said.ordered:
        return OrderedDistance()
    if said.d <= 1:
        return DiscreteDistance()
    raise _wrong(
        f"{place}.distance", "must be given with a d above 1", 'Use distance = "ordered", another one, or groups.'
    )


def _grouped(place: str, groups: Mapping[str, Sequence[str]], domain: Domain) -> Distance:
    from ldiversity.distances import TreeDistance
    from ldiversity.hierarchies import Hierarchy

    rows = [(value, group, _ROOT) for group, values in groups.items() for value in values]
    if sorted(row[0] for row in rows) != sorted(map(str, domain.values)):
        raise _wrong(
            f"{place}.groups", "must have every value once, and no other", "Leave values out: groups has them."
        )
    return TreeDistance(Hierarchy.from_rows(rows))


def _wrong(place: str, rule: str, hint: str = _HINT) -> ParameterError:
    return ParameterError("survey", place, rule, hint=hint)
