"""How often lint looks at a node, which is what its time goes by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.cann.deviations import DEVIATIONS
from ascendflow.cann.deviations.deviation import LookedUpDeviation, NodeDeviation
from tests.emulation import Linted, linted
from tests.models import model, node

if TYPE_CHECKING:
    import onnx
    import pytest


def chain(*op_types: str, opset: int = 17) -> onnx.ModelProto:
    nodes = [
        node(op_type, [f"t{i}"], [f"t{i + 1}"], name=f"n{i}")
        for i, op_type in enumerate(op_types)
    ]
    return model(nodes, [("t0", [])], [(f"t{len(nodes)}", [])], opset=opset)


def count_calls(monkeypatch: pytest.MonkeyPatch, kind: type, method: str) -> list[str]:
    """List, call by call, the node that a deviation of `kind` is asked for."""
    asked: list[str] = []

    def counting(real: Any) -> Any:
        def call(self: Any, node: Any, *rest: Any) -> Any:
            asked.append(node.name)
            return real(self, node, *rest)

        return call

    kinds = {type(each) for each in DEVIATIONS if isinstance(each, kind)}
    # Where a method is inherited, its own class alone is counted.
    owners = {next(c for c in each.__mro__ if method in vars(c)) for each in kinds}
    for owner in owners:
        monkeypatch.setattr(owner, method, counting(vars(owner)[method]))
    return asked


def test_each_node_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = count_calls(monkeypatch, LookedUpDeviation, "look_up")

    linted(chain("Relu", "ReduceL2", "Neg"))

    assert asked == ["n0", "n1", "n2"]


def test_a_node_is_only_put_to_the_deviations_of_its_operator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = count_calls(monkeypatch, NodeDeviation, "detect")

    linted(chain(*["Relu"] * 50))

    of_relu = [
        d for d in DEVIATIONS if isinstance(d, NodeDeviation) and "Relu" in d.op_types
    ]
    assert len(asked) == 50 * len(of_relu)


def test_findings_of_one_kind_come_in_the_order_of_the_graph() -> None:
    proto = chain("ReduceL2", "Relu", "ReduceL1", opset=18)

    assert linted(proto, "reduce-norm-unregistered", cann="9.1") == [
        Linted("n0", "reduce-norm-unregistered", "rejected"),
        Linted("n2", "reduce-norm-unregistered", "rejected"),
    ]
