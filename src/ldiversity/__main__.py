"""``python -m ldiversity`` is the command ``ldiversity``, for systems where scripts are not on the path."""

from __future__ import annotations

from ldiversity.faces.cli import main

if __name__ == "__main__":
    main()
