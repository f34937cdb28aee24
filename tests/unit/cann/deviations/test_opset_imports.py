from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from onnx import TensorProto, helper

from ascendflow.errors import StageError
from ascendflow.graph.canonical import canonicalise
from tests.emulation import convert, linted
from tests.models import model, node

if TYPE_CHECKING:
    from pathlib import Path

    import onnx


def importing(*domains: str) -> onnx.ModelProto:
    made = model([node("Neg", ["x"], ["y"])], [("x", [2])], [("y", [2])])
    made.opset_import.extend(helper.make_opsetid(domain, 1) for domain in domains)
    return made


@pytest.mark.parametrize("domains", [("ai.onnx.ml",), ("com.microsoft", "ai.onnx.ml")])
def test_an_import_that_no_node_uses_is_enough_for_a_rejection(
    domains: tuple[str, ...], tmp_path: Path
) -> None:
    proto = importing(*domains)

    assert linted(proto) == [("", "opset-imports", "rejected")]
    entries = f"has {len(domains) + 1} entries, not one: '' 17, "
    with pytest.raises(StageError, match=f"{entries}'{domains[0]}' 1 .unused") as caught:
        convert(proto, tmp_path)
    assert "drop the imports" in str(caught.value.hint)


def test_one_import_is_what_is_wanted(tmp_path: Path) -> None:
    assert linted(importing()) == []
    convert(importing(), tmp_path)


def test_a_domain_that_a_node_uses_is_not_called_unused(tmp_path: Path) -> None:
    proto = importing("ai.onnx.ml")
    proto.graph.node.append(
        helper.make_node("Scaler", ["y"], ["z"], name="scaler", domain="ai.onnx.ml")
    )

    found = [("", "opset-imports", "rejected"), ("scaler", "op-unregistered", "rejected")]
    assert linted(proto) == found
    with pytest.raises(StageError, match=r"'' 17, 'ai\.onnx\.ml' 1(?! \(unused)"):
        convert(proto, tmp_path)


def test_nodes_of_the_other_domain_alone_need_no_only_import() -> None:
    """A Constant is made a Const before anything is looked up."""
    value = helper.make_tensor("k", TensorProto.FLOAT, [2], [1, 2])
    proto = importing("com.microsoft")
    del proto.graph.node[:]
    proto.graph.node.extend(
        [
            node("Constant", [], ["k"], value=value),
            helper.make_node("BiasGelu", ["x", "k"], ["y"], domain="com.microsoft"),
        ]
    )

    assert linted(proto, "opset-imports") == []


def test_what_the_export_stage_writes_has_one() -> None:
    proto = importing("ai.onnx.ml")

    canonicalise(proto)

    assert linted(proto) == []
