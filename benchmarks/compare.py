"""Ten metrics of every node of a network: ours against msaccucmp's, on the same .npy pairs.

`python -m benchmarks.compare`. Both are given native thread pools of one thread; start-up,
which is longer for msaccucmp, is not counted.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmarks.child import Ran, interleaved, network, peak_mb, run, seconds, work
from benchmarks.peers import ROOT, PeerError, not_measured, peer
from benchmarks.row import Row, table

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 3
EVERY = 1 << 20
PAIRS = "compare, ten metrics"


def measure() -> list[Row]:
    """Measure time against msaccucmp's on one and two threads, and peak memory."""
    with network() as (folder, _):
        work("write_pairs", folder)
        one, two = (partial(work, "our_pairs", folder, n, EVERY) for n in (1, 2))
        few = work("our_pairs", folder, 2, 20)
        try:
            script = str(ROOT / "benchmarks/children/msaccucmp_pairs.py")
            command = [str(peer("msaccucmp") / "python"), "-I", script, str(folder)]
        except PeerError as error:
            singles, pairs = interleaved([one, two], 1)
            rows = [
                not_measured(f"{PAIRS}, {said} / msaccucmp", limit, "x", error)
                for said, limit in (("one thread", 1 / 2), ("two threads", 1 / 3))
            ]
        else:
            calls: list[Callable[[], Ran]] = [one, two, partial(run, command)]
            singles, pairs, theirs = interleaved(calls, ROUNDS)
            rows = [
                _ratio("one thread", singles, theirs, 1 / 2),
                _ratio("two threads", pairs, theirs, 1 / 3),
            ]
        return [*rows, _memory(few, singles + pairs), _same(singles, pairs)]


def _ratio(said: str, ours: list[Ran], theirs: list[Ran], limit: float) -> Row:
    mine, its = seconds(ours), seconds(theirs)
    size = ours[0].said["bytes"] / 1e9
    least = [min(ran.said["seconds"] for ran in runs) for runs in (ours, theirs)]
    detail = (
        f"{mine:.2f} s ({size / mine:.2f} GB/s, peak {peak_mb(ours):.0f} MB) against "
        f"{its:.2f} s ({size / its:.2f} GB/s, {peak_mb(theirs):.0f} MB), "
        f"{ours[0].said['pairs']} pairs, {len(ours)} rounds; "
        f"of the least {least[0] / least[1]:.2f} x"
    )
    return Row(f"{PAIRS}, {said} / msaccucmp", mine / its, limit, "x", detail)


def _memory(few: Ran, ours: list[Ran]) -> Row:
    detail = f"{ours[0].said['pairs']} nodes; {few.peak_mb:.0f} MB for the first 20"
    return Row(f"{PAIRS}, peak memory", peak_mb(ours), 150, "MB", detail)


def _same(singles: list[Ran], pairs: list[Ran]) -> Row:
    digests = {ran.said["sha256"] for ran in singles + pairs}
    detail = f"{len(singles + pairs)} runs on one and two threads"
    return Row(f"{PAIRS}, different results", len(digests) - 1, 0, "", detail)


if __name__ == "__main__":
    print(table(measure()))
