from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from ldiversity.pictures import save_figure
from papers.files import shrink_picture


def test_a_picture_gets_smaller_and_looks_the_same(tmp_path: Path) -> None:
    figure = Figure()
    axes = figure.subplots(1, 2)
    axes[0].plot(range(50), np.sin(range(50)))
    axes[1].imshow(np.arange(400).reshape(20, 20), cmap="Blues")
    path = save_figure(figure, tmp_path / "picture.png")
    size, before = path.stat().st_size, np.asarray(Image.open(path).convert("RGB"), dtype=int)

    shrink_picture(path)

    after = np.asarray(Image.open(path).convert("RGB"), dtype=int)
    assert path.stat().st_size < 0.6 * size
    assert after.shape == before.shape
    assert np.abs(after - before).mean() < 1
    assert np.abs(after - before).max() < 48
