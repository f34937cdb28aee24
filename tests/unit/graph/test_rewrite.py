from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper

from ascendflow.errors import StageError
from ascendflow.graph.rewrite import Request, rewrite
from ascendflow.graph.rule import Applied, Finding, Rule
from tests.models import F32, model, node, resize, resize_chain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ascendflow.documents.rewrite_log import Effect

RULE = "resize-half-pixel"


def save(proto: onnx.ModelProto, folder: Path) -> tuple[Path, Path]:
    onnx.save(proto, folder / "in.onnx")
    return folder / "in.onnx", folder / "out.onnx"


def test_an_edit_changes_its_attribute_and_nothing_else(tmp_path: Path) -> None:
    source, target = save(resize_chain("half_pixel"), tmp_path)

    done = rewrite(source, target, [Request(RULE)])

    (entry,) = done.log["rules"]
    assert [each["node"] for each in entry["applied"]] == [f"u{k}" for k in range(0, 15, 2)]
    assert entry["skipped"] == []
    assert done.warnings == []
    assert onnx.load(target) == resize_chain("pytorch_half_pixel")


def test_the_same_edit_gives_the_same_bytes(tmp_path: Path) -> None:
    source, target = save(resize_chain("half_pixel"), tmp_path)
    rewrite(source, target, [Request(RULE)])
    first = target.read_bytes()

    rewrite(source, target, [Request(RULE)])

    assert target.read_bytes() == first


def test_no_rule_applied_gives_the_very_same_bytes(tmp_path: Path) -> None:
    source, target = save(resize_chain("asymmetric"), tmp_path)

    done = rewrite(source, target, [Request(RULE)])

    assert target.read_bytes() == source.read_bytes()
    (warning,) = done.warnings
    assert "'resize-half-pixel' applied to nothing" in warning
    assert "is 'asymmetric', not 'half_pixel' (8 nodes)" in warning


def test_a_rule_without_candidates_is_a_warning_too(tmp_path: Path) -> None:
    proto = model([node("Relu", ["x"], ["y"])], [("x", [1])], [("y", [1])])

    done = rewrite(*save(proto, tmp_path), [Request(RULE)])

    assert done.warnings == [
        f"rule {RULE!r} applied to nothing: the graph has no Resize node"
    ]


def test_no_rules_copy_the_file(tmp_path: Path) -> None:
    source, target = save(resize_chain("half_pixel"), tmp_path)

    done = rewrite(source, target, [])

    assert target.read_bytes() == source.read_bytes()
    assert done.log == {"schema_version": 1, "rules": []}


def test_an_unknown_rule_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(
        StageError, match=r"'resize-halfpixel' is not a rule\n.*'resize-half-"
    ):
        rewrite(*save(resize_chain("half_pixel"), tmp_path), [Request("resize-halfpixel")])


def test_a_rule_named_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="named twice"):
        rewrite(*save(resize_chain("half_pixel"), tmp_path), [Request(RULE), Request(RULE)])


def test_selected_nodes_are_edited_and_the_others_not(tmp_path: Path) -> None:
    source, target = save(resize_chain("half_pixel"), tmp_path)

    done = rewrite(source, target, [Request(RULE, ("u0", "u1*"), 4)])

    (entry,) = done.log["rules"]
    assert [each["node"] for each in entry["applied"]] == ["u0", "u10", "u12", "u14"]


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (Request(RULE, ("u99",)), "no Resize node is called 'u99'"),
        (Request(RULE, ("u0", "w*")), r"no Resize node is called 'w\*'"),
        (Request(RULE, ("u1",)), "node 'u1' is a AveragePool, the rule edits Resize"),
        (Request(RULE, ("u*",), 7), "8 nodes match, count allows 7: u0, u2"),
        (Request(RULE, None, 7), "8 nodes match, count allows 7"),
    ],
)
def test_a_selector_that_fits_nothing_or_too_much_is_refused(
    request_: Request, message: str, tmp_path: Path
) -> None:
    with pytest.raises(StageError, match=message):
        rewrite(*save(resize_chain("half_pixel"), tmp_path), [request_])


class Marks(Rule):
    """Writes its name's last letter into every Resize, after those already there."""

    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Resize"})
    effect: ClassVar[Effect] = "exact"

    def __init__(self, name: str) -> None:
        self.name = name  # type: ignore[misc]

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Append a letter to the node's metadata-like attribute."""
        before = node.attributes.get_string("nearest_mode", "")
        node.attributes["nearest_mode"] = ir.AttrString("nearest_mode", before + self.name)
        yield Applied(node, {"m": before}, {"m": before + self.name})


def test_rules_apply_in_their_own_order_whatever_the_manifest_says(tmp_path: Path) -> None:
    source, target = save(resize([1, 1, 2, 2], scales=[1, 1, 2, 2]), tmp_path)
    rules = [Marks("a"), Marks("b")]

    done = rewrite(source, target, [Request("b"), Request("a")], rules)

    assert [entry["rule"] for entry in done.log["rules"]] == ["a", "b"]
    (attribute,) = onnx.load(target).graph.node[0].attribute
    assert attribute.s == b"ab"


class Breaks(Marks):
    """Leaves a graph that is no valid ONNX."""

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Give Resize an attribute that it has not."""
        node.attributes["axis"] = ir.AttrInt64("axis", 1)
        yield Applied(node, {}, {"axis": 1})


def test_an_edit_that_leaves_invalid_onnx_is_refused(tmp_path: Path) -> None:
    source, target = save(resize([1, 1, 2, 2], scales=[1, 1, 2, 2]), tmp_path)

    with pytest.raises(StageError, match="not valid ONNX"):
        rewrite(source, target, [Request("x")], [Breaks("x")])


def test_weights_in_external_data_are_never_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    w = np.ones((64, 64), F32)
    up = {"up": np.array([1, 1, 2, 2], F32)}
    nodes = [
        node("MatMul", ["x", "w"], ["m"]),
        node("Resize", ["m", "", "up"], ["y"], mode="linear"),
    ]
    proto = model(nodes, [("x", [1, 1, 8, 64])], [("y", [1, 1, 16, 128])], {"w": w, **up})
    source, target = tmp_path / "in.onnx", tmp_path / "out" / "out.onnx"
    target.parent.mkdir()
    onnx.save(
        proto, source, save_as_external_data=True, location="model.onnx.data",
        size_threshold=1024,
    )  # fmt: skip

    def refuse(_: object) -> None:
        raise AssertionError("external data was opened")

    monkeypatch.setattr(ir.ExternalTensor, "_load", refuse)

    rewrite(source, target, [Request(RULE)])

    edited = onnx.load(target, load_external_data=False)
    (tensor,) = [each for each in edited.graph.initializer if each.name == "w"]
    assert (
        tensor.external_data
        == onnx.load(source, load_external_data=False).graph.initializer[0].external_data
    )
    assert edited.graph.node[1].attribute[-1].s == b"pytorch_half_pixel"


def test_nodes_inside_branches_are_edited_too(tmp_path: Path) -> None:
    def branch(name: str) -> onnx.GraphProto:
        up = helper.make_tensor(f"{name}_up", TensorProto.FLOAT, [4], [1, 1, 2, 2])
        made = node("Resize", ["x", "", f"{name}_up"], [name], mode="linear")
        out = helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * 4)
        return helper.make_graph([made], name, [], [out], [up])

    choose = node("If", ["c"], ["y"], then_branch=branch("yes"), else_branch=branch("no"))
    proto = model(
        [choose],
        [("c", [], TensorProto.BOOL), ("x", [1, 1, 4, 4])],
        [("y", ["a", "b", "c", "d"])],
    )

    done = rewrite(*save(proto, tmp_path), [Request(RULE)])

    (entry,) = done.log["rules"]
    assert sorted(each["node"] for each in entry["applied"]) == ["no", "yes"]


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in.onnx").write_bytes(b"IMOD, not ONNX")

    with pytest.raises(StageError, match=r"in\.onnx: is not an ONNX file, .* 14 bytes"):
        rewrite(tmp_path / "in.onnx", tmp_path / "out.onnx", [])
