"""An emulated run and a dump of every node, against a plain run in onnxruntime.

`python -m benchmarks.running`. All three on as many threads as there are, optimisation off,
the session's creation included, imports not. Peaks are of whole processes.
"""

from __future__ import annotations

from functools import partial

from benchmarks.child import interleaved, network, peak_mb, seconds, work
from benchmarks.row import Row, table

ROUNDS = 7


def measure() -> list[Row]:
    """Measure the emulated run, and time and peak memory of the dump."""
    with network() as (folder, made):
        calls = ("plain_run", "emulated_run", "golden_dump")
        runs = interleaved([partial(work, call, folder) for call in calls], ROUNDS)
    plain, emulated, dump = (seconds(side) for side in runs)
    least = [min(ran.said["seconds"] for ran in side) for side in runs]
    peaks = [peak_mb(side) for side in runs]
    said = runs[2][0].said
    rounds = f"{made.said['nodes']} nodes, {ROUNDS} rounds; of the least"
    return [
        Row(
            "emulated run / plain run",
            emulated / plain,
            1.3,
            "x",
            f"{emulated:.2f} s against {plain:.2f} s, {rounds} {least[1] / least[0]:.2f} x",
        ),
        Row(
            "golden dump / plain run",
            dump / plain,
            max(2, 0.5 / plain),
            "x",
            f"{dump:.2f} s against {plain:.2f} s, {said['tensors']} tensors of "
            f"{said['bytes'] / 1e6:.0f} MB, {rounds} {least[2] / least[0]:.2f} x",
        ),
        Row(
            "golden dump / plain run, peak memory",
            peaks[2] / peaks[0],
            1,
            "x",
            f"{peaks[2]:.0f} MB against {peaks[0]:.0f} MB",
        ),
    ]


if __name__ == "__main__":
    print(table(measure()))
