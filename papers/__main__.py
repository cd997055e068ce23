"""``python -m papers``."""

from __future__ import annotations

from papers.command import main

if __name__ == "__main__":  # a process of the pool imports this module, and must not run it again
    main()
