"""Lints a model of 1 GB with external data, made in FOLDER, as the command does."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from ascendflow.cann.survey import survey
from benchmarks.children.large import DATA, used, write

TARGET = {"cann": "8.1", "soc_version": "Ascend310P3", "precision_mode": "force_fp16"}

source = write(Path(sys.argv[1]))
before = used()
start = time.perf_counter()
found = survey(source, TARGET)
seconds = time.perf_counter() - start
after = used()
given = ["--cann", TARGET["cann"], "--soc", TARGET["soc_version"]]
command = [sys.executable, "-m", "ascendflow.cli", "lint", str(source), *given]
start = time.perf_counter()
done = subprocess.run(command, capture_output=True, check=False)
whole = time.perf_counter() - start
assert done.returncode == 1, done.stderr  # noqa: S101  or nothing was linted
print(
    json.dumps(
        {
            "seconds": seconds,
            "command_seconds": whole,
            "found": len(found["findings"]),
            "grown_mb": (after[0] - before[0]) / 1024,
            "read_mb": (after[1] - before[1]) / 1e6,
            "data_mb": (source.with_name(DATA).stat().st_size) / 1e6,
        }
    )
)
