"""What a publication costs: loss of detail, errors of queries and of distributions."""

from __future__ import annotations

from ldiversity.evaluation.measures._association import Kept, association_errors, coefficient_error, conditional_error
from ldiversity.evaluation.measures._axes import Axis, make_axis
from ldiversity.evaluation.measures._classes import (
    additional_loss,
    average_class_size,
    discernibility,
    hide_loss,
    suppression,
)
from ldiversity.evaluation.measures._classifier import classifier_accuracy
from ldiversity.evaluation.measures._counting import count_estimated, count_true, unmix
from ldiversity.evaluation.measures._distributions import distribution_mse, kl_divergence
from ldiversity.evaluation.measures._errors import squared_errors
from ldiversity.evaluation.measures._ncp import ncp, ncp_by_column
from ldiversity.evaluation.measures._original import Original, as_type, code_sensitive, read_columns
from ldiversity.evaluation.measures._workload import Query, QueryWorkload

__all__ = [
    "Axis",
    "Kept",
    "Original",
    "Query",
    "QueryWorkload",
    "additional_loss",
    "as_type",
    "association_errors",
    "average_class_size",
    "classifier_accuracy",
    "code_sensitive",
    "coefficient_error",
    "conditional_error",
    "count_estimated",
    "count_true",
    "discernibility",
    "distribution_mse",
    "hide_loss",
    "kl_divergence",
    "make_axis",
    "ncp",
    "ncp_by_column",
    "read_columns",
    "squared_errors",
    "suppression",
    "unmix",
]
