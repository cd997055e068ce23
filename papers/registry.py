"""The papers whose evaluations are rerun, by number."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final

import ldiversity as ld
from ldiversity.base.checks import name_some
from papers.exhibits import Study

__all__ = ["STUDIES", "choose_papers", "load_study"]

STUDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "000": "paper_000.study:Paper000",
        "002": "paper_002.study:Paper002",
        "003": "paper_003.study:Paper003",
        "004": "paper_004.study:Paper004",
        "001": "paper_001.study:Paper001",
    }
)
"""Where the study of each paper stands: a module of this package, and the class in it."""


def load_study(paper: str) -> Study:
    """Import the study of a paper."""
    module, _, name = STUDIES[paper].partition(":")
    study: Study = getattr(import_module(f"papers.{module}"), name)()
    return study


def choose_papers(papers: str | list[str] | tuple[str, ...]) -> tuple[str, ...]:
    """Return the numbers of the papers that were asked for, each once; ``"all"`` stands for all of them.

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
        raise ld.ParameterError(f"papers must be 'all' or some of {name_some(list(STUDIES))}", got=name_some(wrong))
    return tuple(STUDIES) if "all" in asked else tuple(dict.fromkeys(asked))
