"""Turns planes of the device back, and judges a table of 10,000 rows made in FOLDER."""

from __future__ import annotations

import csv
import json
import sys
import time
from pathlib import Path

import numpy as np

from ascendflow.backends.cann.dump.layouts import restored
from ascendflow.backends.cann.dump.results import problems, read_results

NC1HWC0 = 3
ROWS = 10_000
SIZES = (
    ("float16", (1, 64, 512, 512), 16),
    ("float16", (8, 250, 56, 56), 16),
    ("float16", (16, 2048, 7, 7), 16),
    ("float32", (1, 60, 512, 512), 16),
    ("float32", (4, 256, 56, 56), 8),
    ("int8", (1, 64, 512, 512), 32),
)
"""Element type, shape of the origin, C0."""
COLUMNS = (
    *("Index", "OpType", "NPUDump", "DataType", "Address", "GroundTruth", "DataType"),
    *("TensorIndex", "Shape", "CosineSimilarity", "MaxAbsoluteError"),
    *("AccumulatedRelativeError", "RelativeEuclideanDistance"),
    *("KullbackLeiblerDivergence", "StandardDeviation", "MeanAbsoluteError"),
    *("RootMeanSquareError", "MaxRelativeError", "MeanRelativeError"),
    *("CompareFailReason", "IsNpuOps", "IsOutputNode", "IsPrecisionError"),
)


def turned() -> list[dict[str, object]]:
    """Time each size; the least of five, in CPU ms for 1 GB of what lies on the device."""
    told = []
    for kind, shape, c0 in SIZES:
        n, c, h, w = shape
        laid = np.ones((n, -(-c // c0), h, w, c0), kind)
        spent = []
        for _ in range(5):
            start = time.process_time()
            restored(laid, NC1HWC0, shape)
            spent.append(time.process_time() - start)
        size = laid.nbytes / 1e9
        told.append(
            {"of": f"{kind} {'x'.join(map(str, shape))}", "ms": min(spent) / size * 1e3}
        )
    return told


def judged(folder: Path) -> list[float]:
    """Time reading and judging the table, in CPU seconds, seven times."""
    rng = np.random.default_rng(0)
    with (folder / "result.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for number in range(ROWS):
            values = [f"{value:.6f}" for value in rng.random(9)]
            named = [str(number), "Conv2D", f"conv_{number}", "float16", "0x12"]
            golden = [f"conv_{number},relu_{number}", "float32", f"conv_{number}:output:0"]
            means = "(0.100;1.000),(0.101;1.001)"
            row = [*named, *golden, "[1,64,56,56]", *values[:5], means, *values[5:]]
            reason = "" if number % 10 else f"There is no golden for conv_{number}."
            writer.writerow([*row, reason, "NO", "NO", "YES"])
    spent = []
    for _ in range(7):
        start = time.process_time()
        count = sum(
            bool(problems(result)) for result in read_results(folder / "result.csv")
        )
        spent.append(time.process_time() - start)
        assert count > ROWS // 2, count  # noqa: S101  or nothing was judged
    return spent


print(json.dumps({"turned": turned(), "judged": judged(Path(sys.argv[1]))}))
