"""Write the table of methods and engines in docs/scale.md: `python tools/engines_table.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ldiversity.methods import METHODS, GroupingMethod

__all__ = ["engines_table", "with_table"]

FILE: Final = Path(__file__).parents[1] / "docs" / "scale.md"
BEGIN: Final = "<!-- methods and engines: written by tools/engines_table.py -->\n"
END: Final = "<!-- end -->\n"


def engines_table() -> str:
    """One row for each method: where it runs, and whether it does so within a limit of memory."""
    lines = ["| method | one machine | with `memory=` | Spark |", "|---|---|---|---|"]
    for name in sorted(METHODS):
        method = METHODS[name]
        whole = issubclass(method, GroupingMethod) and method.parts is None
        said = ["yes" if "local" in method.engines else "no", "no" if whole else "yes"]
        said.append("yes" if "spark" in method.engines else "no")
        lines.append(f"| {name} | {' | '.join(said)} |")
    return "\n".join(lines) + "\n"


def with_table(text: str) -> str:
    """The page with the table as it is now."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{engines_table()}{END}{after}"


if __name__ == "__main__":
    FILE.write_text(with_table(FILE.read_text(encoding="utf-8")), encoding="utf-8")
