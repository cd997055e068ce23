"""A method with its options as they were given, so that a publication can be saved."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from ldiversity.base.checks import name_some
from ldiversity.base.typed import join_assignment, join_levels, number_text, split_levels, split_numbers
from ldiversity.catalog import OPTIONS, Option
from ldiversity.distances import Distance, distance_text, place_distance
from ldiversity.errors import ParameterError
from ldiversity.methods import METHODS, GroupingMethod, Method
from ldiversity.models import PrivacyModel, model_text, place_model
from ldiversity.sentences import Setting, say

__all__ = ["ChosenMethod", "choose_methods", "locate", "method_words", "relative", "shorten", "usual_method"]

_TEXT: Final = "bsgi:l=4"
_EXAMPLE: Final = Setting("method", "bsgi", python=f"method=ld.BSGI(l=4), or method={_TEXT!r}")

_OWNER: Final = "Publication"
_NEXT_OPTION: Final = re.compile(r",(?=\s*\w+=)")
_SWITCH: Final = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True)
class ChosenMethod:
    """A method, and the options from which it was made.

    Parameters
    ----------
    method
        The method.
    options
        Its options as they were given, with absolute paths of files. For a method that was given as an object, the
        options that are not at their defaults. Two choices are equal when their methods are.

    Examples
    --------
    >>> ChosenMethod.of("bsgi:l=4,weights=age=2").method
    BSGI(l=4, selection='near', effort=None, overflow='refuse', weights={'age': 2.0}, gap=None, swaps=None)
    >>> ChosenMethod.of("bsgi:l=4,weights=age=2").words
    ['--method', 'bsgi', '-l', '4', '--weight', 'age=2']
    """

    method: Method
    options: Mapping[str, object] = field(compare=False, repr=False)

    @classmethod
    def of(cls, given: object) -> ChosenMethod:
        """Take a method in any form: an object, or a text such as ``"bsgi:l=4"``."""
        if isinstance(given, ChosenMethod):
            return given
        if isinstance(given, Method):
            return cls(given, _own_options(given))
        if isinstance(given, str):
            name, _, texts = given.partition(":")
            return cls.named(name.strip(), _read_options(texts))
        raise ParameterError(_OWNER, "method", "must be a method or its text form", got=type(given).__name__).with_hint(
            say("For example {}.", _EXAMPLE)
        )

    @classmethod
    def named(cls, name: str, options: Mapping[str, object], folder: Path | None = None) -> ChosenMethod:
        """Make a method of the catalog; relative paths in its options start at `folder`."""
        if name not in METHODS:
            raise ParameterError(_OWNER, "method", f"must be one of {', '.join(METHODS)}", got=repr(name))
        given = {option: _single(option, value) for option, value in options.items() if value not in (None, ())}
        written = {option: _placed(option, value, lambda text: locate(text, folder)) for option, value in given.items()}
        # The method gets paths as users know them, because its messages show them.
        shown = {option: _placed(option, value, shorten) for option, value in written.items()}
        return cls(METHODS[name].from_options(shown), written)

    @property
    def name(self) -> str:
        """The method's name in the catalog."""
        return self.method.name

    @property
    def groups(self) -> bool:
        """Whether it groups records, for all sensitive columns together."""
        return isinstance(self.method, GroupingMethod)

    @property
    def rounds(self) -> bool:
        """Whether it publishes intervals that are not those of a hierarchy, so that their ends can be rounded."""
        if not isinstance(self.method, GroupingMethod):
            return False
        return self.method.layout == "generalized" and not self.method.needs_hierarchies

    @property
    def words(self) -> list[str] | None:
        """The options of the command line that ask for it; None when one cannot be written there."""
        return method_words(self.name, self.options)

    def to_dict(self, folder: Path) -> dict[str, Any]:
        """The options as a file in `folder` has them; `ParameterError` for an object without a file or text form."""
        return {name: self._saved(name, value, folder) for name, value in self.options.items()}

    def _saved(self, name: str, value: object, folder: Path) -> object:
        text = _text_form(_placed(name, value, lambda file: relative(file, folder)))
        if text is None:
            raise ParameterError(
                self.name, name, "must be a text, a number or the name of a file to be saved", got=type(value).__name__
            ).with_hint("Write it to a file, and name that file instead.")
        return text


def method_words(name: str, options: Mapping[str, object]) -> list[str] | None:
    """The options of the command line that ask for a method; None when one cannot be written there."""
    words = ["--method", name]
    for key, value in options.items():
        option = OPTIONS.get(key)
        written = None if option is None else _flag_words(option, _text_form(_placed(key, value, shorten)))
        if written is None:
            return None
        words += written
    return words


def usual_method(d: object) -> str:
    """The method that is meant when none is named: semantic with a least distance, else randomized addition."""
    return "randomized-addition" if d is None else "semantic"


def locate(file: str | os.PathLike[str], folder: Path | None = None) -> str:
    """The absolute path of a file, so that a publication means the same file in every working directory."""
    return os.path.abspath(Path(folder or Path(), file))  # noqa: PTH100 - links stay links


def shorten(file: str | os.PathLike[str]) -> str:
    """The path of a file as users know it: relative to the working directory, when it is below that."""
    try:
        return relative(file, Path.cwd())
    except FileNotFoundError:  # the working directory is gone
        return os.fspath(file)


def relative(file: str | os.PathLike[str], folder: Path) -> str:
    """The path of a file relative to a folder, when it is below it."""
    path = Path(file)
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


def _placed(name: str, value: object, place: Callable[[str], str]) -> object:
    """An option with the path of its file, if it has one, changed by `place`."""
    kind = OPTIONS[name].kind if name in OPTIONS else ""
    if kind == "distance" and isinstance(value, str):
        return place_distance(value, place)
    if kind == "model" and isinstance(value, str):
        return place_model(value, place)
    if kind == "model" and isinstance(value, list | tuple):
        return [_placed(name, one, place) for one in value]
    if kind == "file" and isinstance(value, str | os.PathLike):
        return Path(place(os.fspath(value)))
    return value


def _single(name: str, value: object) -> object:
    """A list of one value as that value, for options that may be given several times."""
    if not isinstance(value, list | tuple) or name not in OPTIONS or not OPTIONS[name].several:
        return value
    return value[0] if len(value) == 1 else list(value)


def _own_options(method: Method) -> dict[str, object]:
    """The options of a method that are not at their defaults."""
    values = {one.name: (getattr(method, one.name), one.default) for one in fields(method)}  # type: ignore[arg-type]
    return {
        name: value
        for name, (value, default) in values.items()
        if value is not None and (default is MISSING or value != default)
    }


def _text_form(value: object) -> Any:  # noqa: ANN401 - any value of a text file
    """An option as a text file has it; None for an object without a text form."""
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Distance | PrivacyModel):
        return distance_text(value) if isinstance(value, Distance) else model_text(value)
    if isinstance(value, Mapping):
        return dict(value) if all(isinstance(name, str) for name in value) else None
    if isinstance(value, Sequence):
        parts = [_text_form(one) for one in value]
        return None if None in parts else parts
    return None


def _flag_words(option: Option, value: Any) -> list[str] | None:  # noqa: ANN401 - what `_text_form` gives
    if option.flag is None or value is None:
        return None
    flag, _, no = option.flag.partition("/")
    if option.kind == "switch":
        return [flag if value else no]
    if isinstance(value, Mapping) and option.kind == "levels":
        return [flag, join_levels(value)]
    if isinstance(value, Mapping):
        texts = [f"{join_assignment(name)}={number_text(number)}" for name, number in value.items()]
        return [word for text in texts for word in (flag, text)]
    if isinstance(value, list):
        return [word for text in value for word in (flag, str(text))]
    return [flag, number_text(value) if isinstance(value, int | float) else value]


def _read_options(texts: str) -> dict[str, object]:
    """Read ``l=4,distance=tree:diseases.csv``; an option with several values is repeated."""
    found: dict[str, object] = {}
    for text in _NEXT_OPTION.split(texts) if texts else ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not value:
            raise ParameterError(
                _OWNER, "method", f"must be a name and options such as {_TEXT!r}", got=repr(text)
            ).with_hint(f"Known are {', '.join(METHODS)}.")
        new = _read_option(name, value)
        old = found.get(name)
        if old is None:
            found[name] = new
        elif isinstance(old, dict) and isinstance(new, dict):
            found[name] = {**old, **new}
        else:
            found[name] = [*(old if isinstance(old, list) else [old]), new]
    return found


def _read_option(name: str, text: str) -> object:
    kind = OPTIONS[name].kind if name in OPTIONS else "text"
    try:
        if kind == "integer":
            return int(text)
        if kind == "number":
            return float(text)
        if kind == "switch":
            return _SWITCH[text.lower()]
        if kind == "levels":
            return split_levels(text, name) if "=" in text else int(text)
    except (KeyError, ValueError):
        what = {"number": "a number", "switch": "true or false"}.get(kind, "an integer")
        raise ParameterError(_OWNER, "method", f"must have {what} for {name}", got=repr(text)) from None
    return split_numbers([text], name) if kind == "shares" else text


def choose_methods(given: object, names: Sequence[str]) -> ChosenMethod | dict[str, ChosenMethod]:
    """One method that groups, or one for each sensitive column."""
    if not isinstance(given, Mapping):
        chosen = ChosenMethod.of(given)
        if isinstance(chosen.method, GroupingMethod):
            chosen.method.check_names(names)
        return chosen if chosen.groups else dict.fromkeys(names, chosen)
    if set(given) != set(names):
        raise ParameterError(_OWNER, "method", "must name every sensitive column and no other").with_hint(
            f"Sensitive are {name_some(names)}."
        )
    by_column = {name: ChosenMethod.of(given[name]) for name in names}
    if any(chosen.groups for chosen in by_column.values()):
        raise ParameterError(
            _OWNER, "a method that groups records must serve all sensitive columns together"
        ).with_hint(
            say(
                "Give it alone, not by column, as in {}.", Setting("method", "anatomy", python="method=ld.Anatomy(l=3)")
            )
        )
    return by_column
