"""Makes the PNG files in `crops/`; was run once, and runs again to the same pixels.

Needs scikit-image, matplotlib and Pillow, which nothing else here does. Downloads nothing:
it reads files that the two packages ship. Sources and licences: README.md.

    python make_crops.py
"""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from PIL import Image

import png
from data import FOLDER

SIDE = 112
"""Height and width of every crop, in pixels."""

PHOTOGRAPHS = {
    "astronaut": ("skimage.data", "astronaut.png"),
    "camera": ("skimage.data", "camera.png"),
    "hopper": ("matplotlib", "mpl-data/sample_data/grace_hopper.jpg"),
}
"""name -> (package, file)."""

BOXES = {
    "astronaut": (
        (160, 30, 300, 170),
        (140, 0, 332, 192),
        (176, 72, 288, 184),
        (100, 0, 350, 250),
        (120, 40, 288, 208),
    ),
    "camera": ((150, 54, 310, 214), (110, 30, 330, 250)),
    "hopper": (
        (170, 120, 386, 336),
        (130, 20, 430, 320),
        (150, 60, 350, 260),
        (186, 140, 354, 308),
        (100, 0, 456, 356),
    ),
}
"""name -> squares around the face: left, top, right, bottom, in pixels."""


def main() -> None:
    """Cut each square out, scale it to `SIDE`, and write it."""
    FOLDER.mkdir(exist_ok=True)
    for name, (package, file) in PHOTOGRAPHS.items():
        with Image.open(str(files(package) / file)) as opened:
            photograph = opened.convert("RGB")
        for number, box in enumerate(BOXES[name], 1):
            crop = photograph.resize((SIDE, SIDE), Image.Resampling.LANCZOS, box)
            png.write(FOLDER / f"{name}-{number}.png", np.asarray(crop))


if __name__ == "__main__":
    main()
