from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx
import onnx_ir as ir
from onnx import parser

from ascendflow.graph.load import give_back_shapes, load_model

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

BRANCHES = """
<ir_version: 8, opset_import: ["" : 13]>
g (float[2, 3] x, bool c) => (float[2, 3] y)
<float[2, "n"] a>
{
  a = Neg (x)
  y = If (c) <
    then_branch = t () => (float["p", "q"] p) <float["r", 3] b> { b = Abs (a) p = Neg (b) },
    else_branch = e () => (float["p", "q"] q) { q = Exp (a) }
  >
}
"""


def test_what_branches_declare_is_given_back(tmp_path: Path) -> None:
    proto = parser.parse_model(BRANCHES)
    onnx.save(proto, tmp_path / "m.onnx")

    loaded = load_model(tmp_path / "m.onnx")
    inner: dict[str | None, Any] = {
        value.name: value.shape
        for node in loaded.graph.all_nodes()
        for value in node.outputs
    }
    give_back_shapes(loaded)

    assert (inner["a"], inner["b"], inner["q"]) == ((2, 3), (2, 3), (2, 3))
    given = {
        value.name: None if value.shape is None else [str(d) for d in value.shape]
        for node in loaded.graph.all_nodes()
        for value in node.outputs
    }
    assert given == {
        "a": ["2", "n"],
        "b": ["r", "3"],
        "p": ["p", "q"],
        "q": ["p", "q"],
        "y": ["2", "3"],
    }


def test_a_file_is_turned_into_a_graph_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To do so takes longer than all that is asked of its nodes."""
    onnx.save(parser.parse_model(BRANCHES), tmp_path / "m.onnx")
    made: list[Any] = []
    real: Any = ir.from_proto

    def counting(proto: Any) -> Any:
        made.append(proto)
        return real(proto)

    monkeypatch.setattr(ir, "from_proto", counting)

    load_model(tmp_path / "m.onnx")

    assert len(made) == 1
