"""Tables to try things on: generators with a known truth, the papers' examples, and UCI Adult."""

from ldiversity.datasets._adult import adult
from ldiversity.datasets._diseases import DISEASES, Disease, PatientsTruth, patients_truth
from ldiversity.datasets._income import INCOME_EDGES, income, income_domain, income_truth
from ldiversity.datasets._papers import hospital, obesity
from ldiversity.datasets._patients import patients, patients_tree, write_patients

__all__ = [
    "DISEASES",
    "INCOME_EDGES",
    "Disease",
    "PatientsTruth",
    "adult",
    "hospital",
    "income",
    "income_domain",
    "income_truth",
    "obesity",
    "patients",
    "patients_tree",
    "patients_truth",
    "write_patients",
]
