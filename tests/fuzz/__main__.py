"""Fuzzes for longer: `python -m tests.fuzz KIND FIRST [END [-v]]`.

KIND is onnx, npz, manifest or target. One number shows what becomes of one file, -v of
all; in the place of FIRST, `target` also takes what its failing test printed. Ends with 1
where anything went wrong; Ctrl-C ends it sooner, with what was found.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path

from tests.fuzz.fleet import outcomes


def main(kind: str, first: str, end: str = "", *options: str) -> int:
    cases = (
        range(int(first), int(end or int(first) + 1))
        if first.isdecimal()
        else [json.loads(first)]
    )
    counted: Counter[tuple[str, str]] = Counter()
    wrong = 0
    with (
        suppress(KeyboardInterrupt),
        tempfile.TemporaryDirectory(prefix="fuzz-") as scratch,
    ):
        for outcome in outcomes(kind, cases, Path(scratch)):
            counted[outcome.how, outcome.stage] += 1
            is_wrong = outcome.how in ("bug", "crashed", "hung") or outcome.escaped
            wrong += bool(is_wrong)
            if is_wrong or not end or "-v" in options:
                came = f"{outcome.how} {outcome.stage} {outcome.escaped or ''}"
                sys.stdout.write(f"{kind} {outcome.case}: {came}: {outcome.said}\n")
                sys.stdout.flush()
    for (how, stage), count in sorted(counted.items()):
        sys.stdout.write(f"{count:6d} {how} {stage}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
