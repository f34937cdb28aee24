"""The table that `msprobe compare` and `msit debug compare` write, judged anew.

It is read by position: DataType stands in it twice. Its own verdict lets a NaN pass, and a
row that could not be compared; here both fail. Source: msprobe 26.2 compare_result.py and
cmp_process.py.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, NamedTuple

from ascendflow.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

METRICS = {
    "CosineSimilarity": "cosine_similarity",
    "MaxAbsoluteError": "max_absolute_error",
    "AccumulatedRelativeError": "accumulated_relative_error",
    "RelativeEuclideanDistance": "relative_euclidean_distance",
    "KullbackLeiblerDivergence": "kl_divergence",
    "StandardDeviation": "",  # a text of means and deviations
    "MeanAbsoluteError": "mean_absolute_error",
    "RootMeanSquareError": "root_mean_square_error",
    "MaxRelativeError": "max_relative_error",
    "MeanRelativeError": "mean_relative_error",
}
"""The tool's name -> ours; in the order of the columns."""

_COLUMNS = (
    *("Index", "OpSequence?", "OpType", "NPUDump", "DataType", "Address", "GroundTruth"),
    *("DataType", "Address?", "TensorIndex", "Shape", "OverFlow?", *METRICS),
    *("CompareFailReason", "IsNpuOps?", "IsOutputNode?", "IsPrecisionError?"),
)
"""Those with a ? may be missing: they come with options, or are added afterwards."""

LIMITS = {
    "cosine_similarity": 0.99,  # at least; the others at most
    "relative_euclidean_distance": 0.05,
    "kl_divergence": 0.005,
    "root_mean_square_error": 1.0,
    "mean_relative_error": 1.0,
}
"""What the tools hold an operator to."""

_REMARKS = re.compile(
    r"This tensor is scalar\.|Algorithm \w+ does not support Boolean types\."
    r"|Failed to execute 'compare' in 'RelativeEuclideanDistance'\. numpy boolean subtract"
    r".* instead\."
)
"""What stands among the reasons of failure and is none. Of booleans the tool has a cosine
alone: its distance subtracts them, which numpy refuses."""

_NOTHING = "*"
_NAN = float("nan")


class Result(NamedTuple):
    """One row: a tensor of a device operator against its golden.

    Attributes:
        number: of the operator, as the table has it.
        op_type: the device operator's kind.
        device_ops: names of the device operators, comma-joined.
        device_dtype: element type on the device.
        nodes: ONNX nodes, comma-joined; "*" where there are none.
        golden_dtype: element type of the golden.
        tensor: e.g. "Conv_0:output:0".
        shape: e.g. "[1,3,224,224]".
        metrics: our names -> values; NaN where the table has none.
        reason: why it could not be compared; may hold mere remarks.
        is_output: whether it is an output of the model; None where the table does not tell.
        said: the tool's own verdict, "YES" for an error; empty where it has none.
    """

    number: str
    op_type: str
    device_ops: str
    device_dtype: str
    nodes: str
    golden_dtype: str
    tensor: str
    shape: str
    metrics: dict[str, float]
    reason: str
    is_output: bool | None
    said: str

    @property
    def has_golden(self) -> bool:
        """Whether ONNX has such a tensor: not so of what the compiler inserted."""
        return self.nodes != _NOTHING


def read_results(path: Path) -> list[Result]:
    """Read the table.

    Raises:
        StageError: it is not that table, or a row is cut short.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, strict=True)
            return list(_results(path, next(rows, []), rows))
    except OSError as error:
        raise StageError(f"{path}: cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise StageError(f"{path}: is no table: {error}") from error


def problems(result: Result) -> list[str]:
    """Return what is wrong with a tensor; nothing of one that is within all limits.

    Raises:
        ValueError: it has no golden, so it can be neither right nor wrong.
    """
    if not result.has_golden:
        raise ValueError(f"{result.device_ops}: has no golden")
    booleans = result.device_dtype == result.golden_dtype == "bool"
    reason = why_not_compared(result)
    found = [] if reason is None else [reason]
    for name in ("cosine_similarity",) if booleans else LIMITS:
        value, limit = result.metrics[name], LIMITS[name]
        is_within = value >= limit if name == "cosine_similarity" else value <= limit
        if not is_within:  # nor is a NaN
            found.append(f"{name} is {value:g}, the limit {limit:g}")
    return found


def why_not_compared(result: Result) -> str | None:
    """Return why a tensor was not compared, or None; mere remarks are left out."""
    reason = _REMARKS.sub("", result.reason).strip(" ,")
    return f"it was not compared: {reason}" if reason else None


def _results(
    path: Path, header: Sequence[str], rows: Iterator[list[str]]
) -> Iterator[Result]:
    at = _positions(path, header)
    metrics = [(at[name], ours) for name, ours in METRICS.items() if ours]
    plain = ("Index", "OpType", "NPUDump", "DataType", "GroundTruth", "DataType'")
    places = [at[name] for name in (*plain, "TensorIndex", "Shape")]
    reason = at["CompareFailReason"]
    is_output, said = at.get("IsOutputNode"), at.get("IsPrecisionError")
    for number, row in enumerate(rows, 2):
        if not row:
            continue
        if not reason < len(row) <= len(header):
            told = f"{path}: line {number} has {len(row)} columns"
            raise StageError(f"{told}, not {reason + 1} to {len(header)}")
        named, kind, ops, dtype, nodes, golden, tensor, shape = [row[i] for i in places]
        yield Result(
            *(named, kind, ops, dtype, nodes, golden, tensor, shape),
            {ours: _number(row[place]) for place, ours in metrics},
            row[reason],
            {"YES": True, "NO": False}.get(_cell(row, is_output)),
            _cell(row, said),
        )


def _positions(path: Path, header: Sequence[str]) -> dict[str, int]:
    """Return where each column stands; that of a second name has a ' behind it."""
    found: dict[str, int] = {}
    at = 0
    for column in _COLUMNS:
        name = column.rstrip("?")
        if at < len(header) and header[at] == name:
            found[f"{name}'" if name in found else name] = at
            at += 1
        elif name == column:
            there = header[at] if at < len(header) else "nothing"
            raise StageError(
                f"{path}: column {at + 1} is {there!r}, {name!r} is expected",
                hint="it is no table of `msprobe compare`, or of another release",
            )
    if at < len(header):
        raise StageError(f"{path}: column {at + 1} is {header[at]!r}, none is expected")
    return found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return _NAN


def _cell(row: Sequence[str], place: int | None) -> str:
    return row[place] if place is not None and place < len(row) else ""
