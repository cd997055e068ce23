"""What a table would give away, before it is published."""

from ldiversity.publish._screening._people import with_regions
from ldiversity.publish._screening._screen import Screening, check_confirm, screen

__all__ = ["Screening", "check_confirm", "screen", "with_regions"]
