"""The papers whose evaluations are rerun, by number."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final

from ldiversity.base.checks import name_some
from ldiversity.errors import ParameterError
from ldiversity.reproduction._base import Study

__all__ = ["STUDIES", "choose_papers", "load_study"]

STUDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "000": "_paper_000:Paper000",
        "002": "_paper_002:Paper002",
        "003": "_paper_003:Paper003",
        "004": "_paper_004:Paper004",
        "001": "_paper_001:Paper001",
    }
)
"""Where the study of each paper stands: a module of this room, and the class in it."""


def load_study(paper: str) -> Study:
    """Import the study of a paper."""
    module, _, name = STUDIES[paper].partition(":")
    study: Study = getattr(import_module(f"ldiversity.reproduction.{module}"), name)()
    return study


def choose_papers(papers: str | list[str] | tuple[str, ...]) -> tuple[str, ...]:
    """Give the numbers of the papers that were asked for, each once; ``"all"`` for all.

    Examples
    --------
    >>> choose_papers(["003", "000", "003"])
    ('003', '000')
    >>> choose_papers("all") == tuple(STUDIES)
    True
    """
    asked = [papers] if isinstance(papers, str) else list(papers)
    wrong = [paper for paper in asked if paper not in STUDIES and paper != "all"]
    if wrong or not asked:
        raise ParameterError(
            "reproduce", f"papers must be 'all' or some of {name_some(list(STUDIES))}", got=name_some(wrong)
        )
    return tuple(STUDIES) if "all" in asked else tuple(dict.fromkeys(asked))
