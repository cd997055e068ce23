"""The package's messages, as the command line or a policy file spells their parameters."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Final

import click

from ldiversity.base.typed import join_levels, join_names, number_text
from ldiversity.catalog import CATALOG, OPTIONS
from ldiversity.sentences import Listed, Method, Options, Owner, Parameter, Setting, worded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ldiversity.sentences import Mention

__all__ = ["asks_for_json", "in_words", "mark_command", "mark_policy"]

_COMMAND: Final = "ldiversity.command"
"""The key under which the contexts of a run keep the command."""

_POLICY: Final = "ldiversity.policy"
"""The key under which they keep which options a policy file leaves to the command; None where there is no such file."""

_IN_POLICIES: Final = {"levels": "publish"}
"""Keys of policies that Python calls by another name, because `publish` is a verb there."""

_OF_TABLES: Final = {"types": "--type"}
"""Options of commands that read a table, which messages of other commands mention."""

_JSON: Final = "ldiversity.json"
"""The key under which they keep whether a program reads the output."""


def mark_command(ctx: click.Context, words: list[str]) -> None:
    """Say which command this is, so that messages speak of its options, and whether it was asked for JSON.

    The words are searched before click parses them, because a fault in them must be told in JSON too.
    """
    ctx.meta[_COMMAND] = ctx.command
    before = words[: words.index("--")] if "--" in words else words
    ctx.meta[_JSON] = any("--json" in one.opts for one in ctx.command.params) and "--json" in before


def asks_for_json() -> bool:
    """Whether the current command prints JSON."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get(_JSON))


def mark_policy(ctx: click.Context, options: Iterable[str]) -> None:
    """Say that a policy file holds the decisions of this command, so that messages speak of its keys.

    `options` are those about one run, which stay options of the command.
    """
    ctx.meta[_POLICY] = frozenset(options)


def in_words(text: str) -> str:
    """Say a text as users of the current command write what it mentions.

    Examples
    --------
    >>> from ldiversity.errors import InfeasibleError
    >>> from ldiversity.sentences import say
    >>> fault = InfeasibleError("Anatomy", "l", "must be at most 3 for 'BSGI'", got=4)
    >>> in_words(fault.message)
    "-l must be at most 3 for 'BSGI', got 4."
    >>> in_words(say("Use {}, or {}, or {}.", Setting("l", 3), Setting("types", ("zip", "text")), Method("MBF")))
    'Use -l 3, or --type zip=text, or mbf.'
    """
    ctx = click.get_current_context(silent=True)
    meta = {} if ctx is None else ctx.meta
    return worded(text, _Words(meta.get(_COMMAND), meta.get(_POLICY)).spell)


class _Words:
    """How one command, or its policy, writes what a sentence mentions."""

    def __init__(self, command: click.Command | None, beside_policy: frozenset[str] | None) -> None:
        parameters = [] if command is None else command.params
        self._options = {one.name: one for one in parameters if isinstance(one, click.Option)}
        self._owners: Mapping[str, str] = getattr(command, "owners", {})
        self._beside_policy = beside_policy

    def spell(self, mention: Mention) -> str:
        if isinstance(mention, Owner):
            return self._owner(mention.name)
        if isinstance(mention, Setting):
            return _in_policy(mention) if self._is_key(mention.name) else self._setting(mention)
        if isinstance(mention, Listed):
            return _list_in_policy(mention) if self._is_key(mention.name) else self._listed(mention)
        if isinstance(mention, Parameter):
            return self._written(mention.name) or mention.name
        if isinstance(mention, Options):
            return ", ".join(written for name in mention.names if (written := self._written(name)))
        return _method_name(mention.class_name) if isinstance(mention, Method) else mention.text

    def _is_key(self, name: str) -> bool:
        """Whether a policy says this parameter."""
        return self._beside_policy is not None and name not in self._beside_policy

    def _written(self, name: str) -> str | None:
        """A parameter as it is written here; None where there is no such option."""
        if self._is_key(name):
            return _IN_POLICIES.get(name, name)
        if name in self._options:
            return self._options[name].opts[0]
        written = OPTIONS[name].flag if name in OPTIONS else _OF_TABLES.get(name)
        return written and written.partition("/")[0]

    def _owner(self, name: str) -> str:
        option = self._options.get(self._owners.get(name, name.lower()))
        if option is not None and not self._is_key(str(option.name)):
            return f"{option.opts[0]}: "
        return "" if _is_python(name) else f"{name}: "

    def _listed(self, listed: Listed) -> str:
        return f"{self._written(listed.name) or f'--{listed.name}'} {shlex.quote(join_names(listed.columns))}"

    def _setting(self, setting: Setting) -> str:
        value = setting.value
        written = self._written(setting.name) or f"--{setting.name.replace('_', '-')}"
        if isinstance(value, bool):
            option = self._options.get(setting.name)
            opposite = [] if option is None else option.secondary_opts
            return written if value or not opposite else opposite[0]
        # As a shell takes it: a name with a blank is one word.
        return f"{written} {shlex.quote(_assigned(setting) if isinstance(value, tuple) else _plain(value))}"


def _list_in_policy(listed: Listed) -> str:
    return f"{listed.name} = [{', '.join(json.dumps(name, ensure_ascii=False) for name in listed.columns)}]"


def _method_name(class_name: str) -> str:
    return next((entry.name for entry in CATALOG.values() if entry.class_name == class_name), class_name)


def _is_python(name: str) -> bool:
    """Whether this is a name that a room of this package exports, which says nothing on the command line."""
    first, _, rest = name.partition(".")
    rooms = [module for path, module in list(sys.modules.items()) if _is_room(path)]
    owner = next((getattr(room, first) for room in rooms if first in getattr(room, "__all__", ())), None)
    return owner is not None and (not rest or hasattr(owner, rest))


def _is_room(path: str) -> bool:
    parts = path.split(".")
    return parts[0] == "ldiversity" and not any(part.startswith("_") or part in {"base", "faces"} for part in parts)


def _in_policy(setting: Setting) -> str:
    value = setting.value
    if isinstance(value, tuple):
        pairs = (f'"{column}" = {_quoted(one)}' for column, one in setting.pairs)
        return f"{_IN_POLICIES.get(setting.name, setting.name)} = {{ {', '.join(pairs)} }}"
    if isinstance(value, bool):
        return f"{setting.name} = {'true' if value else 'false'}"
    return f'{setting.name} = "{value}"' if isinstance(value, str) else f"{setting.name} = {_plain(value)}"


def _assigned(setting: Setting) -> str:
    """The values of columns as one word."""
    (_, first), *_ = setting.pairs
    if isinstance(first, str):
        return ",".join(f"{column}={value}" for column, value in setting.pairs)
    return join_levels({column: float(value) for column, value in setting.pairs})


def _quoted(value: str | float) -> str:
    return f'"{value}"' if isinstance(value, str) else _plain(value)


def _plain(value: str | float) -> str:
    return number_text(value) if isinstance(value, float) else str(value)
