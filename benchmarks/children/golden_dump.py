"""Dumps every node of FOLDER's network, and keeps none."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from ascendflow.graph.dump import every_tensor

IMPORTED = (onnx, onnxruntime)  # not counted, as it is not of the plain run

folder = Path(sys.argv[1])
feeds = {"image": np.load(folder / "image.npy")}
start, tensors, size = time.perf_counter(), 0, 0
for _, tensor in every_tensor(folder / "pan.onnx", feeds, threads=os.cpu_count() or 1):
    tensors += 1
    size += tensor.nbytes
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "tensors": tensors, "bytes": size}))
