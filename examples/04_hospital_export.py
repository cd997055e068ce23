"""Write an export as hospitals have them: for the guide docs/guides/before-you-publish.md. All people are made up.

Semicolons, Windows letters, two lines above the names of the columns, European dates, decimal commas, several rows of
some patients, and columns that nobody should publish. The same file each time.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FILE = Path("admissions.csv")
PATIENTS = 900
FIRST = ("Anna", "Björn", "Clara", "David", "Emma", "Felix", "Greta", "Hugo", "Ida", "Jonas", "Käthe", "Lukas")
LAST = ("Adler", "Böhm", "Conrad", "Dorn", "Ebert", "Fuchs", "Groß", "Huber", "Jäger", "Krüger", "Lang", "Müller")
DIAGNOSES = {
    "Heart failure": ("I50", 0.22),
    "Pneumonia": ("J18", 0.18),
    "Hip fracture": ("S72", 0.15),
    "Stroke": ("I63", 0.13),
    "Diabetes": ("E11", 0.12),
    "Sepsis": ("A41", 0.08),
    "Depression": ("F32", 0.07),
    "Alcohol dependence": ("F10", 0.05),
}
WARDS = ("Medicine A", "Medicine B", "Surgery", "Geriatrics")
NOTES = ("lives alone", "daughter called", "allergic to penicillin", "second stay this year", "speaks little German")


def main() -> None:
    """Draw patients and their stays, and write the export."""
    drawn = np.random.default_rng(2026)
    names, shares = list(DIAGNOSES), np.array([share for _, share in DIAGNOSES.values()])
    lines = []
    for patient in range(PATIENTS):
        name = f"{drawn.choice(LAST)}, {drawn.choice(FIRST)}"
        born = np.datetime64("1930-01-01") + int(21_900 * drawn.beta(1.5, 1.8))  # until 1989
        sex, code = drawn.choice(["F", "M"]), f"{80331 + int(drawn.integers(0, 24)) * 7}"
        weight = drawn.normal(78, 14)
        for _ in range(1 + int(drawn.random() < 0.3) + int(drawn.random() < 0.1)):
            diagnosis = names[drawn.choice(len(names), p=shares)]
            admitted = np.datetime64("2025-01-01") + int(drawn.integers(0, 365))
            written = diagnosis.upper() if drawn.random() < 0.03 else diagnosis  # typed by hand
            note = f"{drawn.choice(NOTES)}; bed {drawn.integers(100, 999)}, {drawn.choice(NOTES)}"
            lines.append(
                [
                    f"P{10_000 + patient}", name, european(born), sex, code, european(admitted),
                    drawn.choice(WARDS), f"{weight:.1f}".replace(".", ","), written, DIAGNOSES[diagnosis][0],
                    f'"{note}"',
                ]
            )  # fmt: skip
    head = "patient_no;name;born;sex;zip;admitted;ward;weight;diagnosis;icd;notes"
    rows = [";".join(map(str, lines[place])) for place in drawn.permutation(len(lines))]
    text = "\n".join(["Export of the admission system;2025", "All wards;confidential", head, *rows]) + "\n"
    FILE.write_bytes(text.encode("cp1252"))
    print(f"Wrote {FILE}: {len(rows):,} stays of {PATIENTS} patients.")
    print("It is in the encoding cp1252, with 2 lines above the names of the columns,")
    print("with dates such as 31.01.2025 and decimals such as 71,5.")
    print("Read on in docs/guides/before-you-publish.md.")


def european(day: np.datetime64) -> str:
    """Write a day as 31.01.2025."""
    year, month, of_month = str(day).split("-")
    return f"{of_month}.{month}.{year}"


if __name__ == "__main__":
    main()
