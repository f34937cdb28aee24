"""Resize on the road to an OM, as users reported it failing: from ONNX file to verdict.

Each case is built in code, with a variant or two of its kind; what is expected comes from
onnxruntime on another model, from numpy, or from the public report itself.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import helper

import ascendflow.graph.rewrite as graph_rewrite
from ascendflow.errors import StageError
from ascendflow.graph.rule import Applied, Finding, Rule
from tests import exported_models, models
from tests.models import F32, cosine, resize, resize_chain
from tests.stage_runs import simplified

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ascendflow.documents.rewrite_log import Effect

RULE = "resize-half-pixel"
PYTORCH: dict[str, Any] = {"coordinate_transformation_mode": "pytorch_half_pixel"}


class Respell(Rule):
    """Sets attributes of every Resize, whatever that does to its values."""

    name: ClassVar[str] = "respell"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Resize"})

    def __init__(self, effect: Effect, **attributes: str) -> None:
        self.effect = effect  # type: ignore[misc]
        self._attributes = attributes

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Set them."""
        for name, text in self._attributes.items():
            node.attributes[name] = ir.AttrString(name, text)
        yield Applied(node, {}, self._attributes)


def test_resizes_that_the_target_samples_otherwise_are_named_from_the_first_on(
    tmp_path: Path,
) -> None:
    """RS01. Asymmetric sampling in onnxruntime gives the same cosine."""
    x = np.random.default_rng(7).standard_normal((1, 3, 6, 8)).astype(F32)
    made = simplified(tmp_path, resize_chain("half_pixel"), x=x)
    verdict = made.judge()
    wrong = models.run(resize_chain("asymmetric"), {"x": x})["u14"]
    (check,) = verdict["checks"]

    assert not verdict["passed"]
    assert check["value"] == pytest.approx(cosine(made.golden_of("u14"), wrong), abs=1e-3)
    assert check["value"] == pytest.approx(0.5647, abs=1e-3)  # as published
    assert verdict["first_divergent_node"]["name"] == "u0"
    assert verdict["first_divergent_node"]["op_type"] == "Resize"


@pytest.mark.parametrize("shape", [(1, 3, 6, 8), (2, 1, 5, 7), (1, 1, 2, 2)], ids=str)
def test_the_cure_of_half_pixel_sampling_leaves_the_golden_unchanged(
    shape: tuple[int, ...], tmp_path: Path
) -> None:
    """RS01."""
    proto = resize(shape, scales=[1, 1, 2, 3], mode="linear")
    x = np.random.default_rng(7).standard_normal(shape).astype(F32)
    made = simplified(tmp_path, proto, x=x)
    verdict = made.judge(RULE)
    checked = made.document("check.json")

    assert verdict["passed"]
    assert checked["promises"] == [{"rule": RULE, "effect": "exact", "held": True}]
    assert checked["outputs"]["y"]["max_absolute_error"] == 0.0


LENGTH_ONE = {
    "height": ([1, 1, 4, 6], [1, 1, 1, 6], np.arange(9, 15), np.arange(6)),
    "width": ([1, 1, 2, 5], [1, 1, 2, 1], np.array([2, 7]), np.array([0, 5])),
}
"""Of the numbers 0, 1, 2, ...: half_pixel reads the centre, pytorch_half_pixel index 0."""


@pytest.mark.parametrize("axis", LENGTH_ONE)
def test_half_pixel_at_length_one_is_respelled_by_nothing_that_is_not_allowed(
    axis: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RS02."""
    shape, sizes, centre, first = LENGTH_ONE[axis]
    x = np.arange(math.prod(shape), dtype=F32).reshape(shape)
    proto = resize(shape, sizes=sizes, mode="linear")
    other = resize(shape, sizes=sizes, mode="linear", **PYTORCH)
    off = float(np.abs(centre - first).max())

    made = simplified(tmp_path / "rule", proto, x=x)
    (warning,) = made.run("rewrite", rules=[{"name": RULE}]).warnings
    assert made.golden_of().ravel().tolist() == centre.tolist()
    assert models.run(other, {"x": x})["y"].ravel().tolist() == first.tolist()
    assert "is 1, where the modes differ by definition" in warning

    for effect, said in (
        ("exact", f"max absolute error {off:g}, allowed 0"),
        ("lossy", "lossy, and the manifest does not allow it: respell@1"),
    ):
        respell = Respell(effect, **PYTORCH)  # type: ignore[arg-type]
        monkeypatch.setattr(graph_rewrite, "RULES", (respell,))
        made = simplified(tmp_path / effect, proto, x=x)
        with pytest.raises(StageError, match=said):
            made.judge("respell")
    made = simplified(tmp_path / "allowed", proto, x=x)
    made.run("rewrite", rules=[{"name": "respell"}])
    made.run("check", allow_lossy=True)
    assert made.document("check.json")["outputs"]["y"]["max_absolute_error"] == off


def test_nearest_for_linear_is_refused_and_where_allowed_fails_the_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RS10."""
    shape, up = (1, 1, 4, 4), [1, 1, 2, 2]
    asymmetric: dict[str, Any] = {
        "mode": "nearest",
        "coordinate_transformation_mode": "asymmetric",
        "nearest_mode": "floor",
    }
    proto = resize(shape, scales=up, mode="linear", **PYTORCH)
    x = np.random.default_rng(7).standard_normal(shape).astype(F32)
    monkeypatch.setattr(graph_rewrite, "RULES", (Respell("lossy", **asymmetric),))
    with pytest.raises(StageError, match=r"lossy, and .* not allow it") as caught:
        simplified(tmp_path / "refused", proto, x=x).judge("respell")

    made = simplified(tmp_path / "allowed", proto, x=x)
    verdict = made.judge("respell", allow_lossy=True)
    swapped = models.run(resize(shape, scales=up, **asymmetric), {"x": x})["y"]
    off = np.abs(swapped - made.golden_of()).max()

    assert "rewrite: {allow_lossy: true}" in str(caught.value.hint)
    assert not verdict["passed"]
    assert verdict["checks"][0]["value"] == pytest.approx(
        cosine(made.golden_of(), swapped), abs=1e-3
    )
    assert verdict["checks"][0]["value"] < 0.95
    assert made.document("check.json")["outputs"]["y"]["max_absolute_error"] == off


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize(
    ("interpolation", "mode"),
    [("linear", "pytorch_half_pixel"), ("nearest", "asymmetric"), ("linear", "half_pixel")],
)
def test_computed_sizes_beside_empty_roi_and_scales_survive_simplification(
    opset: int, interpolation: str, mode: str, tmp_path: Path
) -> None:
    """RS08."""
    proto = exported_models.resize_with_empty_roi()
    proto.opset_import[0].version = opset
    del proto.graph.node[-1].attribute[:]
    proto.graph.node[-1].attribute.extend(
        [
            helper.make_attribute("mode", interpolation),
            helper.make_attribute("coordinate_transformation_mode", mode),
        ]
    )
    x = np.random.default_rng(7).standard_normal((1, 2, 5, 5)).astype(F32)
    made = simplified(tmp_path, proto, x=x)
    written = onnx.load(made.made("simplified") / "model.onnx")
    (found,) = models.run(written, {"x": x}).values()

    assert "Shape" not in {each.op_type for each in written.graph.node}
    np.testing.assert_array_equal(found, models.run(proto, {"x": x})["y"])
