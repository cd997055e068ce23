"""``ldiversity plan``: what a publication would promise and cost, before it is made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ldiversity.base.numbers import (
    counted,
    in_bytes,
    number,
    percent,
    percent_at_least,
    percent_at_most,
    points,
    settings,
)
from ldiversity.faces.cli._faults import EXIT_REFUSED, complain
from ldiversity.faces.cli._findings import finding_in_words, show_findings
from ldiversity.faces.cli._holder import asked_policy, holder_options, policy_option
from ldiversity.faces.cli._input import opened_if_given, read_as_option
from ldiversity.faces.cli._method import MethodCommand
from ldiversity.faces.cli._paths import TABLE
from ldiversity.faces.cli._show import Page, json_option, show
from ldiversity.faces.cli._words import in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ldiversity.publish import (
        AttributePlan,
        ClassOutlook,
        ClassPlan,
        ColumnUniqueness,
        Outlook,
        Plan,
        UniformViolation,
    )

__all__ = ["command"]


@click.command("plan", cls=MethodCommand, short_help="Feasible? What it promises and costs.")
@click.argument("table", type=TABLE, required=False)
@policy_option("nothing is published")
@read_as_option
@holder_options
@json_option
@click.pass_context
def command(ctx: click.Context, /, policy: Path | None, *, as_json: bool, **given: Any) -> None:  # noqa: ANN401 - options by name
    """Say what publishing TABLE would promise and cost, before anything is published.

    Exit code 2 and the nearest feasible choices when the goal cannot be met, and exit code 2 when a column must be
    dropped or confirmed first. It shows true frequencies: what it prints is for the data holder.

    \b
    ldiversity plan patients.csv --quasi age,sex,zip --sensitive disease -l 3
    ldiversity plan patients.csv --quasi age,sex,zip --sensitive disease --method bsgi -l 4
    ldiversity plan january.csv --policy policy.toml
    """  # noqa: D301 - click reads the backspace
    from ldiversity.publish import Plan

    asked = asked_policy(ctx, policy, given, ("table", "policy", "read_as", "as_json"))
    with opened_if_given(given["table"], given["read_as"]) as table:
        answer = asked.plan(table)
    named = given["table"] or asked.table
    found_before = tuple(map(finding_in_words, answer.findings))
    answer = replace(answer, table=answer.table if named is None else named.name, findings=found_before)
    refused: list[tuple[str, Outlook | ClassOutlook]]
    if isinstance(answer, Plan):
        found = replace(answer, attributes=tuple(map(_in_flags, answer.attributes)))
        show(found, _render, as_json=as_json)
        refused = [(f"{one.attribute}: {one.outlook.reason}", one.outlook) for one in found.attributes]
    else:
        classes = _in_flags(answer)
        show(classes, _render_classes, as_json=as_json)
        refused = [(str(classes.outlook.reason), classes.outlook)]
    for reason, outlook in refused:
        if not outlook.feasible:
            complain(reason, outlook.hint)
    for finding in answer.findings:
        if finding.blocking:
            complain(f"{finding.column}: {finding.text}", finding.remedy)
    if answer.refused or not answer.feasible:
        ctx.exit(EXIT_REFUSED)


Judged = TypeVar("Judged", "AttributePlan", "ClassPlan")


def _in_flags(judged: Judged) -> Judged:
    """The same, with the options of the command line in reasons and hints."""

    def said(outlook: Any) -> Any:  # noqa: ANN401 - an outlook of either kind
        reason, hint = (text and in_words(text) for text in (outlook.reason, outlook.hint))
        return replace(outlook, reason=reason, hint=hint)

    return replace(judged, outlook=said(judged.outlook), choices=tuple(map(said, judged.choices)))


def _render(plan: Plan, page: Page) -> None:
    size = "" if plan.n_bytes is None else f", about {in_bytes(plan.n_bytes)}"
    page.title(f"{plan.table}: {'a release of ' if size else ''}{counted(plan.n_rows, 'record')}{size}")
    show_findings(plan.findings, page)
    page.bullets(plan.notes)
    for attribute in plan.attributes:
        _render_attribute(attribute, page)
    _render_uniqueness(plan.uniqueness, page)
    page.title("Not protected")
    page.bullets(plan.not_protected)


def _render_uniqueness(found: Sequence[ColumnUniqueness], page: Page) -> None:
    """Say how many people are unique at each level of each column, so that the holder can choose one."""
    if not found:
        return
    page.title("Unique with each column at a level, the others as planned")
    rows = [
        [
            one.column if place == 0 else "",
            "as it is" if level.level is None else level.level,
            number(level.labels),
            number(level.unique),
            "planned" if level.planned else "",
        ]
        for one in found
        for place, level in enumerate(one.levels)
    ]
    page.table(["column", "--publish", "different", "unique", ""], rows, right={2, 3})


def _render_attribute(plan: AttributePlan, page: Page) -> None:
    outlook, selection = plan.outlook, "" if plan.selection is None else f" ({plan.selection})"
    chosen = {name: getattr(outlook, name) for name in ("l", "d", "epsilon")}
    name = f"{plan.method}{selection}, {settings(chosen)}"
    page.title(f"{plan.attribute}: {name}, {counted(plan.n_values, 'value')}")
    if outlook.feasible:
        page.text(f"Feasible. {plan.claim}")
        _render_facts(plan, page)
    else:
        page.text(f"Not feasible. {outlook.reason} {outlook.hint or ''}".rstrip())
        if outlook.nearest:
            page.bullet(f"Feasible nearby: {'; '.join(map(settings, outlook.nearest))}.")
    page.bullets(f"Caution: {caution}" for caution in plan.cautions)
    page.table(
        ["l", "worst posterior", "if the table's frequencies are known", "std. error (points)", "condition", ""],
        [_choice_row(choice, outlook.l) for choice in plan.choices],
        right={0, 1, 2, 3, 4},
    )


def _render_facts(plan: AttributePlan, page: Page) -> None:
    outlook = plan.outlook
    cells = ", ".join(f"{counted(size, 'record')} {points(error)}" for size, error in plan.cell_errors.items())
    page.bullet(
        f"Worst posterior: {percent_at_most(outlook.posterior)} for someone to whom all values are equally likely "
        f"before, {percent(outlook.posterior_informed)} for someone who knows how frequent each value is in this "
        f"table. Without any release such a person guesses right {percent(plan.largest_share)} of the time."
    )
    page.bullet(
        f"Estimated shares of all records have a standard error of typically {points(outlook.std_error)} "
        f"percentage points; in cells of {cells}."
    )
    page.bullet(
        f"Expected mean squared error of a share: {number(outlook.mse_table)} with the table's "
        f"frequencies, {number(outlook.mse)} if all values were equally frequent; "
        f"condition of the inclusion matrix {number(outlook.condition)}."
    )
    if plan.least_error_l is not None:
        same = plan.least_error_l == outlook.l
        best = next(one for one in plan.choices if one.l == plan.least_error_l)
        page.bullet(
            f"At epsilon {number(outlook.epsilon)} no other l has a smaller expected error."
            if same
            else f"At epsilon {number(outlook.epsilon)}, {settings({'l': best.l})} has the least expected error: "
            f"typically {points(best.std_error)} percentage points instead of {points(outlook.std_error)}."
        )
    if plan.several_sets is not None:
        page.bullet(f"Several sets of one person: {in_words(plan.several_sets.text)}")
    if plan.violation is not None:
        page.bullet(_violation_sentence(plan.violation, outlook))


def _violation_sentence(violation: UniformViolation, outlook: Outlook) -> str:
    bound = "" if violation.bound is None else f" (bound of Eq. 11: {percent_at_most(violation.bound)})"
    return (
        f"Plain randomized addition with l = {outlook.l} would publish two values closer than "
        f"{number(outlook.d)} for {percent(violation.average)} of the records, from {percent(violation.least)} to "
        f"{percent(violation.greatest)} by true value{bound}; the probability that this happens to at least "
        f"one record is at least {percent_at_least(violation.any_record)}."
    )


def _choice_row(choice: Outlook, chosen: int | None) -> list[str]:
    return [
        number(choice.l),
        percent_at_most(choice.posterior),
        percent(choice.posterior_informed),
        points(choice.std_error),
        number(choice.condition),
        ("planned" if choice.l == chosen else "") if choice.feasible else "not feasible",
    ]


def _render_classes(plan: ClassPlan, page: Page) -> None:
    """Say what is known before the table is grouped."""
    from ldiversity.methods import METHODS

    outlook = plan.outlook
    strength = METHODS[plan.method].strength or "l"  # methods of other packages may call it otherwise
    level = "" if outlook.l is None else f", {settings({strength: outlook.l})}"
    page.title(f"{plan.table}: {counted(plan.n_rows, 'record')} by {plan.method}{level}")
    show_findings(plan.findings, page)
    page.bullets(plan.notes)
    if outlook.feasible:
        page.text(_feasible(plan))
        page.bullets(claim for attribute in plan.attributes for claim in attribute.claims)
    else:
        page.text(f"Not feasible. {outlook.reason} {outlook.hint or ''}".rstrip())
        if outlook.nearest:
            page.bullet(f"Feasible nearby: {'; '.join(map(settings, outlook.nearest))}.")
    page.bullets(f"Caution: {one.attribute}: {caution}" for one in plan.attributes for caution in one.cautions)
    if plan.attributes:
        page.table(
            ["attribute", "values", "of them occur", "most frequent", "its share", f"largest {strength}"],
            [
                [
                    attribute.attribute,
                    number(attribute.n_values),
                    number(attribute.n_occurring),
                    number(attribute.largest_count),
                    percent(attribute.largest_share),
                    _largest(attribute.largest_l),
                ]
                for attribute in plan.attributes
            ],
            right={1, 2, 3, 4, 5},
        )
    if plan.largest_l is not None and METHODS[plan.method].strength is not None:
        start = (
            f"a good start is {settings({strength: plan.suggested_l})}"
            if plan.largest_l > 1
            else "records must be left out"
        )
        page.text(f"Largest possible {strength} without leaving records out: {_largest(plan.largest_l)}; {start}.")
    if plan.choices:
        rows = [_class_choice(choice, outlook.l) for choice in plan.choices]
        page.table([strength, "classes at most", "left out at least", ""], rows, right={0, 1, 2})
    _render_uniqueness(plan.uniqueness, page)
    page.title("Not protected")
    page.bullets(plan.not_protected)


def _feasible(plan: ClassPlan) -> str:
    classes, left_out = plan.outlook.most_classes, plan.outlook.least_suppressed
    if plan.exact:
        made = counted(classes or 0, "class", "classes")
        return f"Feasible: {made}; {_left_out(left_out, 'is left out', 'are left out')}."
    most = "" if classes is None else f" There can be at most {counted(classes, 'class', 'classes')}."
    several = len(plan.attributes) > 1
    last = " Whether all of them can be kept apart at once is known when the table is grouped." if several else ""
    least = _left_out(left_out, "at least has to be left out", "at least have to be left out")
    return f"Nothing rules it out; {least}.{most}{last}"


def _left_out(count: int, one: str, several: str) -> str:
    return counted(count, f"record {one}", f"records {several}") if count else "no record has to be left out"


def _largest(l: int | None) -> str:
    return "-" if l is None else number(l) if l > 1 else "none"


def _class_choice(choice: ClassOutlook, chosen: int | None) -> list[str]:
    if not choice.feasible:
        return [number(choice.l), "-", "-", "not feasible"]
    planned = "planned" if choice.l == chosen else ""
    return [number(choice.l), number(choice.most_classes), number(choice.least_suppressed), planned]
