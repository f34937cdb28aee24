"""Runs FOLDER's artifact once in the emulator."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from ascendflow.backends.emulator import run

IMPORTED = (onnx, onnxruntime)  # not counted, as it is not of the plain run

folder = Path(sys.argv[1])
feeds = {"image": np.load(folder / "image.npy")}
start = time.perf_counter()
outputs = list(run.infer(folder / "emulated", [feeds], threads=os.cpu_count() or 1))
print(json.dumps({"seconds": time.perf_counter() - start, "outputs": len(outputs)}))
