"""Compares all pairs of FOLDER with msaccucmp's ten algorithms, all pairs in one process.

Runs in the peer's environment, so it imports nothing of ours. As msaccucmp's own command
it reads each file whole and gives the algorithms flat arrays; they compute in float32.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import sys
import time
from pathlib import Path

import numpy as np

found = importlib.util.find_spec("msprobe")
assert found is not None  # noqa: S101
assert found.origin is not None  # noqa: S101
sys.path.insert(0, str(Path(found.origin).parent / "msaccucmp"))

from algorithm_manager.algorithm_manager import AlgorithmManager  # noqa: E402
from cmp_utils.utils_type import ShapeType  # noqa: E402

folder = Path(sys.argv[1])
arguments = {
    "shape_type": ShapeType.Tensor,
    "my_output_dump_file": "target",
    "ground_truth_dump_file": "golden",
}
with contextlib.redirect_stdout(io.StringIO()):
    manager = AlgorithmManager("", "all", "")
start, size, rows = time.perf_counter(), 0, []
for path in sorted((folder / "golden").iterdir()):
    golden, target = np.load(path), np.load(folder / "target" / path.name)
    size += golden.nbytes + target.nbytes
    row, problems = manager.compare(target.flatten(), golden.flatten(), arguments)
    if problems:
        raise SystemExit(f"{path.name}: {problems}")
    rows.append(row)
seconds = time.perf_counter() - start
algorithms = len(manager.get_result_title())
print(json.dumps({"seconds": seconds, "bytes": size, "algorithms": algorithms}))
