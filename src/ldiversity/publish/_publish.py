"""From a prepared table to a release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ldiversity.base.progress import stage, unwatched
from ldiversity.base.warned import warn
from ldiversity.engines import Secrets
from ldiversity.errors import LDiversityWarning
from ldiversity.publish._notes import domain_notes, draw_notes
from ldiversity.publish._prepare import Preparation
from ldiversity.publish._publish_classes import publish_classes
from ldiversity.publish._publish_sets import publish_sets
from ldiversity.publish._replaced import caution_about_classes, caution_about_sets
from ldiversity.publish._screening import screen, with_regions
from ldiversity.release import Release

__all__ = ["publish", "rehearse"]


def publish(preparation: Preparation, output: Path | None, *, overwrite: bool, secrets: Secrets) -> Release:
    """Publish a table as `Publication.publish` says it; the holder is warned before the work begins."""
    with stage("screening", until=0.3, passes=1):
        screening = screen(preparation)
    screening.refuse(preparation.source.name, preparation.schema)
    screened = replace(preparation, confirmed=screening.confirmed)
    made = rehearse(screened, output, overwrite=overwrite, secrets=secrets)
    with unwatched():  # the release is there
        return replace(made, findings=tuple(with_regions(one, made) for one in screening.findings))


def rehearse(preparation: Preparation, output: Path | None, *, overwrite: bool, secrets: Secrets) -> Release:
    """Publish without looking at what the table would give away: for releases that are only measured."""
    replaced = output if overwrite else None
    undeclared = preparation.undeclared
    if preparation.question.grouping is not None:
        keyed: list[str] = []
        caution = caution_about_classes(replaced, preparation.coders)
    else:
        keyed = _about_draws(preparation, keyed=secrets.key is not None)
        for attribute in preparation.hidden:
            for text in attribute.mechanism.cautions():
                warn(LDiversityWarning(text, column=attribute.name))
        drawn = {attribute.name: (attribute.coder.domain, attribute.mechanism) for attribute in preparation.hidden}
        caution = caution_about_sets(replaced, drawn, keyed=secrets.key is not None)
    if caution is not None:
        warn(caution)
    notes = (*preparation.notes, *domain_notes(undeclared), *keyed, *([] if caution is None else [caution]))
    run = publish_sets if preparation.question.grouping is None else publish_classes
    return run(replace(preparation, notes=notes), output, overwrite=overwrite, secrets=secrets)


def _about_draws(preparation: Preparation, *, keyed: bool) -> list[str]:
    """What the holder should know when draws belong to records or persons, and not to rows."""
    question = preparation.question
    if not keyed and question.person is None:
        return []
    return draw_notes(
        preparation.undeclared,
        {attribute.name: attribute.mechanism for attribute in preparation.hidden},
        keyed=keyed,
        stable_order=question.stable_order,
    )
