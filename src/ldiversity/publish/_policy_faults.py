"""What is wrong with a policy, in one sentence that names the key."""

from __future__ import annotations

from typing import Final

from pydantic import ValidationError

from ldiversity.errors import ParameterError
from ldiversity.publish._policy_options import Part
from ldiversity.publish._policy_parts import (
    BinsPolicy,
    KeyPolicy,
    MethodPolicy,
    OutputPolicy,
    SensitivePolicy,
    TablePolicy,
)

__all__ = ["first_fault"]

_GUIDE: Final = "See docs/guides/command-line.md."
_SECTIONS: Final[dict[str, type[Part]]] = {
    "table": TablePolicy,
    "method": MethodPolicy,
    "output": OutputPolicy,
    "key": KeyPolicy,
}
_SENSITIVE_DEPTH: Final = 2


def first_fault(error: ValidationError, policy: type[Part]) -> ParameterError:
    """The first thing that is wrong."""
    first = error.errors(include_url=False, include_input=False)[0]
    path = [str(part) for part in first["loc"]]
    key = ".".join(path) or "the file"
    if first["type"] == "missing":
        return ParameterError("policy", key, "must be given", hint=_GUIDE)
    if first["type"] == "extra_forbidden":
        known = ", ".join(_section(path[:-1], policy).model_fields)
        return ParameterError("policy", f"{key} is not a key of a policy", hint=f"Known there are {known}.")
    return ParameterError("policy", f"{key} breaks its rule: {first['msg'][0].lower()}{first['msg'][1:]}")


def _section(path: list[str], policy: type[Part]) -> type[Part]:
    if path and path[0] == "sensitive":
        return BinsPolicy if path[-1] == "bins" and len(path) > _SENSITIVE_DEPTH else SensitivePolicy
    return _SECTIONS.get(path[0], policy) if path else policy
