"""Pages about releases whose records are grouped: the plan before, and what was published."""

from __future__ import annotations

from ldiversity.cli._show import Facts, Page, number, percent

__all__ = ["render_class_plan"]


def render_class_plan(facts: Facts, page: Page) -> None:
    """Say what is known before the table is grouped."""
    page.title(f"{facts['table']}: {number(facts['records'])} records by {facts['method']}{_l(facts['l'])}")
    page.bullets(facts["notes"])
    if facts["feasible"]:
        page.text(_feasible(facts))
        page.bullets(attribute["claim"] for attribute in facts["attributes"])
    else:
        page.text(f"Not feasible. {facts['reason']} {facts['hint'] or ''}".rstrip())
        if facts["nearest"]:
            page.bullet(f"Feasible nearby: {'; '.join(map(_setting, facts['nearest']))}.")
    page.bullets(
        f"Caution: {attribute['attribute']}: {caution}"
        for attribute in facts["attributes"]
        for caution in attribute["cautions"]
    )
    page.table(
        ["attribute", "values", "of them occur", "most frequent", "its share", "largest l"],
        [
            [
                attribute["attribute"],
                number(attribute["values"]),
                number(attribute["occurring"]),
                number(attribute["largest_count"]),
                percent(attribute["largest_share"]),
                _largest(attribute["largest_l"]),
            ]
            for attribute in facts["attributes"]
        ],
        right={1, 2, 3, 4, 5},
    )
    if facts["largest_l"] is not None:
        suggested = (
            f"a good start is l = {facts['suggested_l']}" if facts["largest_l"] > 1 else "records must be left out"
        )
        page.text(f"Largest possible l without leaving records out: {_largest(facts['largest_l'])}; {suggested}.")
    if facts["choices"]:
        page.table(
            ["l", "classes at most", "left out at least", ""],
            [_choice(choice, facts["l"]) for choice in facts["choices"]],
            right={0, 1, 2},
        )
    page.title("Not protected")
    page.bullets(facts["not_protected"])


def _feasible(facts: Facts) -> str:
    classes = facts["most_classes"]
    left_out = facts["least_suppressed"]
    if facts["exact"]:
        return f"Feasible: {number(classes)} classes; {_left_out(left_out)}."
    most = "" if classes is None else f" There can be at most {number(classes)} classes."
    several = len(facts["attributes"]) > 1
    last = " Whether all of them can be kept apart at once is known when the table is grouped." if several else ""
    return f"Nothing speaks against it; {_left_out(left_out)}.{most}{last}"


def _left_out(count: int) -> str:
    return "no record has to be left out" if not count else f"{number(count)} records are left out"


def _largest(l: int | None) -> str:
    return "-" if l is None else number(l) if l > 1 else "none"


def _choice(choice: Facts, chosen: int | None) -> list[str]:
    planned = "planned" if choice["l"] == chosen else ""
    return [
        number(choice["l"]),
        number(choice["most_classes"]) if choice["feasible"] else "-",
        number(choice["least_suppressed"]) if choice["feasible"] else "-",
        planned if choice["feasible"] else "not feasible",
    ]


def _setting(setting: Facts) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in setting.items())


def _l(l: int | None) -> str:
    return "" if l is None else f", l = {l}"
