"""What must have been declared when records are left out: nothing public may depend on them."""

from __future__ import annotations

import numpy as np

from ldiversity.base.checks import name_some
from ldiversity.engines import Engine
from ldiversity.errors import UnsupportedError
from ldiversity.publish._parts._note import JoinedNotes
from ldiversity.publish._parts._short import give_more_memory
from ldiversity.publish._parts._table import TableShape
from ldiversity.publish._prepare import Preparation
from ldiversity.sentences import Parameter, say

__all__ = ["check_left_out"]


def check_left_out(preparation: Preparation, shape: TableShape, notes: JoinedNotes) -> None:
    """Refuse what was read off records of which some are left out: domains that lose a value, bins, hierarchies, steps.

    A table in one piece is read again without the records that are left out. One in parts is not, so its holder says
    what may be public.
    """
    engine = preparation.engine
    for name in preparation.undeclared:
        domain = preparation.coders[name].domain
        known = np.array([value is not None for value in domain.values])
        if domain.edges is not None:
            raise _undeclared(engine, "bins", name, "give edges, or width with low and high")
        if (notes.values(name)[known] == 0).any():
            raise _undeclared(engine, "the domain", name, "list its values")
    for name in sorted(shape.made):
        raise _undeclared(engine, "the hierarchy", name, "give it as a file or an object, or leave the column out")
    given = preparation.grid or {}
    derived = [name for name in shape.steps if name not in given]
    if derived:
        raise UnsupportedError(
            "Publication",
            "grid",
            f"of {name_some(derived)} must be declared, because records are left out of a table in parts",
        ).with_hint(give_more_memory(engine, say("give a step for each as {}", Parameter("grid"))))
    if preparation.question.marginals or preparation.question.model:
        option = "marginals" if preparation.question.marginals else "model"
        raise UnsupportedError(
            "Publication", option, "cannot be given where records are left out of a table in parts"
        ).with_hint(give_more_memory(engine, "leave it out"))


def _undeclared(engine: Engine, what: str, column: str, otherwise: str) -> UnsupportedError:
    return UnsupportedError(
        f"{what} must be declared, because records are left out of a table in parts", column=column
    ).with_hint(give_more_memory(engine, otherwise))
