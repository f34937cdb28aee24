"""Rewrites one attribute in a model of 1 GB with external data, made in FOLDER."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import onnx_ir

from ascendflow.graph.rewrite import Request, rewrite
from benchmarks.children.large import DATA, used, write

IMPORTED = (onnx_ir,)  # as a stage's start has done before

source = write(Path(sys.argv[1]))
before = used()
start = time.perf_counter()
made = rewrite(source, source.with_name("edited.onnx"), [Request("resize-half-pixel")])
seconds = time.perf_counter() - start
after = used()
print(
    json.dumps(
        {
            "seconds": seconds,
            "edited": len(made.log["rules"][0]["applied"]),
            "grown_mb": (after[0] - before[0]) / 1024,
            "read_mb": (after[1] - before[1]) / 1e6,
            "data_mb": (source.with_name(DATA).stat().st_size) / 1e6,
        }
    )
)
