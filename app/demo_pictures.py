"""The demo's data: two photographs that scikit-learn ships, cut into JPEG files, a folder per class."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from ..profiler.errors import UsageError

TILE_PX = 320
#: From one tile to the next; tiles overlap, as two photographs hold few of this size side by side.
STRIDE_PX = 16
JPEG_QUALITY = 90


def make_pictures(folder: Path) -> int:
    """Cut the photographs into ``folder``, unless there are pictures in it; returns the number of pictures there.

    Raises:
        UsageError: Pillow or scikit-learn is not installed, or the folder cannot be written.
    """
    if not _count(folder):
        _make_whole(folder)
    return _count(folder)


def _count(folder: Path) -> int:
    return sum(1 for _ in folder.glob("*/*.jpg"))


def _make_whole(folder: Path) -> None:
    """Moved in place once all is cut: a demo that was broken off leaves no half of a data set."""
    partial = folder / ".part"
    shutil.rmtree(partial, ignore_errors=True)
    try:
        for name, photograph in _photographs():
            (partial / name).mkdir(parents=True)
            _cut(photograph, partial / name)
        for part in sorted(partial.iterdir()):
            part.replace(folder / part.name)
        partial.rmdir()
    except OSError as error:
        raise UsageError(
            f"cannot write the pictures to {folder}: {error.strerror}: choose another place with --data DIR"
        ) from None


def _photographs() -> list[tuple[str, Any]]:
    """Name and Pillow image of each photograph."""
    try:
        from PIL import Image
        from sklearn.datasets import load_sample_images
    except ImportError as error:
        raise UsageError(
            f"the demo needs {error.name}, which is not installed: pip install 'trainrx[demo]'"
        ) from None
    bunch: Any = load_sample_images()
    names = [Path(name).stem for name in bunch.filenames]
    return [(name, Image.fromarray(pixels)) for name, pixels in zip(names, bunch.images, strict=True)]


def _cut(photograph: Any, folder: Path) -> None:
    width, height = photograph.size
    corners = [
        (left, top)
        for top in range(0, height - TILE_PX + 1, STRIDE_PX)
        for left in range(0, width - TILE_PX + 1, STRIDE_PX)
    ]
    for number, (left, top) in enumerate(corners):
        tile = photograph.crop((left, top, left + TILE_PX, top + TILE_PX))
        tile.save(folder / f"{number:04d}.jpg", quality=JPEG_QUALITY)
