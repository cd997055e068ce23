"""The estimators by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ldiversity.estimation._auto import Auto
from ldiversity.estimation._base import Estimator
from ldiversity.estimation._existing import Existing
from ldiversity.estimation._linear import Linear
from ldiversity.estimation._map import MaximumPosterior
from ldiversity.estimation._mle import MaximumLikelihood
from ldiversity.estimation._naive import Naive
from ldiversity.estimation._paper import Paper
from ldiversity.estimation._simplex import Simplex

__all__ = ["ESTIMATORS"]

_KNOWN: Final = (Auto, Linear, MaximumLikelihood, MaximumPosterior, Simplex, Paper, Existing, Naive)

ESTIMATORS: Final[Mapping[str, Estimator]] = MappingProxyType({kind.name: kind() for kind in _KNOWN})
"""Every estimator, by the name under which users ask for it."""
