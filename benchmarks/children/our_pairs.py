"""Compares the first COUNT pairs of FOLDER on THREADS threads."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from ascendflow.metrics.nodes import NodeTable, Origin

folder, threads, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
names = sorted(path.name for path in (folder / "golden").iterdir())[:count]
start, size = time.perf_counter(), 0
with ThreadPoolExecutor(threads) as pool:
    table = NodeTable(pool.map if threads > 1 else map)
    for name in names:
        golden, target = (
            np.load(folder / side / name, mmap_mode="r") for side in ("golden", "target")
        )
        size += golden.nbytes + target.nbytes
        table.add(name, golden, target)
seconds = time.perf_counter() - start
rows = table.result([Origin(name, name, "", ()) for name in names], {})
digest = hashlib.sha256(json.dumps(rows).encode()).hexdigest()
said = {"seconds": seconds, "bytes": size, "pairs": len(rows), "sha256": digest}
print(json.dumps(said))
