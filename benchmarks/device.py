"""What is read of a device: planes turned back to NCHW, and the tools' table judged.

`python -m benchmarks.device`. Both take one thread, so what is counted is its CPU time.
"""

from __future__ import annotations

import statistics
import tempfile

from benchmarks.child import work
from benchmarks.row import Row, table


def measure() -> list[Row]:
    """Measure the slowest of some sizes, and the median for 10,000 rows."""
    with tempfile.TemporaryDirectory() as scratch:
        said = work("read_device", scratch).said
    detail = ", ".join(f"{one['of']} {1000 / one['ms']:.1f} GB/s" for one in said["turned"])
    slowest = max(one["ms"] for one in said["turned"])
    judged = [seconds * 1000 for seconds in said["judged"]]
    least = f"least {min(judged):.0f} ms, {len(judged)} rounds"
    return [
        Row("NC1HWC0 to NCHW, 1 GB, the slowest of six sizes", slowest, 1000, "ms", detail),
        Row(
            "msprobe's table, 10,000 rows judged",
            statistics.median(judged),
            200,
            "ms",
            least,
        ),
    ]


if __name__ == "__main__":
    print(table(measure()))
