"""`anonymize`: from a table to a release."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ldiversity.base.checks import check_choice
from ldiversity.base.progress import reports_progress
from ldiversity.base.randomness import Key
from ldiversity.engines import Engine
from ldiversity.errors import LDiversityWarning, ParameterError, UnsupportedError
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import GroupingMethod, Method
from ldiversity.publish._notes import domain_notes, key_note
from ldiversity.publish._prepare import prepare, prepare_groups
from ldiversity.publish._publish_classes import Choices, publish_classes
from ldiversity.publish._publish_sets import publish_sets
from ldiversity.publish._replaced import caution_about_classes, caution_about_sets
from ldiversity.release import Format, Release, SetLayout
from ldiversity.sentences import Parameter, say
from ldiversity.tables import Sensitive

__all__ = ["anonymize"]


@reports_progress
def anonymize(  # noqa: PLR0913 - the public door; every argument is a decision of the holder
    data: Any,  # noqa: ANN401 - any frame or path
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sensitive | Sequence[str | Sensitive],
    method: Method | Mapping[str, Method],
    hierarchies: Mapping[str, Hierarchy | str | os.PathLike[str]] | None = None,
    person: str | None = None,
    marginals: bool = False,
    drop: str | Sequence[str] = (),
    plain: str | Sequence[str] = (),
    key: Key | None = None,
    record_id: str | Sequence[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    data_format: Format = "parquet",
    layout: SetLayout | None = None,
    overwrite: bool = False,
    types: Mapping[str, str] | None = None,
    engine: Engine | None = None,
    progress: Callable[[float, str], None] | None = None,  # noqa: ARG001 - heard of at the door
    insecure_seed: int | None = None,
) -> Release:
    """Publish a table so that nobody learns any one person's sensitive value from it.

    A method either hides each sensitive value in a set, while every record keeps its quasi-identifiers, or groups
    records into classes in which nothing says which value belongs to whom. Rows come out in a uniformly random order.
    Before a release is handed out, its claims are checked on what was produced.

    Parameters
    ----------
    data
        A data frame (pandas, polars, pyarrow, or anything that speaks Arrow) or the path of a file.
    quasi
        Columns by which people might be recognized. Published as they are, or generalized by methods that do so.
    sensitive
        Columns to be hidden; a name, or `Sensitive` to declare a domain, bins or a policy for missing values.
    method
        How: one method for all sensitive columns, or one for each by name. A method that groups records serves all
        of them together.
    hierarchies
        Of quasi-identifiers, for methods that group, by column: a `Hierarchy`, the path of its file, or how to make it
        from the values, as on the command line (``"prefix:3/2"``, ``"width:5/10/20"``, ``"auto"``). Columns with one
        are generalized to its nodes, others to intervals of numbers or lists of values.
    person
        The column that tells whose row it is, when a person may have several, for methods that group: no class
        holds two rows of one person.
    marginals
        Publish how often each exact value of a generalized quasi-identifier occurs. Estimates become better; a rare
        value is shown to be rare.
    drop
        Columns that name people. Columns without any role are dropped as well; `Release.notes` lists them.
    plain
        Columns published as they are on the holder's word that they tell nothing.
    key, record_id
        Keyed draws: the same record with the same value gets the same set in every release made with this key, so
        that releases cannot be intersected. A changed value gets another set, and the two together tell more than
        one does (``docs/guides/republishing.md``). `record_id` names the columns that tell records apart.
    output
        A folder to write. A file is then streamed, and memory does not grow with the table, except for methods that
        group, which need all rows at once. Without it the release stays in memory.
    data_format
        ``"parquet"`` or ``"csv"``, when there is an `output`.
    layout
        ``"sets"``, the default, or ``"exploded"`` for one row a member, as in the paper on semantic diversity. The
        layout of a grouped release is its method's.
    overwrite
        Replace a release that is already at `output`.
    types
        Types of columns of a text file, where the inferred one is not wanted, for example ``{"zip": "text"}``.
    engine
        Where to compute; this machine when None.
    progress
        Called now and then with the share of the work that is done and a word for it. What it raises stops the work,
        and nothing is left behind.
    insecure_seed
        Draw from a seed that can be repeated. For tests: whoever learns the seed learns the true values.

    Returns
    -------
    Release
        What may be handed to anyone.

    Examples
    --------
    >>> import pyarrow as pa
    >>> patients = pa.table({"age": [41, 50, 68], "disease": ["flu", "cut", "flu"]})
    >>> disease = Sensitive("disease", domain=["cold", "cut", "fever", "flu"])
    >>> from ldiversity.methods import RandomizedAddition
    >>> release = anonymize(patients, quasi="age", sensitive=disease, method=RandomizedAddition(l=2))
    >>> sorted(release.table["age"].to_pylist()), release.sets("disease").shape
    ([41, 50, 68], (3, 2))
    """
    check_choice("anonymize", "data_format", data_format, ("parquet", "csv"))
    target = None if output is None else Path(output)
    if isinstance(method, GroupingMethod):
        _check_left_out("a method that groups records", key=key, record_id=record_id, layout=layout)
        groups = prepare_groups(
            data,
            quasi=quasi,
            sensitive=sensitive,
            method=method,
            drop=drop,
            plain=plain,
            types=types,
            hierarchies=hierarchies,
            person=person,
        )
        caution = caution_about_classes(target if overwrite else None, groups.coders)
        notes = (*groups.notes, *domain_notes(groups.undeclared), *_warned(caution))
        groups = replace(groups, notes=notes)
        choices = Choices(marginals, engine, insecure_seed)
        return publish_classes(groups, choices, output=target, data_format=data_format, overwrite=overwrite)
    _check_left_out(
        "a method that hides values in sets", hierarchies=hierarchies, person=person, marginals=marginals or None
    )
    layout = "sets" if layout is None else layout
    check_choice("anonymize", "layout", layout, ("sets", "exploded"))
    if (key is None) != (record_id is None):
        ids = Parameter("record_id")
        raise ParameterError("anonymize", say("{} and {} must be given together", Parameter("key"), ids)).with_hint(
            say("{} names the columns by which the key tells records apart.", ids)
        )
    if key is not None and insecure_seed is not None:
        raise ParameterError("anonymize", "insecure_seed", "must be left out when there is a key")
    preparation = prepare(
        data,
        quasi=quasi,
        sensitive=sensitive,
        method=method,
        drop=drop,
        plain=plain,
        record_id=record_id,
        types=types,
    )
    if layout == "exploded" and len(preparation.hidden) > 1:
        raise UnsupportedError(
            "anonymize", "layout", "must be 'sets' when there are several sensitive columns"
        ).with_hint("Publish sets, or one sensitive column at a time.")
    for attribute in preparation.hidden:
        for caution in attribute.mechanism.cautions():
            warnings.warn(LDiversityWarning(caution, column=attribute.name), stacklevel=3)
    keyed = () if key is None else (key_note(preparation.undeclared),)
    drawn = {a.name: (a.coder.domain, a.mechanism) for a in preparation.hidden}
    caution = caution_about_sets(target if overwrite else None, drawn, keyed=key is not None)
    notes = (*preparation.notes, *domain_notes(preparation.undeclared), *keyed, *_warned(caution))
    preparation = replace(preparation, notes=notes)
    return publish_sets(
        preparation,
        key=key,
        layout=layout,
        engine=engine,
        insecure_seed=insecure_seed,
        output=target,
        data_format=data_format,
        overwrite=overwrite,
    )


def _warned(caution: str | None) -> tuple[str, ...]:
    """Warn of something before the work begins, and return it as a note."""
    if caution is None:
        return ()
    warnings.warn(caution, LDiversityWarning, stacklevel=4)
    return (caution,)


def _check_left_out(family: str, **given: object) -> None:
    found = [name for name, value in given.items() if value is not None]
    if found:
        why = {
            "key": "Keyed draws are for sets; classes of two releases can be intersected whatever the key.",
            "record_id": "Keyed draws are for sets; classes of two releases can be intersected whatever the key.",
            "layout": "The layout of a grouped release is its method's.",
        }
        raise ParameterError("anonymize", found[0], f"must be left out with {family}", hint=why.get(found[0]))
