"""Dumps both sides of the network as .npy files: FOLDER/golden and FOLDER/target."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from ascendflow.backends.emulator import run
from ascendflow.graph.dump import every_tensor

folder = Path(sys.argv[1])
feeds, threads = {"image": np.load(folder / "image.npy")}, os.cpu_count() or 1
dumps = {
    "golden": every_tensor(folder / "pan.onnx", feeds, threads=threads),
    "target": run.dump(folder / "emulated", feeds, threads=threads),
}
for side, dump in dumps.items():
    (folder / side).mkdir()
    for index, (_, tensor) in enumerate(dump):
        np.save(folder / side / f"{index:03d}.npy", tensor)
