"""The diseases of the patients table: their tree, and how likely each is at an age and sex.

Codes, labels and numbers were made up for this package. They look like a hospital's coding scheme and behave roughly
as one would expect (heart disease comes with age, asthma in youth), but they are not epidemiology.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray

__all__ = ["AGE_EDGES", "DISEASES", "ROOT", "SEXES", "Disease", "PatientsTruth", "patients_truth"]

ROOT: Final = "any disease"
AGE_EDGES: Final = (0, 10, 20, 40, 60, 80, 100)
SEXES: Final = ("female", "male")

_CHAPTERS: Final = {
    "A": "A infections",
    "C": "C heart and vessels",
    "E": "E hormones and metabolism",
    "M": "M mind and behavior",
    "N": "N cancers",
    "R": "R lungs and airways",
}
_BLOCKS: Final = {
    "A1": "A1 infections of the gut",
    "A2": "A2 lasting infections",
    "C1": "C1 heart",
    "C2": "C2 blood vessels",
    "E1": "E1 diabetes",
    "E2": "E2 other glands",
    "M1": "M1 mood",
    "M2": "M2 anxiety and dependence",
    "N1": "N1 breast and skin",
    "N2": "N2 lung and bowel",
    "R1": "R1 short-lived",
    "R2": "R2 lasting",
}


@dataclass(frozen=True)
class Disease:
    """One leaf of the tree.

    `weights` are relative frequencies among men in the age bands of `AGE_EDGES`; `female_factor` multiplies
    them for women.
    """

    code: str
    label: str
    weights: tuple[float, float, float, float, float, float]
    female_factor: float

    @property
    def value(self) -> str:
        """The cell of the table: code and label."""
        return f"{self.code} {self.label}"

    @property
    def row(self) -> tuple[str, str, str, str]:
        """The path from the leaf to the root."""
        return self.value, _BLOCKS[self.code[:2]], _CHAPTERS[self.code[0]], ROOT


DISEASES: Final = (
    Disease("A11", "norovirus", (14, 9, 4, 3, 2, 3), 1.0),
    Disease("A12", "salmonella", (7, 5, 3, 2, 1.5, 1), 0.9),
    Disease("A21", "HIV", (0.1, 0.3, 4, 4, 1, 0.2), 0.3),
    Disease("A22", "tuberculosis", (0.4, 0.5, 1.5, 1.5, 2, 2.5), 0.6),
    Disease("C11", "heart failure", (0.3, 0.2, 0.6, 4, 13, 24), 0.9),
    Disease("C12", "heart attack", (0.01, 0.1, 0.8, 8, 11, 9), 0.45),
    Disease("C13", "irregular heartbeat", (0.4, 0.4, 1.2, 4, 9, 13), 0.8),
    Disease("C21", "high blood pressure", (0.1, 0.3, 4, 14, 16, 12), 1.0),
    Disease("C22", "stroke", (0.05, 0.1, 0.6, 3, 8, 12), 0.8),
    Disease("E11", "type 1 diabetes", (6, 6, 4, 2, 1, 0.4), 0.9),
    Disease("E12", "type 2 diabetes", (0.1, 0.4, 2.5, 10, 12, 8), 0.7),
    Disease("E21", "underactive thyroid", (0.6, 0.8, 1.2, 1.5, 1.5, 1.2), 4.5),
    Disease("M11", "depression", (0.5, 6, 11, 9, 4, 3), 1.7),
    Disease("M12", "bipolar disorder", (0.02, 1, 4, 3, 1, 0.4), 1.1),
    Disease("M21", "anxiety disorder", (2, 8, 10, 6, 2.5, 1.5), 1.8),
    Disease("M22", "alcohol dependence", (0.01, 1, 8, 9, 3, 0.6), 0.35),
    Disease("N11", "breast cancer", (0.001, 0.01, 0.02, 0.06, 0.1, 0.1), 70.0),
    Disease("N12", "skin cancer", (0.1, 0.2, 1.5, 3, 5, 5), 0.9),
    Disease("N21", "lung cancer", (0.02, 0.05, 0.3, 3, 8, 5), 0.6),
    Disease("N22", "bowel cancer", (0.02, 0.05, 0.5, 3, 7, 7), 0.75),
    Disease("R11", "influenza", (18, 14, 8, 6, 5, 7), 1.0),
    Disease("R12", "pneumonia", (9, 7, 3, 3, 7, 15), 0.8),
    Disease("R21", "asthma", (20, 18, 8, 4, 2.5, 1.5), 1.1),
    Disease("R22", "chronic bronchitis", (0.2, 0.3, 1, 5, 11, 10), 0.7),
)


@dataclass(frozen=True)
class PatientsTruth:
    """The probabilities that `patients` draws from.

    `probabilities` holds P(disease | age band, sex) in the shape (bands, sexes, diseases); it sums to 1 over diseases,
    and is read-only. A band holds ``low <= age < high`` for two neighboring `age_edges`.
    """

    age_edges: tuple[int, ...]
    sexes: tuple[str, ...]
    diseases: tuple[str, ...]
    probabilities: FloatArray


@cache
def patients_truth() -> PatientsTruth:
    """Return the probabilities that `patients` draws diseases from.

    Within an age band and a sex, the disease depends on neither age, zip code nor job.

    Examples
    --------
    >>> truth = patients_truth()
    >>> truth.probabilities.shape
    (6, 2, 24)
    >>> most_likely = truth.probabilities[0, truth.sexes.index("male")].argmax()
    >>> truth.diseases[most_likely]
    'R21 asthma'
    """
    men = np.array([disease.weights for disease in DISEASES], dtype=np.float64).T
    women = men * np.array([disease.female_factor for disease in DISEASES])
    weights = np.stack([women, men], axis=1)
    probabilities = weights / weights.sum(axis=2, keepdims=True)
    probabilities.flags.writeable = False
    return PatientsTruth(AGE_EDGES, SEXES, tuple(disease.value for disease in DISEASES), probabilities)
