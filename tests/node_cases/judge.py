"""Holds lint and emulator to one case, and says how it ended."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import onnx

from ascendflow.cann.deviations.not_emulated import NotEmulated
from ascendflow.errors import NotModelledError, StageError
from tests.emulation import target, tried
from tests.node_cases import cases, half

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.node_cases.cases import Case

How = Literal[
    "agree", "rounding", "range", "flagged", "refused", "not run", "silent", "crashed"
]
EXACT = target("Ascend910B1", "must_keep_origin_dtype", "8.1")
HALF = target("Ascend310P3", "force_fp16", "8.1")


@dataclass(frozen=True)
class Outcome:
    """How one case ended.

    Attributes:
        name: the case.
        operator: what it is about.
        how: "agree": lint is silent, and the outputs are the expected ones. "rounding":
            they differ as much as fp16 storage makes them, and no more. "range": the
            same, where a number leaves fp16's range. "flagged": lint names the node.
            "refused": lint and the emulator say what is not computed. "range", "silent"
            and "crashed" are faults of ours.
        why: a reason, a message or a difference, in words; what lint found.
    """

    name: str
    operator: str
    how: How
    why: str = ""


def judge(case: Case, config: Mapping[str, str]) -> Outcome:
    """Lint, compile and run `case` for a target."""
    try:
        how, why = _judge(case, config)
    except Exception:  # noqa: BLE001 - whatever it is, it is what we look for
        how, why = "crashed", traceback.format_exc()
    return Outcome(case.name, case.operator, how, why)


def _judge(case: Case, config: Mapping[str, str]) -> tuple[How, str]:
    with tried(case.model, **config) as trial:
        if (why := trial.why_unpredicted) is not None:
            return "silent", why
        findings = {each.deviation for each in trial.findings}
        found = ", ".join(sorted(findings - {NotEmulated.name}))
        try:
            outputs = trial.outputs(case.feeds)
        except (NotModelledError, StageError) as error:
            if not findings:
                return "silent", str(error)
            return ("flagged", found) if found else ("refused", str(error))
    if found:
        return "flagged", found
    return _without_finding(case, list(outputs.values()), config)


def _without_finding(
    case: Case, outputs: Sequence[np.ndarray], config: Mapping[str, str]
) -> tuple[How, str]:
    """Judge what came out where lint is silent."""
    pairs = list(zip(outputs, case.expected, strict=True))
    agree = all(cases.agrees(*pair) for pair in pairs)
    if config["precision_mode"] == "force_fp16":
        if (why := _why_not_storage(case, outputs)) is not None:
            return "silent", why
        if not agree:
            return ("range" if _leaves_range(case) else "rounding"), ""
    if agree:
        return "agree", ""
    return "silent", "; ".join(_difference(*pair) for pair in pairs)


def _why_not_storage(case: Case, outputs: Sequence[np.ndarray]) -> str | None:
    """Say what is not as rounding tensors makes it, done by other means and bit by bit.

    A kernel that has no fp16 at all rounds none; then it is the model as it is.
    """
    makers: tuple[Callable[[onnx.ModelProto], onnx.ModelProto], ...]
    makers = (half.stored, lambda model: model)
    apart: list[list[str]] = []
    for make in makers:
        pairs = zip(outputs, cases.run(make(case.model), case.feeds), strict=True)
        apart.append([_difference(*pair) for pair in pairs if not _is_same(*pair)])
    return f"not what rounding makes: {'; '.join(apart[0])}" if all(apart) else None


def _is_same(one: np.ndarray, other: np.ndarray) -> bool:
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def _leaves_range(case: Case) -> bool:
    computed = cases.run(half.every_float(case.model), case.feeds)
    constants = [onnx.numpy_helper.to_array(t) for t in case.model.graph.initializer]
    return half.leaves_range([*case.feeds.values(), *constants, *computed])


def _difference(found: Any, expected: Any) -> str:
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{found.dtype}{found.shape}, not {expected.dtype}{expected.shape}"
    if found.dtype.kind not in "fiub":
        return "differs"
    with np.errstate(invalid="ignore"):
        apart = np.abs(found.astype(np.float64) - expected.astype(np.float64))
    return f"{np.nanmax(apart, initial=0):.3g} apart"
