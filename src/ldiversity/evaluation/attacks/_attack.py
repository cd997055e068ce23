"""`attack`: run attacks on a release, and report what they achieved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.budget import Budget
from ldiversity.base.checks import check_integer, column_names, name_some
from ldiversity.distances import Distance
from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.evaluation.attacks._applying import applying, promised_against
from ldiversity.evaluation.attacks._base import AnyAttack, Attack, AttackResult, Knowledge, Targets
from ldiversity.evaluation.attacks._from_original import check_original
from ldiversity.evaluation.attacks._matching import number_people, pick_piece
from ldiversity.evaluation.attacks._memory import Room
from ldiversity.evaluation.attacks._outside import FaultyAttackError, believed, run_by_itself
from ldiversity.evaluation.attacks._registry import ATTACKS
from ldiversity.evaluation.attacks._report import AttackReport, Skipped
from ldiversity.evaluation.attacks._risk_attack import RiskAttack
from ldiversity.evaluation.attacks._risk_choices import RiskChoices, RiskQuestion
from ldiversity.evaluation.attacks._risks import measure_risks
from ldiversity.evaluation.attacks._score import score
from ldiversity.evaluation.attacks._show import show_release
from ldiversity.evaluation.measures import code_sensitive, read_columns
from ldiversity.release import Release, check_release, check_values
from ldiversity.schema import Role
from ldiversity.sentences import Parameter, say
from ldiversity.tables import Source

__all__ = ["attack", "attack_each"]

_MOST_NUMBERS: Final = 50_000_000
"""The most targets times values; with more, a sample of the targets is attacked."""

_NO_VALUE: Final = "the release has no sensitive attribute"


def attack(  # noqa: PLR0913 - the public door; every argument is a piece of the attacker's knowledge
    release: Release,
    original: Any = None,  # noqa: ANN401 - a path or any frame
    *,
    sensitive: str | Sequence[str] | None = None,
    attacks: str | AnyAttack | Sequence[str | AnyAttack] | None = None,
    second: Release | None = None,
    exclude: int = 1,
    distance: Distance | None = None,
    d: float | None = None,
    known: Any = None,  # noqa: ANN401 - a path or any frame
    memory: str | int | None = None,
    **choices: Unpack[RiskChoices],
) -> AttackReport:
    """Attack a release, and compare what attackers achieve with its claim and with guessing.

    Parameters
    ----------
    release
        What was published.
    original
        The table that it was made from, a frame or a path. Its people are attacked, and its values score the attackers.
        Without it, the published records are attacked, and attackers say how often they expect to be right.
    sensitive
        The attributes to attack; all of them when None.
    attacks
        Names in `ATTACKS` or attacks; all that apply when None.
    second
        Another release about the same people, for ``intersection``, ``changes`` and ``composition``.
    exclude
        How many values the attacker of ``background`` can rule out.
    distance, d
        For ``similarity``: values closer than `d` count as one. By default, the distance of a mechanism of sets and
        half its d.
    known
        A table that tells the attacker of ``joint`` how the sensitive columns depend on each other. When None, they
        learn it from the release.
    memory
        How much memory attacks may take, such as ``"2GB"``; no limit when None. Attackers look at all rows at once. An
        attack that takes more is left out with a reason, or refused when it was asked for by name, before it begins.
    control
        People like those of the original who were not in it, a frame or a path. ``singling-out``, ``linkability``
        and ``inference`` attack them too: what succeeds as often on them is no risk of taking part.
        Split some off at random before publishing.
    secret
        For ``inference``: the columns to guess; the sensitive attributes when None.
    link
        For ``linkability``: the columns of two sources, as two lists; half of the quasi-identifiers each when None.
    targets
        How many people to attack, drawn at random, the same each time. When None, all; those attacks that measure a
        risk make 500 attacks. Attackers keep what they know about everyone, such as the order of the source.
    types
        Types of columns of a text file, as for `anonymize`.
    read
        How to read the original, as for `Publication`.
    person
        The column of the original that says whose row it is, when a person may have several. ``several-rows`` combines
        what the rows of a person say. ``singling-out``, ``linkability`` and ``inference`` then attack people, not rows;
        a control table needs the column too.

    Raises
    ------
    UnsupportedError
        When an attack that was asked for by name does not apply.

    Examples
    --------
    >>> import ldiversity as ld
    >>> people = ld.datasets.hospital()
    >>> release = ld.anonymize(people, quasi=["sex", "age"], sensitive="disease", method=ld.Anatomy(l=2))
    >>> result = attack(release, people, attacks="homogeneity").results[0]
    >>> result.found, result.success, result.claim, result.broken
    (8, 0.5, 0.5, False)
    """
    question = RiskQuestion.of("attack", choices)
    check_release("attack", release)
    if original is None:
        check_values("attack", release, "to learn")
    names = _attributes(release, sensitive)
    check_integer("attack", "exclude", exclude, minimum=1)
    if (distance is None) != (d is None):
        rule = say("{} and {} must be given together", Parameter("distance"), Parameter("d"))
        raise ParameterError("attack", rule)
    if second is not None:
        check_release("attack", second, "second")
    if question.person is not None and original is None:
        raise ParameterError("attack", "person", "must be left out without the original, which has the column")
    given = Knowledge(
        release,
        release.subjects[0],
        second,
        exclude,
        distance,
        d,
        known,
        names if question.secrets is None else question.secrets,
        question.link,
        question.person,
    )
    chosen, risky, by_name = _chosen(attacks, release, given)
    source = None if original is None else question.open(original)
    wanted: dict[str | None, Sequence[AnyAttack]] = {None: risky}
    wanted.update(chosen)
    fit, skipped = _fitting(
        release, wanted, _room(release, source, names, memory, question.targets), source, by_name=by_name
    )
    if source is not None:
        check_original(release, source)
    results: list[AttackResult] = []
    skipped += [Skipped(name, None, _NO_VALUE) for name in ATTACKS if not (names or by_name or _risky(name))]
    for attribute in names if any(fit[name] for name in names) else ():
        people = _targets(release, source, attribute, question.targets, question.person)
        values = [one for one in fit[attribute] if isinstance(one, Attack)]
        for found in _attacked(values, release, people, attribute, by_name=by_name):
            if isinstance(found, Skipped):
                skipped.append(found)
            else:
                results.append(found)
    risky = [one for one in fit[None] if isinstance(one, RiskAttack)]
    risks, not_run = measure_risks(risky, lambda: show_release(release), source, question, by_name=by_name)
    return AttackReport(tuple(results), (*skipped, *not_run), risks, frame_kind=release.frame_kind)


def _attacked(
    attacks: Sequence[Attack], release: Release, people: Targets, attribute: str, *, by_name: bool
) -> Iterator[AttackResult | Skipped]:
    """What each attack on an attribute achieves, or why it was left out."""
    together = _together(release, people, attribute)
    for one in attacks:
        reason = None if by_name else _why_not(one, release, people, attribute)
        if reason is not None:
            yield Skipped(one.label, attribute, reason)
            continue
        try:
            yield _scored(one, release, people, attribute, together)
        except FaultyAttackError as fault:
            yield _left_out(one, attribute, fault, by_name=by_name)


def attack_each(
    release: Release,
    original: Source,
    attribute: str,
    attacks: Sequence[str | Attack],
    *,
    targets: int,
    person: str | None = None,
) -> Iterator[tuple[AttackResult, ...] | Exception]:
    """Run each of several attacks on the same people, whom it looks up once, and give what it found or raised."""
    given = Knowledge(release, attribute, secrets=(attribute,), person=person)
    people = _targets(release, original, attribute, targets, person)
    together = _together(release, people, attribute)
    for one in attacks:
        try:
            made = [each for each in _made(one, given, asked=True) if isinstance(each, Attack)]
            found = tuple(_scored(each, release, people, attribute, together) for each in made)
        except Exception as error:  # noqa: BLE001 - the caller decides; other attacks must go on
            yield error
        else:
            yield found


def _scored(
    attack: Attack, release: Release, people: Targets, attribute: str, together: NDArray[np.int64] | None
) -> AttackResult:
    """What an attack achieves; it is refused where it does not apply."""
    reason = run_by_itself(attack, lambda: attack.why_not(release, people, attribute))
    if reason is not None:
        raise UnsupportedError("attack", f"{attack.name!r} cannot be run on {attribute!r}: {reason}")
    return score(attack, release, people, attribute, believed(attack, release, people, attribute), together)


def _why_not(attack: Attack, release: Release, people: Targets, attribute: str) -> str | None:
    try:
        return run_by_itself(attack, lambda: attack.why_not(release, people, attribute))
    except FaultyAttackError as fault:
        return fault.why


def _left_out(attack: Attack, attribute: str, fault: FaultyAttackError, *, by_name: bool) -> Skipped:
    if by_name:
        raise fault
    return Skipped(attack.label, attribute, fault.why)


def _fitting(
    release: Release,
    wanted: Mapping[str | None, Sequence[AnyAttack]],
    room: Room,
    source: Source | None,
    *,
    by_name: bool,
) -> tuple[dict[str | None, list[AnyAttack]], list[Skipped]]:
    """The attacks that apply and fit into memory, by attribute, and the others with the reason."""
    skipped: list[Skipped] = []
    if room.budget is not None:
        wanted, skipped = applying(release, wanted, scored=source is not None, by_name=by_name)
    fit, too_large = room.fitting(wanted, by_name=by_name, promised=partial(promised_against, release))
    return fit, [*skipped, *too_large]


def _room(
    release: Release, source: Source | None, names: Sequence[str], memory: str | int | None, targets: int | None
) -> Room:
    """The memory that attacks may take, and on how much they are run."""
    n_people = release.n_rows + release.suppressed if source is None or source.n_rows is None else source.n_rows
    n_values = {name: len(release.domain(name)) for name in names}
    most = {name: min(n_people, max(1, _MOST_NUMBERS // n), targets or n_people) for name, n in n_values.items()}
    n_rows = max(n_people, release.n_rows * release.rows_per_record)
    return Room(None if memory is None else Budget(memory), n_rows, most, n_values)


def _attributes(release: Release, sensitive: str | Sequence[str] | None) -> tuple[str, ...]:
    if sensitive is None:
        return release.sensitive
    check_values("attack", release, "to learn")
    names = tuple(column_names("attack", "sensitive", sensitive))
    unknown = [name for name in names if name not in release.sensitive]
    if unknown or not names:
        raise ParameterError(
            "attack",
            "sensitive",
            f"must name attributes of the release, {name_some(release.sensitive)}",
            got=repr(names),
        )
    return tuple(dict.fromkeys(names))


def _together(release: Release, targets: Targets, attribute: str) -> NDArray[np.int64] | None:
    """Number people so that those of one class share a number: attackers are right or wrong about them together."""
    if targets.truth is None or not release.grouped:
        return None
    of_class = pick_piece(release, targets, attribute)
    return np.where(of_class >= 0, of_class, int(of_class.max(initial=0)) + 1 + np.arange(targets.n))


def _chosen(
    attacks: str | AnyAttack | Sequence[str | AnyAttack] | None, release: Release, given: Knowledge
) -> tuple[dict[str, list[Attack]], list[RiskAttack], bool]:
    """The attacks on each attribute, those that measure a risk, and whether they were asked for."""
    asked = [attacks] if isinstance(attacks, str | AnyAttack) else attacks
    if asked is not None and not asked:
        raise ParameterError(
            "attack", "attacks", "must name at least one attack", hint=f"Known are {name_some(ATTACKS)}."
        )
    found: dict[str, list[Attack]] = {subject: [] for subject in release.subjects}
    risky: list[RiskAttack] = []
    for one in ATTACKS if asked is None else asked:
        if isinstance(one, str) and one not in ATTACKS:
            raise ParameterError("attack", "attacks", "must name known attacks", got=repr(one)).with_hint(
                f"Known are {name_some(ATTACKS, most=len(ATTACKS))}."
            )
        if not release.sensitive and not _risky(one):  # what is left are risks of being recognized
            if asked is not None:
                check_values("attack", release, "to learn")
            continue
        for place, (attribute, several) in enumerate(found.items()):
            made = _made(one, replace(given, attribute=attribute), asked=asked is not None)
            several.extend(each for each in made if isinstance(each, Attack))
            if place == 0:  # risks are those of the release, whatever the attribute
                risky.extend(each for each in made if isinstance(each, RiskAttack))
    return found, risky, asked is not None


def _risky(one: str | AnyAttack) -> bool:
    """Whether an attack measures a risk, and so needs no sensitive attribute."""
    return issubclass(ATTACKS[one] if isinstance(one, str) else type(one), RiskAttack)


def _made(one: str | AnyAttack, knowledge: Knowledge, *, asked: bool) -> tuple[AnyAttack, ...]:
    """An attack itself, or those of a name."""
    if isinstance(one, AnyAttack):
        return (one,)
    made = ATTACKS[one].from_knowledge(knowledge)
    if not made and asked:
        raise ParameterError("attack", f"{one!r} needs {ATTACKS[one].needs}")
    return made


def _targets(
    release: Release,
    source: Source | None,
    attribute: str,
    wanted: int | None = None,
    person: str | None = None,
) -> Targets:
    """Everyone in the original who has a value, or a sample of them; without it, the published records."""
    quasi = release.schema.names(Role.QUASI)
    if source is None:
        columns = pa.table({}) if release.generalized else release.columns(quasi)
        rows = release.n_rows if release.generalized or not quasi else columns.num_rows
        return Targets(columns, rows, published=True)
    needed = [*quasi, attribute, *([] if person is None else [person])]
    table = read_columns("attack", source, list(dict.fromkeys(needed)))
    truth = code_sensitive(
        table.column(attribute), attribute, release.domain(attribute), release.schema[attribute].type
    )
    place = np.flatnonzero(truth >= 0).astype(np.int64)
    if not len(place):
        raise ParameterError(
            "attack", "original", f"must have people with a value of {attribute!r}", got="none"
        ).with_hint("Give the table that the release was made from, or leave the original out.")
    population = table.select(list(quasi))
    columns = population.take(pa.array(place)) if quasi else population
    whose = None if person is None else number_people(table.column(person), person)[place]
    everyone = Targets(columns, len(place), truth[place], population, place, person=whose)
    most = max(1, _MOST_NUMBERS // len(release.domain(attribute)))
    most = most if wanted is None else min(most, wanted)
    if everyone.n <= most:
        return everyone
    drawn = np.sort(np.random.default_rng(0).choice(everyone.n, most, replace=False)).astype(np.int64)
    some = columns.take(pa.array(drawn)) if quasi else columns
    own = None if whose is None else whose[drawn]
    return Targets(some, most, truth[place[drawn]], population, place[drawn], whole=everyone, drawn=drawn, person=own)
