"""`attack_table`: the risks of a plain table, such as a synthetic one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from ldiversity.base.checks import name_some
from ldiversity.errors import ParameterError
from ldiversity.evaluation.attacks._inference import Inference
from ldiversity.evaluation.attacks._linkability import Linkability
from ldiversity.evaluation.attacks._report import AttackReport
from ldiversity.evaluation.attacks._risk_attack import RiskAttack
from ldiversity.evaluation.attacks._risk_choices import RiskChoices, RiskQuestion
from ldiversity.evaluation.attacks._risks import measure_risks
from ldiversity.evaluation.attacks._show import show_table
from ldiversity.evaluation.attacks._singling_out import SinglingOut
from ldiversity.evaluation.measures import read_columns

__all__ = ["attack_table"]


def attack_table(
    published: Any,  # noqa: ANN401 - a path or any frame
    original: Any,  # noqa: ANN401 - a path or any frame
    *,
    attacks: str | RiskAttack | Sequence[str | RiskAttack] | None = None,
    **choices: Unpack[RiskChoices],
) -> AttackReport:
    """Measure the risks of a table that is published as it is, such as a synthetic one.

    Parameters
    ----------
    published
        The table, a frame or a path. All of its columns are known to attackers.
    original
        The table that it was made from, with the same columns.
    attacks
        ``singling-out``, ``linkability`` and ``inference``, by name or as attacks; all of them when None.
    control
        People like those of the original who were not used to make it.
    secret
        For ``inference``: the columns to guess, each from all others; every column when None.
    link
        For ``linkability``: the columns of two sources, as two lists; half of the columns each when None.
    targets
        How many attacks are made of each kind; 500 when None.
    types, read, person
        As for `attack`.

    Examples
    --------
    >>> import ldiversity as ld
    >>> people = ld.datasets.patients(300, seed=1).drop_columns(["name"])
    >>> others = ld.datasets.patients(300, seed=2).drop_columns(["name"])
    >>> (copied,) = attack_table(people, people, control=others, attacks=ld.SinglingOut("record")).risks
    >>> copied.success.share, copied.beyond_chance
    (1.0, True)
    """
    question = RiskQuestion.of("attack_table", choices)
    source = question.open(published)
    shown = show_table(read_columns("attack_table", source, list(source.columns)))
    secrets = shown.names if question.secrets is None else question.secrets
    named: dict[str, tuple[RiskAttack, ...]] = {
        SinglingOut.name: (SinglingOut("univariate"), SinglingOut("multivariate"), SinglingOut("record")),
        Linkability.name: (Linkability(question.link),),
        Inference.name: tuple(Inference(name) for name in secrets),
    }
    given = [attacks] if isinstance(attacks, str | RiskAttack) else attacks
    chosen: list[RiskAttack] = []
    for one in named if given is None else given:
        if isinstance(one, str) and one not in named:
            raise ParameterError("attack_table", "attacks", f"must name some of {name_some(named)}", got=repr(one))
        chosen.extend(named[one] if isinstance(one, str) else (one,))
    risks, skipped = measure_risks(chosen, lambda: shown, question.open(original), question, by_name=given is not None)
    return AttackReport((), skipped, risks)
