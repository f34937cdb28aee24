"""Makes the PNG crops in `photos/`; was run once, and runs again to the same pixels.

Needs scikit-image, scikit-learn and Pillow, which nothing else here does. Downloads
nothing: it reads files that the two packages ship. Sources and licences: README.md.

    python make_photos.py
"""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from PIL import Image

import photos

SIZE = (384, 288)
"""Width and height of every crop, in pixels."""

CROPS = {
    "train": {
        "astronaut": ("skimage.data", "astronaut.png", (40, 0, 472, 324)),
        "brick": ("skimage.data", "brick.png", (0, 0, 384, 288)),
        "camera": ("skimage.data", "camera.png", (40, 40, 488, 376)),
        "chelsea": ("skimage.data", "chelsea.png", (30, 6, 414, 294)),
        "coffee": ("skimage.data", "coffee.png", (60, 10, 572, 394)),
        "gravel": ("skimage.data", "gravel.png", (64, 64, 448, 352)),
        "retina": ("skimage.data", "retina.jpg", (190, 320, 1214, 1088)),
    },
    "test": {
        "china": ("sklearn.datasets.images", "china.jpg", (40, 0, 600, 420)),
        "clock": ("skimage.data", "clock_motion.png", (8, 6, 392, 294)),
        "grass": ("skimage.data", "grass.png", (0, 0, 512, 384)),
        "rocket": ("skimage.data", "rocket.jpg", (40, 4, 600, 424)),
    },
}
"""split -> name -> (package, file, box as left, top, right, bottom; always 4:3)."""


def main() -> None:
    """Crops and scales each photograph down to `SIZE` and writes it."""
    for split, crops in CROPS.items():
        folder = photos.FOLDER / split
        folder.mkdir(parents=True, exist_ok=True)
        for name, (package, file, box) in crops.items():
            with Image.open(str(files(package) / file)) as image:
                crop = image.crop(box).resize(SIZE, Image.Resampling.LANCZOS)
            pixels = np.asarray(crop)
            photos.write(folder / f"{name}.png", pixels.reshape(SIZE[1], SIZE[0], -1))


if __name__ == "__main__":
    main()
