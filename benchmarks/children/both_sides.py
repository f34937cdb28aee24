"""Dumps every node of FOLDER's network and of its artifact, and compares them."""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from ascendflow.backends.emulator import run
from ascendflow.graph.dump import every_tensor
from ascendflow.graph.outline import outline
from ascendflow.graph.pairing import Paired, pair_by_name
from ascendflow.metrics.nodes import NodeTable, Origin

folder, threads = Path(sys.argv[1]), os.cpu_count() or 1
feeds = {"image": np.load(folder / "image.npy")}
with ThreadPoolExecutor(threads) as pool:
    table = NodeTable(pool.map)
    golden = every_tensor(folder / "pan.onnx", feeds, threads=threads)
    target = run.dump(folder / "emulated", feeds, threads=threads)
    for found in pair_by_name(golden, target):
        if isinstance(found, Paired):
            table.add(*found)
origins = [Origin(*produced) for produced in outline(folder / "pan.onnx").produced]
rows = table.result(origins, {})
(folder / "metrics.json").write_text(json.dumps(rows))
print(json.dumps({"compared": len(rows)}))
