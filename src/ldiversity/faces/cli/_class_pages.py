"""The page of a plan for records that are grouped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ldiversity.base.numbers import number, percent, settings
from ldiversity.faces.cli._show import Page

if TYPE_CHECKING:
    from ldiversity.publish import ClassOutlook, ClassPlan

__all__ = ["render_class_plan"]


def render_class_plan(plan: ClassPlan, page: Page) -> None:
    """Say what is known before the table is grouped."""
    outlook = plan.outlook
    l = "" if outlook.l is None else f", {settings({'l': outlook.l})}"
    page.title(f"{plan.table}: {number(plan.n_rows)} records by {plan.method}{l}")
    page.bullets(plan.notes)
    if outlook.feasible:
        page.text(_feasible(plan))
        page.bullets(claim for attribute in plan.attributes for claim in attribute.claims)
    else:
        page.text(f"Not feasible. {outlook.reason} {outlook.hint or ''}".rstrip())
        if outlook.nearest:
            page.bullet(f"Feasible nearby: {'; '.join(map(settings, outlook.nearest))}.")
    page.bullets(f"Caution: {one.attribute}: {caution}" for one in plan.attributes for caution in one.cautions)
    page.table(
        ["attribute", "values", "of them occur", "most frequent", "its share", "largest l"],
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
    if plan.largest_l is not None:
        start = f"a good start is l = {plan.suggested_l}" if plan.largest_l > 1 else "records must be left out"
        page.text(f"Largest possible l without leaving records out: {_largest(plan.largest_l)}; {start}.")
    if plan.choices:
        rows = [_choice(choice, outlook.l) for choice in plan.choices]
        page.table(["l", "classes at most", "left out at least", ""], rows, right={0, 1, 2})
    page.title("Not protected")
    page.bullets(plan.not_protected)


def _feasible(plan: ClassPlan) -> str:
    classes, left_out = plan.outlook.most_classes, plan.outlook.least_suppressed
    if plan.exact:
        return f"Feasible: {number(classes)} classes; {_left_out(left_out, 'are left out')}."
    most = "" if classes is None else f" There can be at most {number(classes)} classes."
    several = len(plan.attributes) > 1
    last = " Whether all of them can be kept apart at once is known when the table is grouped." if several else ""
    return f"Nothing rules it out; {_left_out(left_out, 'at least have to be left out')}.{most}{last}"


def _left_out(count: int, what: str) -> str:
    return "no record has to be left out" if not count else f"{number(count)} records {what}"


def _largest(l: int | None) -> str:
    return "-" if l is None else number(l) if l > 1 else "none"


def _choice(choice: ClassOutlook, chosen: int | None) -> list[str]:
    if not choice.feasible:
        return [number(choice.l), "-", "-", "not feasible"]
    planned = "planned" if choice.l == chosen else ""
    return [number(choice.l), number(choice.most_classes), number(choice.least_suppressed), planned]
