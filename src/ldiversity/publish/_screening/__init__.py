"""What a table would give away, before it is published."""

from ldiversity.publish._screening._people import with_regions
from ldiversity.publish._screening._screen import Screening, screen

__all__ = ["Screening", "screen", "with_regions"]
