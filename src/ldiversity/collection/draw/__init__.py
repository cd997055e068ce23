"""Hiding one answer on a device, in whole numbers: one file per rule. Nothing here knows of surveys or networks."""

from __future__ import annotations

from ldiversity.collection.draw._base import Draw
from ldiversity.collection.draw._chain import ChainDraw
from ldiversity.collection.draw._choose import choose_draw, uniform_draw
from ldiversity.collection.draw._listed import MOST_SETS, ListedDraw
from ldiversity.collection.draw._partition import PartitionDraw
from ldiversity.collection.draw._weighted import WeightedDraw
from ldiversity.collection.draw._words import DeviceSecret

__all__ = [
    "MOST_SETS",
    "ChainDraw",
    "DeviceSecret",
    "Draw",
    "ListedDraw",
    "PartitionDraw",
    "WeightedDraw",
    "choose_draw",
    "uniform_draw",
]
