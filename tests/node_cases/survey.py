"""All cases, counted, as a page that is committed and may only get better."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.node_cases import cases
from tests.node_cases.judge import EXACT, HALF, How, Outcome, judge

if TYPE_CHECKING:
    from pathlib import Path

TOLD: tuple[How, ...] = ("agree", "rounding", "flagged")
"""How a case ends about which a user is told the truth."""
FAULTS: tuple[How, ...] = ("range", "silent", "crashed")
HOWS: tuple[How, ...] = (*TOLD, "refused", "not run", *FAULTS)
_SHOWN: tuple[How, ...] = ("agree", "flagged", "refused")

_ROW = re.compile(r"\| `?([\w ]+)`? \|((?: \d+ \|)+)")

_HEAD = """\
# ONNX's own cases for operators

Written by `./run python -m tests.node_cases write`, which refuses where an operator got
worse; `tests/node_cases/` tests that it is what the code does. onnx 1.16.2 is the last
release whose wheel holds the cases; pip fetches it by its digest, and it is never
installed.

A case is a model of mostly one operator, its inputs, and the outputs of ONNX's reference.
It is run where onnxruntime gives those outputs (relative 1e-3, absolute 1e-7) with the
model in opset 9 to 18.

* **agree**: lint is silent, and the emulator's outputs are the expected ones within that
  tolerance.
* **rounding**: lint is silent, and they are not, since each tensor is rounded to fp16.
  Under `force_fp16` the outputs of both must be, bit for bit, those of the model with a
  cast to fp16 and back around each of its nodes, which is made without the emulator.
* **flagged**: lint names a deviation. **refused**: lint names what the emulator does not
  compute, and `convert` refuses just that.
* **range**: lint is silent, and they differ for a number that is larger than 65504,
  infinite or NaN. **silent**: other values or a refusal, and no finding. **crashed**: an
  error that is none of ours. There may be none of these.
"""


@dataclass(frozen=True)
class Survey:
    """How each case ended, under either target."""

    exact: tuple[Outcome, ...]
    half: tuple[Outcome, ...]

    @classmethod
    def of(cls, folder: Path) -> Survey:
        """Judge every case in `folder`."""
        exact, half = [], []
        for name in cases.names(folder):
            try:
                case = cases.read(folder, name)
            except cases.NotRunError as error:
                left_out = Outcome(name, "", "not run", str(error))
                exact.append(left_out)
                half.append(left_out)
            else:
                exact.append(judge(case, EXACT))
                half.append(judge(case, HALF))
        return cls(tuple(exact), tuple(half))

    @property
    def faults(self) -> list[str]:
        """Name every case that is told wrong, with what is wrong."""
        return [
            f"{each.name} on {config['soc_version']}: {each.how}: {each.why}"
            for outcomes, config in ((self.exact, EXACT), (self.half, HALF))
            for each in outcomes
            if each.how in FAULTS
        ]

    def page(self) -> str:
        """Write all as Markdown."""
        parts = [_HEAD, *self._totals(), *self._left_out()]
        return "\n".join([*parts, *self._by_operator()]) + "\n"

    def _totals(self) -> list[str]:
        first, second = (
            f"{config['soc_version']}, {config['precision_mode']}, CANN {config['cann']}"
            for config in (EXACT, HALF)
        )
        exact, half = (Counter(o.how for o in each) for each in (self.exact, self.half))
        return [
            f"| how | {first} | {second} |",
            "|---|---|---|",
            *(f"| {how} | {exact[how]} | {half[how]} |" for how in HOWS),
            "",
        ]

    def _left_out(self) -> list[str]:
        reasons = Counter(each.why for each in self.exact if each.how == "not run")
        rows = [f"| {why} | {count} |" for why, count in sorted(reasons.items())]
        return ["| why not run | cases |", "|---|---|", *rows, ""]

    def _by_operator(self) -> list[str]:
        """Count by operator, for the target that computes in fp32."""
        rows = [
            "`several` are the bodies of ONNX's functions, spelled out.",
            "",
            "| operator | agree | flagged | refused | by |",
            "|---|---|---|---|---|",
        ]
        for operator in sorted({o.operator for o in self.exact} - {""}):
            own = [each for each in self.exact if each.operator == operator]
            counts = Counter(each.how for each in own)
            by = sorted({each.why for each in own if each.how == "flagged"})
            numbers = " | ".join(
                str(counts[how]) for how in ("agree", "flagged", "refused")
            )
            rows.append(f"| `{operator}` | {numbers} | {', '.join(by)} |")
        return rows


def worse(before: str, after: str) -> list[str]:
    """Say what is worse in one page than in an earlier one.

    A case that agreed and is flagged now is not worse: a deviation became known.
    """
    old, new = _rows(before), _rows(after)
    problems = []
    for name, numbers in old.items():
        if len(numbers) != len(_SHOWN):
            continue  # no operator's row
        told, now = sum(numbers[:2]), sum(new.get(name, [])[:2])
        if now < told:
            problems.append(f"{name}: {told} cases were told right, now {now}")
    for column, config in enumerate((EXACT, HALF)):
        told, now = (
            sum(rows.get(how, (0, 0))[column] for how in TOLD) for rows in (old, new)
        )
        if now < told:
            soc = config["soc_version"]
            problems.append(f"{soc}: {told} cases were told right, now {now}")
    return problems


def _rows(page: str) -> dict[str, list[int]]:
    return {
        found[1]: [int(number) for number in re.findall(r"\d+", found[2])]
        for line in page.splitlines()
        if (found := _ROW.match(line))
    }
