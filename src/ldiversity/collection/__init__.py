"""Collecting answers so that no true value leaves the device: surveys, devices, the collector's server and storage.

`Device` answers surveys from Python; `SignedSurvey` and `Survey` are what is asked. Names are loaded when they are
first used: to answer needs neither arrays nor a web server nor a database.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ldiversity.collection.device import Device as Device
    from ldiversity.collection.survey import SignedSurvey as SignedSurvey
    from ldiversity.collection.survey import Survey as Survey

__all__ = ["Device", "SignedSurvey", "Survey"]

_HOMES = {"Device": "device", "SignedSurvey": "survey", "Survey": "survey"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public object
    if name not in _HOMES:
        raise AttributeError(f"module 'ldiversity.collection' has no attribute {name!r}")
    loaded = getattr(import_module(f"ldiversity.collection.{_HOMES[name]}"), name)
    globals()[name] = loaded
    return loaded


def __dir__() -> list[str]:
    return __all__
