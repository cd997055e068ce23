"""What a publication costs: loss of detail, errors of queries and of distributions."""

from __future__ import annotations

from ldiversity.measures._classes import additional_loss, average_class_size, discernibility, hide_loss, suppression
from ldiversity.measures._distributions import distribution_mse, kl_divergence
from ldiversity.measures._ncp import ncp, ncp_by_column
from ldiversity.measures._workload import Query, QueryWorkload

__all__ = [
    "Query",
    "QueryWorkload",
    "additional_loss",
    "average_class_size",
    "discernibility",
    "distribution_mse",
    "hide_loss",
    "kl_divergence",
    "ncp",
    "ncp_by_column",
    "suppression",
]
