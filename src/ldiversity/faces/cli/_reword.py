"""Messages of the package speak of Python arguments; here they are said in options, or in keys of a policy."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

import click

from ldiversity.catalog import CATALOG, OPTIONS

__all__ = ["mark_policy", "reword"]

_POLICY: Final = "ldiversity.publish"
"""Where the context of a command says that its decisions stand in a policy file."""

_OWNERS: Final = (
    *("open_source", "anonymize", "estimate", "plan", "describe", "audit", "check", "attack", "compare"),
    *("Sensitive", "Domain", "Schema", "BackgroundKnowledge", "Similarity", "DeFinetti"),
    *(entry.class_name for entry in CATALOG.values()),
    *("UniformSelection", "BalancedSelection", "SimpleSelection", "RingSelection"),
    *("OrderedDistance", "NumericDistance", "DiscreteDistance", "TreeDistance"),
    *("SemilatticeDistance", "MatrixDistance", "IcdDistance", r"Hierarchy(?:\.\w+)?", "automatic_hierarchy"),
)
"""Names in Python that stand before a message and say nothing on the command line."""

_OPTIONS: Final = {
    "data_format": "--format",
    "models": "--model",
    **{option.name: option.flag.partition("/")[0] for option in OPTIONS.values() if option.flag is not None},
}
"""How a parameter is written, where it is not its name after two dashes."""

_METHODS: Final = "|".join(CATALOG)
_CLASSES: Final = "|".join(entry.class_name for entry in CATALOG.values())
_FLAGGED: Final = "|".join(option.name for option in OPTIONS.values() if option.flag is not None)

_Rule: TypeAlias = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]


def _option(found: re.Match[str]) -> str:
    name = found["name"]
    return _OPTIONS.get(name, f"--{name.replace('_', '-')}") + " must"


def _flags(found: re.Match[str]) -> str:
    names = re.findall(r"'(\w+)'", found["names"])
    return ", ".join(str(OPTIONS[name].flag) for name in names if name in OPTIONS and OPTIONS[name].flag is not None)


_START: Final = r"(?P<before>^|(?<=: ))"
_SHARED: Final[tuple[_Rule, ...]] = (
    (re.compile(rf"{_START}(?:save_figure|plot_estimate): "), "--plot: "),
    (re.compile(rf"{_START}(?P<name>by|where): "), r"--\g<name>: "),
    (
        re.compile(rf"{_START}estimate: (?P<name>by|where|sensitive|estimator|confidence|min_records|spread) must"),
        _option,
    ),
    (re.compile(rf"{_START}(?:{'|'.join(_OWNERS)}): "), ""),
    (re.compile(rf"{_START}Bins: "), "bins: "),
    (re.compile(r"\ballow overwriting\b"), "give --overwrite"),
    (re.compile(r" and ordered=True\b"), ""),
    (re.compile(r"\bbins\(\) and groups\(\)"), "bins and groups in --by"),
    (re.compile(r"several attributes in sensitive\b"), "several attributes in --sensitive"),
)
_COMMAND: Final[tuple[_Rule, ...]] = (
    (re.compile(rf"{_START}anonymize: (?P<name>layout|data_format|quasi|sensitive|drop|plain) must"), _option),
    (re.compile(rf"{_START}(?:{_METHODS}|{_CLASSES}): (?P<name>{_FLAGGED}) must"), _option),
    (re.compile(rf"{_START}compare: (?P<name>quasi|methods|attacks|folder|queries) must"), _option),
    (re.compile(rf"{_START}compare: folder "), "--folder "),
    (re.compile(rf"{_START}attack: distance and d must"), "--distance and -d must"),
    (re.compile(rf"{_START}attack: (?P<name>sensitive|attacks|second|original) must"), _option),
    (re.compile(rf"{_START}audit: (?P<name>quasi|sensitive|models|population|joint_knowledge) must"), _option),
    (re.compile(rf"{_START}population: "), "--population: "),
    (re.compile(r"\b(?P<name>missing|spread)=(?P<mark>['\"])(?P<how>\w+)(?P=mark)"), r"--\g<name> \g<how>"),
    (re.compile(r"\bmarginals=True\b"), "--marginals"),
    (re.compile(r"\bby_(?P<kind>prefix|date|width|quantiles)\b"), r"\g<kind>"),
    (re.compile(rf"{_START}Report\.save: path "), "-o "),
    (re.compile(rf"{_START}Report\.save: "), "-o: "),
    (re.compile(rf"{_START}Report\.pictures: "), "--pictures: "),
    (re.compile(r"\btypes=\{(?P<mark>['\"])(?P<name>.+?)(?P=mark): '(?P<type>\w+)'\}"), r"--type \g<name>=\g<type>"),
    (re.compile(r"\bl or model must\b"), "-l or --model must"),
    (re.compile(r"(?<=\bIts options are )(?P<names>'[^.]*')(?=\.)"), _flags),
    (re.compile(rf"{_START}output: "), "-o: "),
    (re.compile(rf"{_START}record_id: "), "--record-id: "),
)
_IN_POLICY: Final[tuple[_Rule, ...]] = (
    (re.compile(r"\bmissing=(?P<mark>['\"])(?P<how>\w+)(?P=mark)"), r'missing = "\g<how>"'),
    (re.compile(r"\bmarginals=True\b"), "marginals = true"),
    (
        re.compile(r"\btypes=\{(?P<mark>['\"])(?P<name>.+?)(?P=mark): '(?P<type>\w+)'\}"),
        r'types = { "\g<name>" = "\g<type>" }',
    ),
    (re.compile(rf"{_START}record_id: "), "key.record_id: "),
)


_QUOTED: Final = re.compile(r"""((?<![\w=])'[^']*'|(?<![\w=])"[^"]*"|\w+\([^()]*\))""")
"""Names of columns and files stand in quotes, and stay as they are, as do objects."""

_CLASS: Final = re.compile(rf"\b(?P<name>{_CLASSES})\b(?!\()")
_SETTING: Final = re.compile(rf"\b(?P<name>{_FLAGGED})=(?P<mark>['\"]?)(?P<value>[\w:.-]*\w)(?P=mark)")
_NAME_OF: Final = {entry.class_name: entry.name for entry in CATALOG.values()}


def mark_policy(ctx: click.Context) -> None:
    """Say that the decisions of this command stand in a policy file, so that messages speak of its keys."""
    ctx.meta[_POLICY] = True


def reword(text: str, *, settings: bool = True) -> str:
    """Say a message of the package in the words of the command line.

    Parameters
    ----------
    text
        The message.
    settings
        Whether settings such as ``l=3`` are advice, to be said as they are typed.

    Examples
    --------
    >>> reword("disease: UniformSelection: l must be at most F - 1 = 2, got 3.")
    'disease: l must be at most F - 1 = 2, got 3.'
    >>> reword("audit: joint_knowledge must be left out for a release.")
    '--joint-knowledge must be left out for a release.'
    >>> reword("Use missing='drop', or open the table with types={'zip': 'text'}.")
    'Use --missing drop, or open the table with --type zip=text.'
    >>> reword("Use spread='uniform', or publish with marginals=True.")
    'Use --spread uniform, or publish with --marginals.'
    >>> reword("Anatomy: l must be at most 3 for 'BSGI', got 4. Use l=3, or overflow='suppress', or MBF.")
    "-l must be at most 3 for 'BSGI', got 4. Use -l 3, or --overflow suppress, or mbf."
    """
    context = click.get_current_context(silent=True)
    in_policy = context is not None and bool(context.meta.get(_POLICY))
    for pattern, said in (*(_IN_POLICY if in_policy else _COMMAND), *_SHARED):
        text = pattern.sub(said, text)
    if not settings:
        return text
    parts = _QUOTED.split(text)
    parts[::2] = [_unquoted(part, in_policy=in_policy) for part in parts[::2]]
    return "".join(parts)


def _unquoted(text: str, *, in_policy: bool) -> str:
    """Say classes as names of methods, and settings of options as they are written."""
    text = _SETTING.sub(_in_policy if in_policy else _on_command_line, text)
    return _CLASS.sub(lambda found: _NAME_OF[found["name"]], text)


def _on_command_line(found: re.Match[str]) -> str:
    option, value = OPTIONS[found["name"]], found["value"]
    flag, _, other = str(option.flag).partition("/")
    if option.kind == "switch":
        return flag if value == "True" else other
    return f"{flag} {value}"


def _in_policy(found: re.Match[str]) -> str:
    value = found["value"]
    quoted = f'"{value}"' if found["mark"] else value.lower() if value in {"True", "False"} else value
    return f"{found['name']} = {quoted}"
