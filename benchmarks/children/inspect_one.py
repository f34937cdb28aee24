"""Inspects the OM of `large_om` in FOLDER, with its digests if WITH is `digests`."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from ascendflow.om.inspection import inspect_om
from benchmarks.children.large_om import FILE, OPERATORS

source, digests = Path(sys.argv[1]) / FILE, sys.argv[2] == "digests"
start = time.perf_counter()
found = inspect_om(source, digests=digests)
seconds = time.perf_counter() - start
assert found["om"] is not None  # noqa: S101  or nothing was inspected
(model,) = found["om"]["models"]
assert sum(model["graphs"][0]["operators"].values()) == OPERATORS  # noqa: S101
assert (found["normalised_sha256"] is not None) == digests  # noqa: S101
size = model["partitions"][0]["size"] / 1e6
print(json.dumps({"seconds": seconds, "definition_mb": size}))
