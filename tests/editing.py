"""Applies one rule to a test graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import onnx_ir as ir

from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    import numpy as np


def edited(rule: Rule, proto: onnx.ModelProto) -> tuple[list[Finding], onnx.ModelProto]:
    """Apply `rule` to every node of a copy; what it found, and the checked copy."""
    model = ir.from_proto(onnx.shape_inference.infer_shapes(proto, data_prop=True))
    findings = rule(model)
    after = ir.to_proto(model)
    onnx.checker.check_model(after)
    return findings, after


def finding(rule: Rule, proto: onnx.ModelProto) -> tuple[Finding, onnx.ModelProto]:
    """Apply `rule`, which must look at exactly one node; what it found, and the graph."""
    (found,), after = edited(rule, proto)
    return found, after


def applied(rule: Rule, proto: onnx.ModelProto) -> onnx.ModelProto:
    """Apply `rule`, which must change exactly one node."""
    found, after = finding(rule, proto)
    assert isinstance(found, Applied), found
    return after


def why_skipped(rule: Rule, proto: onnx.ModelProto) -> str:
    """Return why `rule` leaves the one node that it looks at alone."""
    found, after = finding(rule, proto)
    assert isinstance(found, Skipped), found
    assert after.graph.node == proto.graph.node
    return found.reason


def constants(proto: onnx.ModelProto) -> dict[str, np.ndarray]:
    """Return the initializers that some node reads, by name."""
    read = {name for node in proto.graph.node for name in node.input}
    return {
        tensor.name: onnx.numpy_helper.to_array(tensor)
        for tensor in proto.graph.initializer
        if tensor.name in read
    }
