"""What cannot be done with the memory that a table has, and the way out that the engine leaves."""

from __future__ import annotations

from ldiversity.engines import Engine
from ldiversity.errors import UnsupportedError
from ldiversity.sentences import Parameter, Sentence, say

__all__ = ["give_more_memory", "short_of_memory"]


def short_of_memory(engine: Engine | str, owner: str, rule: str, otherwise: str) -> UnsupportedError:
    """The error about a method that needs more rows at once than there may be; workers know an engine by its name."""
    if _is_local(engine):
        return UnsupportedError(owner, "memory", rule, hint=give_more_memory(engine, otherwise))
    return UnsupportedError(
        owner, "engine", say("must be left out: memory {}", rule), hint=give_more_memory(engine, otherwise)
    )


def give_more_memory(engine: Engine | str, otherwise: str) -> Sentence:
    """Advise what the engine allows: a cluster groups a table in parts, whatever memory it has.

    Examples
    --------
    >>> print(give_more_memory("local", "promise less"))
    Give more memory, or promise less.
    """
    if _is_local(engine):
        return say("Give more memory, or {}.", otherwise)
    return say("Leave {} out if the table fits into the memory of this machine, or {}.", Parameter("engine"), otherwise)


def _is_local(engine: Engine | str) -> bool:
    return (engine if isinstance(engine, str) else engine.name) == "local"
