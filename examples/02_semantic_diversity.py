"""Show why three values are not enough when all three are alike: (l, d)-semantic diversity.

Run: python examples/02_semantic_diversity.py
"""

from __future__ import annotations

import math

import ldiversity as ld

N_RECORDS = 5000


def main() -> None:
    """Compare sets of any three diseases with sets of three diseases from different chapters."""
    patients = ld.datasets.patients(N_RECORDS)
    disease = ld.Sensitive("disease", domain=ld.datasets.patients_truth().diseases)
    tree = ld.TreeDistance(ld.datasets.patients_tree())
    methods = {
        "any three diseases": ld.RandomizedAddition(l=3),
        "from three blocks (d=2)": ld.SemanticDiversity(l=3, d=2, distance=tree),
        "from three chapters (d=3)": ld.SemanticDiversity(l=3, d=3, distance=tree),
    }
    # The first letter of a disease code is its chapter: C is heart and vessels, M is mind and behavior.
    print(f"{'':26} {'two of a':>9} {'all of a':>9} {'worst':>10} {'error of':>9}")
    print(f"{'published sets':26} {'chapter':>9} {'chapter':>9} {'posterior':>10} {'a share':>9}")
    for name, method in methods.items():
        release = ld.anonymize(patients, quasi=["age", "sex"], sensitive=disease, method=method)
        chapters = [len({value[0] for value in values}) for values in release.table["disease"].to_pylist()]
        mechanism = release.drawn_by("disease")
        error = math.sqrt(mechanism.expected_mse(N_RECORDS))
        print(
            f"{name:26} {sum(count < 3 for count in chapters) / N_RECORDS:9.1%}"
            f" {sum(count == 1 for count in chapters) / N_RECORDS:9.1%}"
            f" {mechanism.worst_posterior():10.1%} {error:9.2%}"
        )
    print(
        "\nA set within one chapter reveals that chapter for certain, although it names three diseases."
        "\nThe worst posterior is for someone to whom all diseases were equally likely before."
    )


if __name__ == "__main__":
    main()
