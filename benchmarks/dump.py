"""Dump and compare every node of two runs of a network: ours against Polygraphy.

`python -m benchmarks.dump`. Whole processes, start-up included. Polygraphy runs the same
model twice in onnxruntime; ours runs it once there, and once in the emulator as float16.
"""

from __future__ import annotations

from functools import partial

from benchmarks.child import interleaved, network, peak_mb, run, seconds, work
from benchmarks.peers import PeerError, not_measured, peer
from benchmarks.row import Row, table

ROUNDS = 3
CLAIM = "dump and compare both sides / polygraphy run"


def measure() -> list[Row]:
    """Measure time and peak memory against Polygraphy's."""
    with network() as (folder, made):
        try:
            polygraphy = str(peer("polygraphy") / "polygraphy")
        except PeerError as error:
            return [
                not_measured(CLAIM, 1 / 4, "x", error),
                not_measured(f"{CLAIM}, peak memory", 0.4, "x", error),
            ]
        model = str(folder / "pan.onnx")
        flags = ["--onnxrt", "--onnxrt", "--onnx-outputs", "mark", "all"]
        theirs = partial(run, [polygraphy, "run", model, *flags])
        runs = interleaved([partial(work, "both_sides", folder), theirs], ROUNDS)
    # Polygraphy says nothing of its own time, and ours is to count start-up too.
    times = [seconds(side) for side in runs]
    peaks = [peak_mb(side) for side in runs]
    nodes = f"{made.said['nodes']} nodes, {runs[0][0].said['compared']} compared"
    least = [min(ran.seconds for ran in side) for side in runs]
    detail = (
        f"{times[0]:.1f} s against {times[1]:.1f} s, {nodes}, {ROUNDS} rounds; "
        f"of the least {least[0] / least[1]:.2f} x"
    )
    memory = f"{peaks[0]:.0f} MB against {peaks[1]:.0f} MB"
    return [
        Row(CLAIM, times[0] / times[1], 1 / 4, "x", detail),
        Row(f"{CLAIM}, peak memory", peaks[0] / peaks[1], 0.4, "x", memory),
    ]


if __name__ == "__main__":
    print(table(measure()))
