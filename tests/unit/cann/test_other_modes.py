"""Which precision modes are left, asked of the graph itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx
import pytest

from ascendflow.cann.other_modes import modes_that_help
from ascendflow.cann.target import Target
from ascendflow.graph.load import load_model
from tests.emulation import target
from tests.models import model, node

if TYPE_CHECKING:
    from pathlib import Path

    from ascendflow.cann.lint import Finding

KEEP, ALLOW, MIX = "must_keep_origin_dtype", "allow_fp32_to_fp16", "allow_mix_precision"


def is_refused(finding: Finding) -> bool:
    return finding.found.consequence == "rejected"


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"precision_mode": KEEP}, ["force_fp16", ALLOW, MIX]),
        ({"precision_mode": KEEP, "keep_dtype": ["y"]}, []),
        ({"precision_mode": MIX, "modify_mixlist": {"black": ["MaxPoolV3"]}}, []),
        (
            {"precision_mode": KEEP, "soc_version": "Ascend310B1"},
            ["force_fp16", ALLOW, MIX, "force_fp32"],
        ),
    ],
    ids=["narrow-cube", "kept", "mixlist", "wide-cube"],
)
def test_a_pool_that_has_fp16_only_runs_where_it_may_be_lowered(
    tmp_path: Path, config: dict[str, Any], expected: list[str]
) -> None:
    nodes = [node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2])]
    proto = model(nodes, [("x", [1, 2, 4, 4])], [("y", ["a", "b", "c", "d"])])
    onnx.save(proto, tmp_path / "model.onnx")
    loaded = load_model(tmp_path / "model.onnx")

    found = modes_that_help(loaded, Target.of(target(**config)), is_refused)

    assert found == expected
