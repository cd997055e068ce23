"""``ldiversity plan``: what a publication would promise and cost, before it is made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ldiversity.base.numbers import number, percent, points
from ldiversity.faces.cli._class_pages import render_class_plan
from ldiversity.faces.cli._faults import EXIT_REFUSED, complain
from ldiversity.faces.cli._holder import asked_policy, holder_options, policy_option
from ldiversity.faces.cli._input import opened_if_given, read_as_option
from ldiversity.faces.cli._method import MethodCommand
from ldiversity.faces.cli._paths import TABLE
from ldiversity.faces.cli._show import Facts, Page, show
from ldiversity.faces.cli._words import in_words

__all__ = ["command"]


@click.command("plan", cls=MethodCommand, short_help="Feasible? What it promises and costs.")
@click.argument("table", type=TABLE, required=False)
@policy_option("checks it without publishing anything")
@read_as_option
@holder_options
@click.option("--json", "as_json", is_flag=True, help="Print the same facts as JSON.")
@click.pass_context
def command(ctx: click.Context, /, policy: Path | None, *, as_json: bool, **given: Any) -> None:  # noqa: ANN401 - options by name
    """Say what publishing TABLE would promise and cost, before anything is published.

    Exit code 2 and the nearest feasible choices when the goal cannot be met. It shows true frequencies: what it
    prints is for the data holder.

    \b
    ldiversity plan patients.csv --quasi age,sex,zip --sensitive disease -l 3
    ldiversity plan patients.csv --quasi age,sex,zip --sensitive disease --method bsgi -l 4
    ldiversity plan january.csv --policy policy.toml
    """  # noqa: D301 - click reads the backspace
    asked = asked_policy(ctx, policy, given, ("table", "policy", "read_as", "as_json"))
    with opened_if_given(given["table"], given["read_as"]) as table:
        answer = asked.plan(table)
    named = given["table"] or asked.table
    answer = replace(answer, table=answer.table if named is None else named.name)
    facts = answer.to_dict()
    grouped = "layout" in facts
    judged = [facts] if grouped else facts["attributes"]
    for one in judged:
        for choice in (one, *one["choices"]):
            choice.update({name: choice[name] and in_words(choice[name]) for name in ("reason", "hint")})
    show(facts, render_class_plan if grouped else _render, as_json=as_json)
    for one in judged:
        if not one["feasible"]:
            complain(one["reason"] if grouped else f"{one['attribute']}: {one['reason']}", one["hint"])
    if not facts["feasible"]:
        ctx.exit(EXIT_REFUSED)


def _render(facts: Facts, page: Page) -> None:
    size = "" if facts["bytes"] is None else f", about {_bytes(facts['bytes'])}"
    page.title(f"{facts['table']}: {'a release of ' if size else ''}{number(facts['records'])} records{size}")
    page.bullets(facts["notes"])
    for attribute in facts["attributes"]:
        _render_attribute(attribute, page)
    page.title("Not protected")
    page.bullets(facts["not_protected"])


def _render_attribute(attribute: Facts, page: Page) -> None:
    page.title(f"{attribute['attribute']}: {_choice_name(attribute)}, {number(attribute['values'])} values")
    if attribute["feasible"]:
        page.text(f"Feasible. {attribute['claim']}")
        _render_facts(attribute, page)
    else:
        page.text(f"Not feasible. {attribute['reason']} {attribute['hint'] or ''}".rstrip())
        if attribute["nearest"]:
            page.bullet(f"Feasible nearby: {'; '.join(map(_parameters, attribute['nearest']))}.")
    page.bullets(f"Caution: {caution}" for caution in attribute["cautions"])
    page.table(
        ["l", "worst posterior", "if the table's frequencies are known", "std. error (points)", "condition", ""],
        [_choice_row(choice, attribute["l"]) for choice in attribute["choices"]],
        right={0, 1, 2, 3, 4},
    )


def _render_facts(attribute: Facts, page: Page) -> None:
    shown = {
        name: percent(attribute[name]) for name in ("worst_posterior", "worst_posterior_informed", "largest_share")
    }
    cells = ", ".join(
        f"{number(int(size))} records {points(error)}" for size, error in attribute["std_error_by_cell_size"].items()
    )
    page.bullet(
        f"Worst posterior: {shown['worst_posterior']} for someone to whom all values are equally likely before, "
        f"{shown['worst_posterior_informed']} for someone who knows how frequent each value is in this table. "
        f"Without any release such a person guesses right {shown['largest_share']} of the time."
    )
    page.bullet(
        f"Estimated shares of all records have a standard error of typically {points(attribute['std_error'])} "
        f"percentage points; in cells of {cells}."
    )
    page.bullet(
        f"Expected mean squared error of a share: {number(attribute['expected_mse'])} with the table's "
        f"frequencies, {number(attribute['expected_mse_uniform'])} if all values were equally frequent; "
        f"condition of the inclusion matrix {number(attribute['condition'])}."
    )
    violation = attribute["violation_if_uniform"]
    if violation is not None:
        page.bullet(_violation_sentence(violation, attribute))


def _violation_sentence(violation: Facts, attribute: Facts) -> str:
    bound = "" if violation["bound"] is None else f" (bound of Eq. 11: {percent(violation['bound'])})"
    return (
        f"Plain randomized addition with l = {attribute['l']} would publish two values closer than "
        f"{attribute['d']:g} for {percent(violation['average'])} of the records, from {percent(violation['least'])} to "
        f"{percent(violation['greatest'])} by true value{bound}; the probability that this happens to at least "
        f"one record is {_at_least(violation['any_record'])}."
    )


def _at_least(share: float) -> str:
    written = percent(share)
    return written if written.startswith(">") else f"at least {written}"


def _choice_name(attribute: Facts) -> str:
    selection = "" if attribute["selection"] is None else f" ({attribute['selection']})"
    return f"{attribute['method']}{selection}, {_parameters(attribute)}"


def _parameters(choice: Facts) -> str:
    return ", ".join(f"{name} = {choice[name]:g}" for name in ("l", "d") if choice.get(name) is not None)


def _choice_row(choice: Facts, chosen: int) -> list[str]:
    return [
        number(choice["l"]),
        percent(choice["worst_posterior"]),
        percent(choice["worst_posterior_informed"]),
        points(choice["std_error"]),
        number(choice["condition"]),
        ("planned" if choice["l"] == chosen else "") if choice["feasible"] else "not feasible",
    ]


def _bytes(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":  # noqa: PLR2004 - the next unit
            return f"{size:.3g} {unit}"
        size /= 1000
    raise AssertionError
