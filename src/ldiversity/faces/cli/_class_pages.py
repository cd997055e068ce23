"""Pages about releases whose records are grouped: the plan before, and what was published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ldiversity.base.numbers import number, percent
from ldiversity.faces.cli._show import Facts, Page

if TYPE_CHECKING:
    from ldiversity.release import Claim, ClassClaim, Release

__all__ = ["class_facts", "render_class_plan", "render_classes", "render_promises"]


def class_facts(release: Release) -> dict[str, Any]:
    """What is to be said about a grouped release that was just made."""
    return {
        "suppressed": release.suppressed,
        "claims": [_claim_facts(release, claim) for claim in release.claims],
        "forms": [{"column": name, "form": form.kind} for name, form in release.forms.items()],
        "warnings": list(release.warnings),
        "not_protected": list(release.not_protected),
    }


def _claim_facts(release: Release, claim: Claim | ClassClaim) -> dict[str, Any]:
    name = claim.attribute
    sizes = release.evidence(name).records
    return {
        "attribute": name,
        "method": release.method(name),
        "parameters": dict(release.parameters(name)),
        "model": claim.model,
        "l": claim.l,
        "posterior": claim.posterior,
        "values": len(release.domain(name)),
        "statement": claim.statement,
        "classes": len(sizes),
        "average_size": float(sizes.mean()) if len(sizes) else None,
        "smallest": int(sizes.min()) if len(sizes) else None,
        "largest": int(sizes.max()) if len(sizes) else None,
        "facts": dict(release.facts(name)),
    }


def render_classes(facts: Facts, page: Page) -> None:
    """Show a grouped release that was just made."""
    left_out = "none left out" if not facts["suppressed"] else f"{number(facts['suppressed'])} left out"
    page.title(f"Published in {facts['folder']}: {number(facts['records'])} records, {facts['layout']}, {left_out}")
    for warning in facts["warnings"]:
        page.warning(f"Warning: {warning}")
    forms = {form["column"]: form["form"] for form in facts["forms"]}
    page.table(
        ["column", "role", "type", "published as"],
        [[c["name"], c["role"], c["type"], _form(c, forms, facts["layout"])] for c in facts["columns"]],
    )
    page.title("Promised, and checked on what was written")
    page.table(
        ["attribute", "method", "model", "largest share of a value", "classes", "average size", "smallest", "largest"],
        [
            [
                claim["attribute"],
                claim["method"],
                claim["model"],
                percent(claim["posterior"]),
                number(claim["classes"]),
                number(claim["average_size"]),
                number(claim["smallest"]),
                number(claim["largest"]),
            ]
            for claim in facts["claims"]
        ],
        right={3, 4, 5, 6, 7},
    )
    render_promises(facts, page)


def render_promises(facts: Facts, page: Page) -> None:
    """What is promised and what is not, and how to go on: the end of every page about a release that was written."""
    page.bullets(claim["statement"] for claim in facts["claims"])
    if facts["notes"]:
        page.title("Notes")
        page.bullets(facts["notes"])
    page.title("Not protected")
    page.bullets(facts["not_protected"])
    page.title("Next")
    page.text("The folder is all that a data user needs. To try it:")
    page.command(facts["next"])


_FORMS = {
    "exact": "as it is",
    "interval": "interval of its class",
    "node": "node of its hierarchy",
    "values": "list of the values of its class",
}


def _form(column: Facts, forms: dict[str, str], layout: str) -> str:
    if column["role"] == "sensitive":
        return "counts of its class" if layout == "bucketized" else "shuffled within its class"
    return _FORMS[forms.get(column["name"], "exact")]


def render_class_plan(facts: Facts, page: Page) -> None:
    """Say what is known before the table is grouped."""
    page.title(f"{facts['table']}: {number(facts['records'])} records by {facts['method']}{_l(facts['l'])}")
    page.bullets(facts["notes"])
    if facts["feasible"]:
        page.text(_feasible(facts))
        page.bullets(claim for attribute in facts["attributes"] for claim in attribute["claims"])
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
        return f"Feasible: {number(classes)} classes; {_left_out(left_out, 'are left out')}."
    most = "" if classes is None else f" There can be at most {number(classes)} classes."
    several = len(facts["attributes"]) > 1
    last = " Whether all of them can be kept apart at once is known when the table is grouped." if several else ""
    return f"Nothing speaks against it; {_left_out(left_out, 'at least have to be left out')}.{most}{last}"


def _left_out(count: int, what: str) -> str:
    return "no record has to be left out" if not count else f"{number(count)} records {what}"


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
