"""Runs FOLDER's network once in onnxruntime, optimisation off."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime as ort

folder = Path(sys.argv[1])
feeds = {"image": np.load(folder / "image.npy")}
start = time.perf_counter()
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
options.intra_op_num_threads = os.cpu_count() or 1
session = ort.InferenceSession(
    str(folder / "pan.onnx"), options, providers=["CPUExecutionProvider"]
)
session.run(None, feeds)
print(json.dumps({"seconds": time.perf_counter() - start}))
