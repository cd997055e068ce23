"""From a prepared table to a release."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

from ldiversity.base.randomness import Key
from ldiversity.engines import Engine
from ldiversity.errors import LDiversityWarning
from ldiversity.publish._notes import domain_notes, key_note
from ldiversity.publish._prepare import Preparation
from ldiversity.publish._publish_classes import Choices, publish_classes
from ldiversity.publish._publish_sets import publish_sets
from ldiversity.publish._replaced import caution_about_classes, caution_about_sets
from ldiversity.release import Release

__all__ = ["publish"]


def publish(
    preparation: Preparation,
    output: Path | None,
    *,
    overwrite: bool,
    key: Key | None,
    engine: Engine | None,
    insecure_seed: int | None,
) -> Release:
    """Publish a table as `Publication.publish` says it; the holder is warned before the work begins."""
    question = preparation.question
    replaced = output if overwrite else None
    if question.grouping is not None:
        said = (*domain_notes(preparation.undeclared), *_warned(caution_about_classes(replaced, preparation.coders)))
        preparation = replace(preparation, notes=(*preparation.notes, *said))
        choices = Choices(question.marginals, engine, insecure_seed)
        return publish_classes(
            preparation, choices, output=output, data_format=question.data_format, overwrite=overwrite
        )
    for attribute in preparation.hidden:
        for caution in attribute.mechanism.cautions():
            warnings.warn(LDiversityWarning(caution, column=attribute.name), stacklevel=4)
    drawn = {attribute.name: (attribute.coder.domain, attribute.mechanism) for attribute in preparation.hidden}
    said = (
        *domain_notes(preparation.undeclared),
        *(() if key is None else (key_note(preparation.undeclared),)),
        *_warned(caution_about_sets(replaced, drawn, keyed=key is not None)),
    )
    return publish_sets(
        replace(preparation, notes=(*preparation.notes, *said)),
        key=key,
        layout=question.layout or "sets",
        engine=engine,
        insecure_seed=insecure_seed,
        output=output,
        data_format=question.data_format,
        overwrite=overwrite,
    )


def _warned(caution: str | None) -> tuple[str, ...]:
    """Warn of something before the work begins, and return it as a note."""
    if caution is None:
        return ()
    warnings.warn(caution, LDiversityWarning, stacklevel=5)
    return (caution,)
