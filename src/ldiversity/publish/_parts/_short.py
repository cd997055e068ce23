"""What cannot be done with the memory that a table has, and the way out that the engine leaves."""

from __future__ import annotations

from ldiversity.engines import Engine
from ldiversity.errors import UnsupportedError
from ldiversity.sentences import Parameter, Sentence, say

__all__ = ["give_more_memory", "short_of_memory"]


def short_of_memory(engine: Engine, owner: str, rule: str, otherwise: str) -> UnsupportedError:
    """The error about a method that needs more rows at once than there may be."""
    if engine.name == "local":
        return UnsupportedError(owner, "memory", rule, hint=give_more_memory(engine, otherwise))
    return UnsupportedError(
        owner, "engine", say("must be left out: memory {}", rule), hint=give_more_memory(engine, otherwise)
    )


def give_more_memory(engine: Engine, otherwise: str) -> Sentence:
    """Advise what the engine allows: a cluster groups a table in parts, whatever memory it has."""
    if engine.name == "local":
        return say("Give more memory, or {}.", otherwise)
    return say("Leave {} out if the table fits into the memory of this machine, or {}.", Parameter("engine"), otherwise)
