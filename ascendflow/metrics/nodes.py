"""The tensors inside a model, by name, over the node samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ascendflow.documents.numbers import encode
from ascendflow.metrics.aggregate import is_worse
from ascendflow.metrics.divergent import why_divergent
from ascendflow.metrics.measure import Measurement, measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ascendflow.documents.metrics import NodeComparison
    from ascendflow.metrics.measure import Each

    Tensor = NDArray[np.generic]


@dataclass(frozen=True)
class Origin:
    """Which node of the simplified model makes a tensor.

    Attributes:
        tensor: the tensor's name.
        node: the node's name.
        op_type: its operator.
        inputs: names of its inputs, absent optional ones left out.
    """

    tensor: str
    node: str
    op_type: str
    inputs: tuple[str, ...]


class NodeTable:
    """Takes pairs of tensors in any order; lists them in the order of the model.

    Args:
        each: see `measure`.
    """

    def __init__(self, each: Each = map) -> None:
        self._each = each
        self._measured: dict[str, Measurement] = {}
        self._problems: dict[str, str] = {}
        self._golden_only: dict[str, None] = {}
        self._target_only: dict[str, None] = {}

    def add(self, tensor: str, golden: Tensor, target: Tensor) -> None:
        """Compare one tensor of one sample."""
        try:
            measured = measure(golden, target, each=self._each)
        except ValueError as error:
            self._problems.setdefault(tensor, str(error))
            return
        known = self._measured.get(tensor)
        self._measured[tensor] = _worst(known, measured) if known else measured

    def add_measured(
        self, tensor: str, metrics: dict[str, float], problem: str | None
    ) -> None:
        """Take what another tool measured of one tensor of one sample."""
        if problem is not None:
            self._problems.setdefault(tensor, problem)
            return
        known, new = self._measured.get(tensor), Measurement(metrics)
        self._measured[tensor] = _worst(known, new) if known and metrics else new

    def add_alone(self, tensor: str, *, in_golden: bool) -> None:
        """Note a tensor that only one side has."""
        (self._golden_only if in_golden else self._target_only)[tensor] = None

    def result(
        self, origins: Sequence[Origin], target_ops: Mapping[str, str | None]
    ) -> list[NodeComparison]:
        """List what was compared, in the order of `origins`; then the target's own."""
        known = self._measured.keys() | self._problems.keys() | self._golden_only.keys()
        rows = [self._row(o, target_ops) for o in origins if o.tensor in known]
        own = [_blank(tensor) for tensor in self._target_only if tensor not in known]
        return [*rows, *own]

    def _row(self, origin: Origin, target_ops: Mapping[str, str | None]) -> NodeComparison:
        row = _blank(origin.tensor)
        row["node"], row["op_type"] = origin.node, origin.op_type
        row["target_op"] = target_ops.get(origin.node)
        row["inputs"] = list(origin.inputs)
        row["problem"] = self._problems.get(origin.tensor)
        measured = self._measured.get(origin.tensor)
        compared = measured is not None or row["problem"] is not None
        row["status"] = "compared" if compared else "golden_only"
        if measured is not None:
            row["metrics"] = {k: encode(v) for k, v in measured.metrics.items()}
            statistics = measured.statistics
            if statistics:  # a float
                statistics = {
                    **statistics,
                    "golden_largest": measured.extent.magnitude,
                    "target_largest": measured.target_extent.magnitude,
                }
            row["statistics"] = {k: encode(v) for k, v in statistics.items()}
            row["golden_nonfinite"] = measured.golden_nonfinite
            row["target_nonfinite"] = measured.target_nonfinite
            row["introduced_nonfinite"] = measured.introduced_nonfinite
            if measured.underflow is not None:
                row["underflow"] = measured.underflow
        row["diverges"] = why_divergent(row) is not None
        return row


def _blank(tensor: str) -> NodeComparison:
    return {
        "tensor": tensor,
        "node": "",
        "op_type": "",
        "target_op": None,
        "inputs": [],
        "status": "target_only",
        "metrics": {},
        "statistics": {},
        "golden_nonfinite": 0,
        "target_nonfinite": 0,
        "introduced_nonfinite": 0,
        "problem": None,
        "diverges": False,
    }


def _worst(known: Measurement, new: Measurement) -> Measurement:
    """Join two samples of one tensor: each metric's worst, the larger counts."""
    lead = next(iter(new.metrics))
    base = new if is_worse(lead, new.metrics[lead], known.metrics[lead]) else known
    other = known if base is new else new
    return replace(
        base,
        metrics={
            name: other.metrics[name]
            if is_worse(name, other.metrics[name], value)
            else value
            for name, value in base.metrics.items()
        },
        extent=known.extent.union(new.extent),
        target_extent=known.target_extent.union(new.target_extent),
        golden_nonfinite=max(known.golden_nonfinite, new.golden_nonfinite),
        target_nonfinite=max(known.target_nonfinite, new.target_nonfinite),
        introduced_nonfinite=max(known.introduced_nonfinite, new.introduced_nonfinite),
    )
